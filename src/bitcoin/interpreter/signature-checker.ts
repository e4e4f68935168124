/** What scripts check against the transaction that spends: signatures, its lock time, the sequence of the input. */
import { isSignedBy } from '../signature.ts'
import { FINAL_SEQUENCE, type Transaction } from '../transaction.ts'
import { decodeLaxDer, withoutHybridPrefix } from './signature-encoding.ts'
import { legacyHash, WitnessHashes, witnessHash } from './signature-hash.ts'

/** Lock times from here on are seconds since 1970, below they are heights. */
export const LOCKTIME_THRESHOLD = 500_000_000

/** Parts of a sequence that locks an input relative to the output that it spends (BIP-68). */
export const SEQUENCE = { DISABLED: 2 ** 31, IS_TIME: 1 << 22, MASK: 0xffff } as const

/** An input of a transaction, and the value of the output that it spends. */
export class SignatureChecker {
  readonly #transaction: Transaction
  readonly #index: number
  readonly #value: bigint
  readonly #shared: WitnessHashes

  /** `value`: satoshi. `shared`: hashes that the transaction's inputs have in common. */
  constructor(
    transaction: Transaction,
    index: number,
    value: bigint,
    shared = new WitnessHashes(transaction),
  ) {
    this.#transaction = transaction
    this.#index = index
    this.#value = value
    this.#shared = shared
  }

  /** Is it a signature, with its type at the end, by the key? What cannot be one gives `false`. */
  isSigned(
    signature: Uint8Array,
    publicKey: Uint8Array,
    scriptCode: Uint8Array,
    isWitness: boolean,
  ): boolean {
    const type = signature.at(-1)
    const key = withoutHybridPrefix(publicKey)
    const decoded = type === undefined ? undefined : decodeLaxDer(signature.subarray(0, -1))
    if (type === undefined || key === undefined || decoded === undefined) return false
    const hash = isWitness
      ? witnessHash(this.#transaction, this.#index, scriptCode, type, this.#value, this.#shared)
      : legacyHash(this.#transaction, this.#index, scriptCode, type)
    return isSignedBy(hash, decoded, key)
  }

  /** Has the transaction a lock time of the same kind that is not earlier (BIP-65)? */
  hasLockTime(lockTime: bigint): boolean {
    const own = BigInt(this.#transaction.lockTime)
    const threshold = BigInt(LOCKTIME_THRESHOLD)
    if (own < threshold !== lockTime < threshold || lockTime > own) return false
    return this.#sequence !== FINAL_SEQUENCE
  }

  /** Has the input a relative lock of the same kind that is not shorter (BIP-112)? */
  hasSequence(required: bigint): boolean {
    const sequence = this.#sequence
    if (this.#transaction.version < 2 || sequence >= SEQUENCE.DISABLED) return false
    const mask = BigInt(SEQUENCE.IS_TIME | SEQUENCE.MASK)
    const isTime = BigInt(SEQUENCE.IS_TIME)
    const own = BigInt(sequence) & mask
    const wanted = required & mask
    return own < isTime === wanted < isTime && wanted <= own
  }

  get #sequence(): number {
    return this.#transaction.inputs[this.#index]?.sequence ?? FINAL_SEQUENCE
  }
}
