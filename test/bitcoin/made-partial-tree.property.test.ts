import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { merkleRoot } from '../../src/bitcoin/chain/merkle-root.ts'
import { proveByTree } from '../../src/bitcoin/merkle-tree.ts'
import { partialTree } from '../../src/bitcoin/partial-tree.ts'

const leaf = fc.uint8Array({ minLength: 32, maxLength: 32 })

describe('a partial tree', () => {
  it('proves its leaves and the root of the whole tree, for any number of leaves', () => {
    const leaves = fc.uniqueArray(leaf, { minLength: 1, maxLength: 40, selector: String })
    fc.assert(
      fc.property(leaves, fc.infiniteStream(fc.boolean()), (hashes, picks) => {
        const wanted = hashes.filter(() => picks.next().value)
        const tree = partialTree(hashes, (hash) => wanted.includes(hash))
        const { root, matches } = proveByTree(tree)
        expect(matches).toEqual(wanted)
        expect(root).toEqual(merkleRoot(hashes))
      }),
    )
  })

  it('has no more hashes than the proof needs', () => {
    const hashes = Array.from({ length: 16 }, (_, i) => new Uint8Array(32).fill(i + 1))
    const hashesOf = (tree: Uint8Array) => tree[4]
    expect(hashesOf(partialTree(hashes, () => false))).toBe(1)
    // One leaf, and a sibling on each of four levels.
    expect(hashesOf(partialTree(hashes, (_, index) => index === 5))).toBe(5)
    expect(hashesOf(partialTree(hashes, () => true))).toBe(16)
  })
})
