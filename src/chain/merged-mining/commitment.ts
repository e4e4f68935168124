/** Our hash inside a parent-chain coinbase transaction: finding it behind its tag, and shortening the coinbase around it. */
import { concat, fromBigIntFixed, toBigInt } from '../../encoding/bytes.ts'
import { sha256 } from '../../encoding/hash.ts'
import {
  BLOCK_BYTES,
  finishSha256,
  type Midstate,
  midstateOf,
  stateBytes,
  stateFrom,
} from './sha256-midstate.ts'

/** `RSKBLOCK:`, the marker before our hash (docs/internals/protocol.md#21-coinbase). */
export const TAG = new TextEncoder().encode('RSKBLOCK:')

/** Bytes of the hash behind the tag. */
export const COMMITMENT_BYTES = 32

/**
 * How many bytes of the merged-mining hash stay when fork detection data follow, and how many those are
 * (docs/internals/protocol.md#15-hashes).
 */
export const FORK_DATA_PREFIX = 20
export const FORK_DATA_BYTES = 12

const COUNT_BYTES = 8
const MIDSTATE_BYTES = COUNT_BYTES + 32

/** Where `wanted` last begins in `bytes`; -1 when nowhere. */
export function lastPosition(bytes: Uint8Array, wanted: Uint8Array): number {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).lastIndexOf(wanted)
}

/** The 32 bytes behind the last tag of a serialized coinbase; `undefined` without a tag or with too little behind it. */
export function committedHash(coinbase: Uint8Array): Uint8Array | undefined {
  const position = lastPosition(coinbase, TAG)
  if (position < 0) return undefined
  const start = position + TAG.length
  const hash = coinbase.subarray(start, start + COMMITMENT_BYTES)
  return hash.length === COMMITMENT_BYTES ? hash : undefined
}

/** A shortened coinbase: SHA-256 after `count` bytes, and the bytes from there on. */
export interface CompressedCoinbase {
  readonly count: number
  readonly state: Midstate
  readonly tail: Uint8Array
}

/**
 * Shortens a serialized coinbase (without witness) to what a header keeps (docs/internals/protocol.md#21-coinbase): the
 * SHA-256 state up to the 64-byte block in which the last tag begins, and everything from there. Throws a
 * RangeError without a tag.
 */
export function compressCoinbase(transaction: Uint8Array): Uint8Array {
  const position = lastPosition(transaction, TAG)
  if (position < 0) throw new RangeError('the coinbase transaction holds no tag')
  const count = position - (position % BLOCK_BYTES)
  return joinCompressed({ count, state: midstateOf(transaction, count), tail: transaction.subarray(count) })
}

/** The bytes of a shortened coinbase. */
export function joinCompressed({ count, state, tail }: CompressedCoinbase): Uint8Array {
  return concat(fromBigIntFixed(BigInt(count), COUNT_BYTES), stateBytes(state), tail)
}

/** Takes a shortened coinbase apart; throws a RangeError when its count is missing, absurd or not of whole blocks. */
export function splitCompressed(bytes: Uint8Array): CompressedCoinbase {
  if (bytes.length < MIDSTATE_BYTES) throw new RangeError('a shortened coinbase has at least 40 bytes')
  const count = Number(toBigInt(bytes.subarray(0, COUNT_BYTES)))
  if (!Number.isSafeInteger(count) || count % BLOCK_BYTES !== 0) {
    throw new RangeError('a shortened coinbase counts whole 64-byte blocks')
  }
  return {
    count,
    state: stateFrom(bytes.subarray(COUNT_BYTES, MIDSTATE_BYTES)),
    tail: bytes.subarray(MIDSTATE_BYTES),
  }
}

/** The coinbase's transaction id, raw byte order, from its shortened form. */
export function coinbaseHash({ count, state, tail }: CompressedCoinbase): Uint8Array {
  return sha256(finishSha256(state, count, tail))
}

/** The 12 bytes that follow the tag and `prefix` (20 bytes) in a shortened coinbase, where that pair last occurs. */
export function forkDataIn(compressed: Uint8Array, prefix: Uint8Array): Uint8Array | undefined {
  const tail = compressed.subarray(MIDSTATE_BYTES)
  const wanted = concat(TAG, prefix)
  const position = lastPosition(tail, wanted)
  if (position < 0) return undefined
  const data = tail.subarray(position + wanted.length, position + wanted.length + FORK_DATA_BYTES)
  return data.length === FORK_DATA_BYTES ? data : undefined
}
