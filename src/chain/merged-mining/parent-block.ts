/** Parent-chain blocks and transactions as pools submit them, read just far enough to find each transaction's plain bytes. */
import { concat, toNumber } from '../../encoding/bytes.ts'
import { doubleSha256 } from '../../encoding/hash.ts'
import { branchFromHashes } from './merkle-branch.ts'
import { PARENT_HEADER_BYTES } from './parent-header.ts'
import type { Solution } from './proof.ts'

/** Walks over little-endian fields; throws a RangeError at the end of the bytes. */
class Reader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get position(): number {
    return this.#at
  }

  get isDone(): boolean {
    return this.#at === this.#bytes.length
  }

  peek(offset: number): number | undefined {
    return this.#bytes[this.#at + offset]
  }

  slice(from: number, to: number): Uint8Array {
    return this.#bytes.subarray(from, to)
  }

  take(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) throw new RangeError('parent-chain data end too early')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  /** A CompactSize of at most 4 bytes: no real count or length is larger. */
  size(): number {
    const first = toNumber(this.take(1))
    if (first < 0xfd) return first
    if (first === 0xff) throw new RangeError('a parent-chain length is absurd')
    return this.take(first === 0xfd ? 2 : 4).reduceRight((value, byte) => value * 256 + byte, 0)
  }

  /** Skips `count` items that each have `before` bytes, a sized script, and `after` bytes. */
  skipScripts(before: number, after: number): number {
    const count = this.size()
    for (let i = 0; i < count; i++) {
      this.take(before)
      this.take(this.size())
      this.take(after)
    }
    return count
  }
}

/** The next transaction without its witness: the bytes that are hashed for its id. */
function readTransaction(reader: Reader): Uint8Array {
  const version = reader.take(4)
  const hasWitness = reader.peek(0) === 0 && reader.peek(1) === 1
  if (hasWitness) reader.take(2)
  const start = reader.position
  const inputs = reader.skipScripts(36, 4)
  reader.skipScripts(8, 0)
  const body = reader.slice(start, reader.position)
  if (hasWitness) {
    for (let input = 0; input < inputs; input++) {
      const items = reader.size()
      for (let item = 0; item < items; item++) reader.take(reader.size())
    }
  }
  return concat(version, body, reader.take(4))
}

/** A serialized transaction without its witness, if it has one. Throws a RangeError when it is malformed. */
export function plainTransaction(bytes: Uint8Array): Uint8Array {
  const reader = new Reader(bytes)
  const plain = readTransaction(reader)
  if (!reader.isDone) throw new RangeError('bytes follow the parent-chain transaction')
  return plain
}

/** The solution in a whole parent-chain block, whose first transaction is the coinbase. Throws a RangeError when malformed. */
export function solutionFromBlock(bytes: Uint8Array): Solution {
  const reader = new Reader(bytes)
  const parentHeader = reader.take(PARENT_HEADER_BYTES)
  const count = reader.size()
  const transactions: Uint8Array[] = []
  for (let i = 0; i < count; i++) transactions.push(readTransaction(reader))
  if (!reader.isDone) throw new RangeError('bytes follow the parent-chain block')
  const [coinbase] = transactions
  if (coinbase === undefined) throw new RangeError('a block has at least one transaction')
  return { parentHeader, coinbase, merkleBranch: branchFromHashes(transactions.map(doubleSha256)) }
}
