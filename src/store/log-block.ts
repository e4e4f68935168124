/** Blocks as queries for logs read them: over the stored bytes, of which only what matches is decoded. */
import { type Log, readLogs } from '../chain/receipt.ts'
import { keccakHex } from '../encoding/hash.ts'
import type { Hex } from '../encoding/hex.ts'
import { itemEnd, payloadStart } from '../encoding/rlp-frame.ts'

/** What a query for logs reads of a block. */
export interface LogBlock {
  readonly hash: Hex
  readonly block: {
    readonly header: { readonly number: number; readonly timestamp: number }
    readonly transactions: readonly { readonly hash: Hex }[]
  }
  /** One per transaction, in order. */
  readonly receipts: readonly { readonly logs: readonly Log[] }[]
}

/** A transaction that is hashed when its hash is asked for. */
class StoredTransaction {
  readonly #raw: Uint8Array
  #hash: Hex | undefined

  constructor(raw: Uint8Array) {
    this.#raw = raw
  }

  get hash(): Hex {
    this.#hash ??= keccakHex(this.#raw)
    return this.#hash
  }
}

/** Calls with the payload of each string of the list at `at`: where it begins and ends. */
function eachString(bytes: Uint8Array, at: number, read: (start: number, end: number) => void): void {
  const end = itemEnd(bytes, at)
  if (!(end <= bytes.length)) throw new RangeError('an encoding ends before its list')
  for (let next = payloadStart(bytes, at); next < end; ) {
    const start = payloadStart(bytes, next)
    next = itemEnd(bytes, next)
    read(start, next)
  }
}

/** The transactions of a stored body, where each is followed by its sender (records.ts). */
function storedTransactions(body: Uint8Array): StoredTransaction[] {
  const strings: Uint8Array[] = []
  eachString(body, payloadStart(body, 0), (start, end) => strings.push(body.subarray(start, end)))
  return strings.filter((_, i) => i % 2 === 0).map((raw) => new StoredTransaction(raw))
}

/** What is read when it is asked for. */
export interface StoredParts {
  body(): Uint8Array
  timestamp(): number
}

/**
 * A block over its stored receipts. Its body is read when the first transaction is asked for. Throws a RangeError when
 * bytes are not what was written.
 */
export function storedLogBlock(
  hash: Hex,
  number: number,
  receipts: Uint8Array,
  stored: StoredParts,
): LogBlock {
  let transactions: StoredTransaction[] | undefined
  const logs: { readonly logs: readonly Log[] }[] = []
  eachString(receipts, 0, (start) => logs.push({ logs: readLogs(receipts, start) }))
  return {
    hash,
    block: {
      header: {
        number,
        get timestamp() {
          return stored.timestamp()
        },
      },
      get transactions() {
        transactions ??= storedTransactions(stored.body())
        return transactions
      },
    },
    receipts: logs,
  }
}
