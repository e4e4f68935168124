/** Signs inputs: of outputs to keys, key hashes, multisig scripts, and to hashes of scripts and witness programs of those. */
import { ripemd160 } from '@noble/hashes/legacy.js'
import { concat, EMPTY } from '../../encoding/bytes.ts'
import { sha256 } from '../../encoding/hash.ts'
import { kindOf } from '../chain/script-kind.ts'
import { digitsOf } from '../displayed-hash.ts'
import { hash160 } from '../hash.ts'
import { operationsOf } from '../interpreter/opcodes.ts'
import { SignatureChecker } from '../interpreter/signature-checker.ts'
import { legacyHash, witnessHash } from '../interpreter/signature-hash.ts'
import { outputScript } from '../output-script.ts'
import { type PrivateKey, publicKeyOf, signHash } from '../private-key.ts'
import { push } from '../script.ts'
import type { Output, Transaction } from '../transaction.ts'

/** Keys and scripts to sign with. */
export interface Signer {
  /** By the hash of its public key, hex digits. */
  keyOf(hash: string): PrivateKey | undefined
  /** By its hash of 20 bytes, hex digits. */
  scriptOf(hash: string): Uint8Array | undefined
}

/** A signer of keys and scripts in hand. A key also signs for its compressed witness program behind a script hash. */
export function signerOf(keys: readonly PrivateKey[], scripts: readonly Uint8Array[]): Signer {
  const programs = keys.map((key) => concat(Uint8Array.of(0), push(hash160(publicKeyOf(key)))))
  const byHash = new Map(keys.map((key) => [digitsOf(hash160(publicKeyOf(key))), key]))
  const scriptsByHash = new Map(
    [...scripts, ...programs].map((script) => [digitsOf(hash160(script)), script]),
  )
  return { keyOf: (hash) => byHash.get(hash), scriptOf: (hash) => scriptsByHash.get(hash) }
}

/** An input that is signed, and the output that it spends. */
interface Signing {
  readonly transaction: Transaction
  readonly index: number
  readonly output: Output
  readonly signer: Signer
  /** What is signed: a type of `SIGHASH`. */
  readonly type: number
  /** Signatures that the input has already. */
  readonly given: readonly Uint8Array[]
}

/** The items that a script takes, the last on top; `undefined` when none can be made. */
type Items = readonly Uint8Array[] | undefined

function signatureBy(signing: Signing, key: PrivateKey, code: Uint8Array, isWitness: boolean): Uint8Array {
  const { transaction, index, output, type } = signing
  const hash = isWitness
    ? witnessHash(transaction, index, code, type, output.value)
    : legacyHash(transaction, index, code, type)
  return concat(signHash(hash, key), Uint8Array.of(type))
}

/** The signature by the public key: one that the input has already, or a new one. */
function signatureFor(
  signing: Signing,
  publicKey: Uint8Array,
  code: Uint8Array,
  isWitness: boolean,
): Uint8Array | undefined {
  const checker = new SignatureChecker(signing.transaction, signing.index, signing.output.value)
  const given = signing.given.find((signature) => checker.isSigned(signature, publicKey, code, isWitness))
  if (given !== undefined) return given
  const key = signing.signer.keyOf(digitsOf(hash160(publicKey)))
  return key === undefined ? undefined : signatureBy(signing, key, code, isWitness)
}

/** Items for a script that is no hash of another. `code`: what signatures sign of it. */
function itemsFor(signing: Signing, script: Uint8Array, isWitness: boolean): Items {
  const { kind, hash = EMPTY, keys = [], required = 0 } = kindOf(script)
  if (kind === 'pubkeyhash') {
    const key = signing.signer.keyOf(digitsOf(hash))
    const publicKey = key === undefined ? publicKeyGiven(signing, hash) : publicKeyOf(key)
    const signature = publicKey && signatureFor(signing, publicKey, script, isWitness)
    return signature && publicKey && [signature, publicKey]
  }
  const signatures = keys.flatMap((key) => signatureFor(signing, key, script, isWitness) ?? [])
  if (kind === 'pubkey') return signatures.length === 1 ? signatures : undefined
  return kind === 'multisig' && signatures.length > 0 ? [EMPTY, ...signatures.slice(0, required)] : undefined
}

function publicKeyGiven({ given }: Signing, hash: Uint8Array): Uint8Array | undefined {
  return given.find((item) => item.length >= 33 && digitsOf(hash160(item)) === digitsOf(hash))
}

/** The witness for a program of version 0; `undefined` when none can be made. */
function witnessFor(signing: Signing, program: Uint8Array): Items {
  if (program.length === 20) {
    return itemsFor(signing, outputScript({ kind: 'publicKeyHash', hash: program }), true)
  }
  // Scripts are looked up by RIPEMD-160 of SHA-256, and a program is their SHA-256.
  const script = signing.signer.scriptOf(digitsOf(ripemd160(program))) ?? witnessScriptGiven(signing, program)
  const items = script === undefined ? undefined : itemsFor(signing, script, true)
  return items && script && [...items, script]
}

function witnessScriptGiven({ given }: Signing, program: Uint8Array): Uint8Array | undefined {
  return given.find((item) => digitsOf(sha256(item)) === digitsOf(program))
}

function pushAll(items: readonly Uint8Array[]): Uint8Array {
  return concat(...items.map(push))
}

/** Script and witness of an input. */
export interface Unlocking {
  readonly script: Uint8Array
  readonly witness: readonly Uint8Array[]
}

function unlockingFor(signing: Signing): Unlocking | undefined {
  const { kind, hash = EMPTY } = kindOf(signing.output.script)
  if (kind === 'witness_v0_keyhash' || kind === 'witness_v0_scripthash') {
    const witness = witnessFor(signing, hash)
    return witness && { script: EMPTY, witness }
  }
  if (kind !== 'scripthash') {
    const items = itemsFor(signing, signing.output.script, false)
    return items && { script: pushAll(items), witness: [] }
  }
  const redeem = signing.signer.scriptOf(digitsOf(hash)) ?? redeemGiven(signing, hash)
  if (redeem === undefined) return undefined
  const inner = kindOf(redeem)
  if (inner.version === 0) {
    const witness = witnessFor(signing, inner.hash ?? EMPTY)
    return witness && { script: push(redeem), witness }
  }
  const items = itemsFor(signing, redeem, false)
  return items && { script: pushAll([...items, redeem]), witness: [] }
}

function redeemGiven({ given }: Signing, hash: Uint8Array): Uint8Array | undefined {
  return given.find((item) => digitsOf(hash160(item)) === digitsOf(hash))
}

/** The transaction with the input signed as far as keys and scripts are there; otherwise as it was. */
export function signInput(
  transaction: Transaction,
  index: number,
  output: Output,
  signer: Signer,
  type: number,
): Transaction {
  const input = transaction.inputs[index]
  if (input === undefined) throw new RangeError(`the transaction has no input ${index}`)
  const pushed = [...operationsOf(input.script)].map(({ data }) => data)
  const given = [...pushed, ...input.witness].filter(({ length }) => length > 0)
  const unlocking = unlockingFor({ transaction, index, output, signer, type, given })
  if (unlocking === undefined) return transaction
  return {
    ...transaction,
    inputs: transaction.inputs.map((one, i) => (i === index ? { ...one, ...unlocking } : one)),
  }
}
