/** Opcodes that hash and check signatures. */
import { ripemd160, sha1 } from '@noble/hashes/legacy.js'
import { concat, EMPTY, equal } from '../../encoding/bytes.ts'
import { doubleSha256, sha256 } from '../../encoding/hash.ts'
import { hash160 } from '../hash.ts'
import { MAX_KEYS } from '../redeem-script.ts'
import { push } from '../script.ts'
import { RULE } from './flags.ts'
import type { Handler, Machine } from './machine.ts'
import { operationAt } from './opcodes.ts'
import { demand, ScriptFailure } from './script-failure.ts'
import { checkKeyEncoding, checkSignatureEncoding } from './signature-encoding.ts'

const hash = (digest: (bytes: Uint8Array) => Uint8Array): Handler => {
  return (machine) => machine.push(digest(machine.pop()))
}

/** The script without the operations whose bytes are those of `part`, and how many there were. */
function withoutPart(
  script: Uint8Array,
  part: Uint8Array,
): { readonly rest: Uint8Array; readonly found: number } {
  const kept: Uint8Array[] = []
  let start = 0
  let found = 0
  for (let at = 0; at < script.length; ) {
    while (part.length > 0 && equal(script.subarray(at, at + part.length), part)) {
      kept.push(script.subarray(start, at))
      at += part.length
      start = at
      found++
    }
    const operation = operationAt(script, at)
    if (operation === undefined) break
    at = operation.next
  }
  return { rest: found === 0 ? script : concat(...kept, script.subarray(start)), found }
}

/** What the signatures sign of the script: outside of witnesses, without the signatures themselves. */
function signedCode(machine: Machine, signatures: readonly Uint8Array[]): Uint8Array {
  const code = machine.script.subarray(machine.codeStart)
  if (machine.surroundings.isWitness) return code
  return signatures.reduce<Uint8Array>((current, signature) => {
    const { rest, found } = withoutPart(current, push(signature))
    demand(found === 0 || !machine.has(RULE.CONST_SCRIPTCODE), 'SIG_FINDANDDELETE')
    return rest
  }, code)
}

function checkEncodings(machine: Machine, signature: Uint8Array, key: Uint8Array): void {
  const { rules, isWitness } = machine.surroundings
  checkSignatureEncoding(signature, rules)
  checkKeyEncoding(key, rules, isWitness)
}

function isSigned(machine: Machine, signature: Uint8Array, key: Uint8Array, code: Uint8Array): boolean {
  const { checker, isWitness } = machine.surroundings
  return checker.isSigned(signature, key, code, isWitness)
}

const checkSignature: Handler = (machine) => {
  machine.need(2)
  const key = machine.peek(1)
  const signature = machine.peek(2)
  const code = signedCode(machine, [signature])
  checkEncodings(machine, signature, key)
  const isGood = isSigned(machine, signature, key, code)
  demand(isGood || !machine.has(RULE.NULLFAIL) || signature.length === 0, 'NULLFAIL')
  machine.stack.length -= 2
  machine.pushBoolean(isGood)
}

/** A count on the stack, from 0 to `most`. */
function countAt(
  machine: Machine,
  depth: number,
  most: number,
  failure: 'PUBKEY_COUNT' | 'SIG_COUNT',
): number {
  machine.need(depth)
  const count = machine.number(machine.peek(depth))
  demand(count >= 0n && count <= BigInt(most), failure)
  return Number(count)
}

/** Is every signature one by a key, in the same order? */
function areSigned(
  machine: Machine,
  signatures: readonly Uint8Array[],
  keys: readonly Uint8Array[],
  code: Uint8Array,
): boolean {
  let signature = 0
  for (let key = 0; signature < signatures.length; key++) {
    if (signatures.length - signature > keys.length - key) return false
    const [candidate = EMPTY, by = EMPTY] = [signatures[signature], keys[key]]
    checkEncodings(machine, candidate, by)
    if (isSigned(machine, candidate, by, code)) signature++
  }
  return true
}

const checkSignatures: Handler = (machine) => {
  const keyCount = countAt(machine, 1, MAX_KEYS, 'PUBKEY_COUNT')
  machine.count(keyCount)
  const signatureCount = countAt(machine, keyCount + 2, keyCount, 'SIG_COUNT')
  const items = keyCount + signatureCount + 3
  machine.need(items)
  // The top is last in a script: signatures and keys are compared from there.
  const keys = machine.stack.slice(-1 - keyCount, -1).reverse()
  const signatures = machine.stack.slice(1 - items, 1 - items + signatureCount).reverse()
  const isGood = areSigned(machine, signatures, keys, signedCode(machine, signatures))
  const areEmpty = signatures.every(({ length }) => length === 0)
  demand(isGood || !machine.has(RULE.NULLFAIL) || areEmpty, 'NULLFAIL')
  demand(!machine.has(RULE.NULLDUMMY) || machine.peek(items).length === 0, 'SIG_NULLDUMMY')
  machine.stack.length -= items
  machine.pushBoolean(isGood)
}

/** By name without `OP_`. */
export const HASH_OPERATIONS: Readonly<Record<string, Handler>> = {
  RIPEMD160: hash(ripemd160),
  SHA1: hash(sha1),
  SHA256: hash(sha256),
  HASH160: hash(hash160),
  HASH256: hash(doubleSha256),
  CODESEPARATOR: (machine) => {
    const isConstant = !machine.surroundings.isWitness && machine.has(RULE.CONST_SCRIPTCODE)
    if (isConstant) throw new ScriptFailure('OP_CODESEPARATOR')
    machine.codeStart = machine.next
  },
  CHECKSIG: checkSignature,
  CHECKSIGVERIFY: (machine) => {
    checkSignature(machine)
    machine.verify('CHECKSIGVERIFY')
  },
  CHECKMULTISIG: checkSignatures,
  CHECKMULTISIGVERIFY: (machine) => {
    checkSignatures(machine)
    machine.verify('CHECKMULTISIGVERIFY')
  },
}
