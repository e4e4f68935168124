/** Merkle trees of transactions as a miner builds them, and partial ones (BIP-37). All hashes in raw order. */
import { concat } from '../../src/encoding/bytes.ts'
import { doubleSha256 } from '../../src/encoding/hash.ts'

const widthAt = (leaves: number, height: number) => Math.ceil(leaves / 2 ** height)

/** The node at a height, `position` from the left; the last is its own neighbour where there is no other. */
export function treeNode(leaves: readonly Uint8Array[], height: number, position: number): Uint8Array {
  const at = Math.min(position, widthAt(leaves.length, height) - 1)
  if (height === 0) return leaves[at] as Uint8Array
  return doubleSha256(concat(treeNode(leaves, height - 1, 2 * at), treeNode(leaves, height - 1, 2 * at + 1)))
}

/** A partial tree about the chosen transactions, at most 252 hashes. */
export function partialTree(leaves: readonly Uint8Array[], isChosen: (index: number) => boolean): Uint8Array {
  const flags: boolean[] = []
  const hashes: Uint8Array[] = []
  let top = 0
  while (widthAt(leaves.length, top) > 1) top++
  const walk = (height: number, position: number): void => {
    const below = [...leaves.keys()].filter((i) => i >> height === position)
    const isAbove = below.some(isChosen)
    flags.push(isAbove)
    if (height === 0 || !isAbove) {
      hashes.push(treeNode(leaves, height, position))
      return
    }
    walk(height - 1, 2 * position)
    if (2 * position + 1 < widthAt(leaves.length, height - 1)) walk(height - 1, 2 * position + 1)
  }
  walk(top, 0)
  const bytes = new Uint8Array(Math.ceil(flags.length / 8))
  for (const [i, isSet] of flags.entries()) if (isSet) bytes[i >> 3] = (bytes[i >> 3] ?? 0) | (1 << (i & 7))
  const count = leaves.length
  return concat(
    Uint8Array.of(count, count >> 8, 0, 0, hashes.length),
    ...hashes,
    Uint8Array.of(bytes.length),
    bytes,
  )
}
