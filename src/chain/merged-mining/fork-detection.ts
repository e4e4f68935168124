/**
 * The 12 bytes by which parent-chain miners would notice a hidden branch of ours (RSKIP-110,
 * docs/protocol.md#15-hashes).
 */
import { concat, EMPTY, fromBigIntFixed } from '../../encoding/bytes.ts'
import { doubleSha256 } from '../../encoding/hash.ts'
import type { Header } from '../header.ts'

/** Headers that must stand below a block for it to carry the data. */
const REQUIRED_HEADERS = 449
const CHECKPOINTS = 7
const CHECKPOINT_DISTANCE = 64
const UNCLE_WINDOW = 32

const hashBytesOf = new WeakMap<Header, number>()

/** The first byte of the hash of a header's parent-chain header; hashed once, for 64 blocks look at the same ones. */
function hashByteOf(header: Header): number {
  let byte = hashBytesOf.get(header)
  if (byte === undefined) {
    byte = doubleSha256(header.bitcoinHeader)[0] as number
    hashBytesOf.set(header, byte)
  }
  return byte
}

/**
 * The data of the block above the parent: one byte of each of seven parent-chain hashes, uncles of the last 32 headers,
 * the block's number. `ancestor` is asked for at most 39 headers of the parent's branch. Empty below height 449.
 */
export function forkDetectionData(ancestor: (height: number) => Header, parentHeight: number): Uint8Array {
  const number = parentHeight + 1
  if (number < REQUIRED_HEADERS) return EMPTY
  const newest = parentHeight - (parentHeight % CHECKPOINT_DISTANCE)
  const hashBytes = new Uint8Array(CHECKPOINTS)
  for (let i = 0; i < CHECKPOINTS; i++) hashBytes[i] = hashByteOf(ancestor(newest - CHECKPOINT_DISTANCE * i))
  let uncles = 0
  for (let i = 0; i < UNCLE_WINDOW; i++) uncles += ancestor(parentHeight - i).uncleCount
  return concat(hashBytes, Uint8Array.of(Math.min(uncles, 255)), fromBigIntFixed(BigInt(number), 4))
}
