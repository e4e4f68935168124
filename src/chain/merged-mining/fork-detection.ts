/**
 * The 12 bytes by which parent-chain miners would notice a hidden branch of ours (RSKIP-110,
 * docs/internals/protocol.md#15-hashes).
 */
import { concat, EMPTY, fromBigIntFixed, toNumber } from '../../encoding/bytes.ts'
import { doubleSha256 } from '../../encoding/hash.ts'
import { FORK_DETECTION_HEADERS } from '../activations.ts'
import type { Header } from '../header.ts'

const CHECKPOINTS = 7
const CHECKPOINT_DISTANCE = 64
const UNCLE_WINDOW = 32

/** The first byte of the hash of a header's parent-chain header. */
function hashByteOf({ bitcoinHeader }: Header): number {
  return toNumber(doubleSha256(bitcoinHeader).subarray(0, 1))
}

/** Number of uncles of 32 headers, by the last of them: the windows of two blocks in a row share 31 headers. */
const windowUncles = new WeakMap<Header, number>()

/** Uncles of the window that ends at a height, from those of the one below it where they are known. */
function unclesUpTo(height: number, ancestor: (height: number) => Header): number {
  const header = ancestor(height)
  let uncles = windowUncles.get(header)
  if (uncles !== undefined) return uncles
  const below = windowUncles.get(ancestor(height - 1))
  if (below === undefined) {
    uncles = 0
    for (let i = 0; i < UNCLE_WINDOW; i++) uncles += ancestor(height - i).uncleCount
  } else {
    uncles = below + header.uncleCount - ancestor(height - UNCLE_WINDOW).uncleCount
  }
  windowUncles.set(header, uncles)
  return uncles
}

/** Hash bytes of seven checkpoints, by the newest of them: 64 blocks in a row have the same ones. */
const checkpointBytes = new WeakMap<Header, Uint8Array>()

/** The bytes of the checkpoints that end at a height. */
function checkpointsUpTo(newest: number, ancestor: (height: number) => Header): Uint8Array {
  const header = ancestor(newest)
  let bytes = checkpointBytes.get(header)
  if (bytes === undefined) {
    bytes = Uint8Array.from({ length: CHECKPOINTS }, (_, i) =>
      hashByteOf(ancestor(newest - CHECKPOINT_DISTANCE * i)),
    )
    checkpointBytes.set(header, bytes)
  }
  return bytes
}

/**
 * The data of the block above the parent: one byte of each of seven parent-chain hashes, uncles of the last 32 headers,
 * the block's number. `ancestor` is called for at most 39 headers of the parent's branch. Empty below height 449.
 */
export function forkDetectionData(ancestor: (height: number) => Header, parentHeight: number): Uint8Array {
  const number = parentHeight + 1
  if (number < FORK_DETECTION_HEADERS) return EMPTY
  const newest = parentHeight - (parentHeight % CHECKPOINT_DISTANCE)
  const hashBytes = checkpointsUpTo(newest, ancestor)
  const uncles = unclesUpTo(parentHeight, ancestor)
  return concat(hashBytes, Uint8Array.of(Math.min(uncles, 255)), fromBigIntFixed(BigInt(number), 4))
}
