/** Inputs signed by bitcoinjs-lib's hashes; scripts that fail. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hash160 } from '../../src/bitcoin/hash.ts'
import { witnessScriptProgram } from '../../src/bitcoin/output-script.ts'
import {
  earlierEmergencyMultisig,
  emergencyMultisig,
  multisig,
  withPrefix,
} from '../../src/bitcoin/redeem-script.ts'
import { OP, push } from '../../src/bitcoin/script.ts'
import { spendsScriptHash } from '../../src/bitcoin/script-spending.ts'
import { SIGHASH_ALL } from '../../src/bitcoin/sighash.ts'
import { encodeDer } from '../../src/bitcoin/signature.ts'
import { decodeTransaction, type Transaction } from '../../src/bitcoin/transaction.ts'
import { concat, EMPTY } from '../../src/encoding/bytes.ts'
import { library } from './library.ts'

const keysFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => new Uint8Array(32).fill(first + i))
const publicKeys = (keys: readonly Uint8Array[]) => keys.map((key) => secp256k1.getPublicKey(key))
const MEMBERS = keysFrom(1, 3)
const EMERGENCY = { keys: keysFrom(11, 4), delay: 500 }
const members = publicKeys(MEMBERS)
const emergency = { keys: publicKeys(EMERGENCY.keys), delay: EMERGENCY.delay }
const PLAIN = multisig(2, members)
const LATER = emergencyMultisig(members, emergency)
const EARLIER = earlierEmergencyMultisig(members, emergency)

const NONE = 2
const SINGLE = 3
const ANYONE = 0x80

interface Spend {
  readonly script: Uint8Array
  readonly keys?: readonly Uint8Array[]
  /** Pushes between the signatures and the script. */
  readonly branch?: readonly Uint8Array[]
  readonly dummy?: Uint8Array
  readonly type?: number
  readonly version?: number
  readonly sequence?: number
  readonly index?: 0 | 1
}

/** A transaction of two inputs, of which one is signed by bitcoinjs-lib's hash. */
function spending(spend: Spend): { transaction: Transaction; index: number; hash: Uint8Array } {
  const {
    script,
    keys = MEMBERS.slice(0, 2),
    branch = [],
    dummy = EMPTY,
    type = SIGHASH_ALL,
    index = 0,
  } = spend
  const theirs = new library.Transaction()
  theirs.version = spend.version ?? 2
  for (const i of [0, 1]) theirs.addInput(new Uint8Array(32).fill(5), i, spend.sequence ?? 0xffffffff, EMPTY)
  for (const value of [7n, 8n]) theirs.addOutput(PLAIN, value)
  const hash = theirs.hashForSignature(index, script, type)
  const signatures = keys.map((key) => {
    const compact = secp256k1.sign(hash, key, { prehash: false })
    const { r, s } = secp256k1.Signature.fromBytes(compact, 'compact')
    return push(concat(encodeDer({ r, s }), Uint8Array.of(type)))
  })
  const unlocking = concat(push(dummy), ...signatures, ...branch.map(push), push(script))
  const { inputs, ...rest } = decodeTransaction(theirs.toBuffer())
  const transaction = {
    ...rest,
    inputs: inputs.map((input, i) => (i === index ? { ...input, script: unlocking } : input)),
  }
  return { transaction, index, hash: hash160(script) }
}

function spends(spend: Spend): boolean {
  const { transaction, index, hash } = spending(spend)
  return spendsScriptHash(transaction, index, hash)
}

const EMERGENCY_KEYS = EMERGENCY.keys.slice(0, 3)
const ONE = Uint8Array.of(1)

