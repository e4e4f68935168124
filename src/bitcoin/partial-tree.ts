/** Makes partial Merkle trees (BIP-37): proofs about some transactions of a block. */
import { concat } from '../encoding/bytes.ts'
import { doubleSha256 } from '../encoding/hash.ts'
import { byteString, compactSize, uint32 } from './serialization.ts'

/** A node of the tree, and whether a transaction that the proof is about is below it. */
interface Node {
  readonly hash: Uint8Array
  readonly isAboveMatch: boolean
}

function levelAbove(nodes: readonly Node[]): Node[] {
  const above: Node[] = []
  for (let i = 0; i < nodes.length; i += 2) {
    const left = nodes[i] as Node
    const right = nodes[i + 1] ?? left
    above.push({
      hash: doubleSha256(concat(left.hash, right.hash)),
      isAboveMatch: left.isAboveMatch || right.isAboveMatch,
    })
  }
  return above
}

/**
 * The tree about the leaves for which `isMatch` holds. `leaves`: hashes of all transactions of the block in order, raw
 * order; at least one.
 */
export function partialTree(
  leaves: readonly Uint8Array[],
  isMatch: (leaf: Uint8Array, index: number) => boolean,
): Uint8Array {
  const levels: (readonly Node[])[] = [
    leaves.map((hash, index) => ({ hash, isAboveMatch: isMatch(hash, index) })),
  ]
  for (let top = levels[0] ?? []; top.length > 1; top = levels.at(-1) ?? []) levels.push(levelAbove(top))
  const hashes: Uint8Array[] = []
  const flags: boolean[] = []
  const walk = (height: number, position: number): void => {
    const node = levels[height]?.[position]
    if (node === undefined) return
    flags.push(node.isAboveMatch)
    if (height === 0 || !node.isAboveMatch) {
      hashes.push(node.hash)
      return
    }
    walk(height - 1, 2 * position)
    walk(height - 1, 2 * position + 1)
  }
  walk(levels.length - 1, 0)
  const bytes = new Uint8Array(Math.ceil(flags.length / 8))
  for (const [i, flag] of flags.entries()) if (flag) bytes[i >> 3] = (bytes[i >> 3] ?? 0) | (1 << (i & 7))
  return concat(uint32(leaves.length), compactSize(hashes.length), ...hashes, byteString(bytes))
}
