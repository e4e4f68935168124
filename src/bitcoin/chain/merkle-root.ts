/** Merkle trees over the transactions of a block, and partial ones about some of them (BIP-37). Hashes in raw order. */
import { concat, equal } from '../../encoding/bytes.ts'
import { doubleSha256, HASH_BYTES } from '../../encoding/hash.ts'
import { compactSize, uint32 } from '../serialization.ts'

const NO_HASH = new Uint8Array(HASH_BYTES)

/** All levels of a tree, the leaves first. */
function levelsOf(leaves: readonly Uint8Array[]): readonly (readonly Uint8Array[])[] {
  const levels = [leaves]
  for (let level = leaves; level.length > 1; levels.push(level)) {
    const below = level
    level = Array.from({ length: Math.ceil(below.length / 2) }, (_, i) => {
      const left = below[2 * i] ?? NO_HASH
      return doubleSha256(concat(left, below[2 * i + 1] ?? left))
    })
  }
  return levels
}

/** The root; zeros without leaves. */
export function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  return levelsOf(leaves).at(-1)?.[0] ?? NO_HASH
}

/** Are two neighbours equal, so that another list of transactions has the same root (CVE-2012-2459)? */
export function hasEqualNeighbours(leaves: readonly Uint8Array[]): boolean {
  return levelsOf(leaves).some((level) =>
    level.some((hash, i) => {
      const next = level[i + 1]
      return i % 2 === 0 && next !== undefined && equal(hash, next)
    }),
  )
}

/** A partial tree about the leaves at some places, as bytes: count, hashes, flags (BIP-37). */
export function encodePartialTree(leaves: readonly Uint8Array[], places: ReadonlySet<number>): Uint8Array {
  const levels = levelsOf(leaves)
  // By level: the nodes with a chosen leaf below.
  const chosen: ReadonlySet<number>[] = [places]
  for (let height = 1; height < levels.length; height++) {
    chosen.push(new Set([...(chosen[height - 1] ?? [])].map((place) => place >> 1)))
  }
  const flags: boolean[] = []
  const hashes: Uint8Array[] = []
  const walk = (height: number, place: number): void => {
    const isAbove = chosen[height]?.has(place) === true
    flags.push(isAbove)
    if (height === 0 || !isAbove) {
      hashes.push(levels[height]?.[place] ?? NO_HASH)
      return
    }
    walk(height - 1, 2 * place)
    if (2 * place + 1 < (levels[height - 1]?.length ?? 0)) walk(height - 1, 2 * place + 1)
  }
  walk(levels.length - 1, 0)
  const bits = new Uint8Array(Math.ceil(flags.length / 8))
  for (const [i, isSet] of flags.entries()) if (isSet) bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7))
  return concat(uint32(leaves.length), compactSize(hashes.length), ...hashes, compactSize(bits.length), bits)
}

/** The hashes beside the path from a leaf to the root, the lowest first. */
export function merkleBranch(leaves: readonly Uint8Array[], place: number): readonly Uint8Array[] {
  return levelsOf(leaves)
    .slice(0, -1)
    .map((level, height) => {
      const at = place >> height
      return level[at ^ 1] ?? level[at] ?? NO_HASH
    })
}