describe('an input spends an output to the hash', () => {
  it.each<[string, Spend]>([
    ['by two of three keys', { script: PLAIN }],
    ['by the other two', { script: PLAIN, keys: MEMBERS.slice(1) }],
    ['by keys before the delay', { script: LATER, branch: [EMPTY] }],
    ['by keys of the earlier form', { script: EARLIER, branch: [EMPTY] }],
    ['behind a prefix', { script: withPrefix(new Uint8Array(32).fill(1), LATER), branch: [EMPTY] }],
    [
      'by emergency keys after the delay',
      { script: LATER, keys: EMERGENCY_KEYS, branch: [ONE], sequence: 500 },
    ],
    ['by emergency keys, earlier', { script: EARLIER, keys: EMERGENCY_KEYS, branch: [ONE], sequence: 501 }],
    ...[SIGHASH_ALL, NONE, SINGLE].flatMap((type): [string, Spend][] =>
      ([0, 1] as const).flatMap((index): [string, Spend][] => [
        [`with type ${type} at ${index}`, { script: PLAIN, type, index }],
        [`with type ${type} for itself at ${index}`, { script: PLAIN, type: type | ANYONE, index }],
      ]),
    ),
  ])('%s', (_, spend) => {
    expect(spends(spend)).toBe(true)
  })

  it('by a witness program, whatever the witness is', () => {
    const program = witnessScriptProgram(LATER)
    const { transaction } = spending({ script: PLAIN })
    const inputs = transaction.inputs.map((input) => ({ ...input, script: push(program) }))
    expect(spendsScriptHash({ ...transaction, inputs }, 0, hash160(program))).toBe(true)
  })
})

describe('an input does not spend an output to the hash', () => {
  it.each<[string, Spend]>([
    ['by one key', { script: PLAIN, keys: MEMBERS.slice(0, 1) }],
    ['by keys in another order', { script: PLAIN, keys: MEMBERS.slice(0, 2).reverse() }],
    ['by other keys', { script: PLAIN, keys: EMERGENCY_KEYS.slice(1) }],
    ['with a first item', { script: PLAIN, dummy: ONE }],
    ['with an unknown type', { script: PLAIN, type: 4 }],
    ['without the item for the branch', { script: LATER }],
    ['by emergency keys of the other branch', { script: LATER, keys: EMERGENCY_KEYS, branch: [EMPTY] }],
    ['before the delay', { script: LATER, keys: EMERGENCY_KEYS, branch: [ONE], sequence: 499 }],
    ['with a lock by time', { script: LATER, keys: EMERGENCY_KEYS, branch: [ONE], sequence: 0x4001f4 }],
    ['without a lock', { script: LATER, keys: EMERGENCY_KEYS, branch: [ONE] }],
    ['in version 1', { script: LATER, keys: EMERGENCY_KEYS, branch: [ONE], sequence: 500, version: 1 }],
  ])('%s', (_, spend) => {
    expect(spends(spend)).toBe(false)
  })

  it('by a script of another hash, an operation, too long pushes, or none', () => {
    const { transaction, hash } = spending({ script: PLAIN })
    expect(spendsScriptHash(transaction, 0, hash160(LATER))).toBe(false)
    expect(spendsScriptHash(transaction, 1, hash)).toBe(false)
    const [input] = transaction.inputs
    if (input === undefined) throw new Error('no input')
    const long = new Uint8Array(521).fill(1)
    for (const script of [
      concat(input.script, Uint8Array.of(OP.DUP)),
      concat(push(long), input.script),
      concat(new Uint8Array(10_000), input.script),
      concat(new Uint8Array(1_001), input.script),
      Uint8Array.of(5),
      push(long),
    ]) {
      expect(spendsScriptHash({ ...transaction, inputs: [{ ...input, script }] }, 0, hash)).toBe(false)
    }
    expect(
      spendsScriptHash({ ...transaction, inputs: [{ ...input, script: push(long) }] }, 0, hash160(long)),
    ).toBe(false)
  })

  it('by random scripts of the operations that are known', () => {
    const operations = fc.constantFrom(
      ...[OP[0], OP[1], OP.NOTIF, OP.ELSE, OP.ENDIF, OP.DROP, OP.CHECKMULTISIG, OP.CHECKSEQUENCEVERIFY],
    )
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.array(operations, { maxLength: 60 }),
        (bytes, code) => {
          const { transaction } = spending({ script: PLAIN })
          const script = Uint8Array.from(code)
          const inputs = transaction.inputs.map((input) => ({
            ...input,
            script: concat(bytes, push(script)),
          }))
          // The last item may be true: no failure but an answer.
          expect(spendsScriptHash({ ...transaction, inputs }, 0, hash160(script))).toBeTypeOf('boolean')
        },
      ),
      { numRuns: 500 },
    )
  })
})
