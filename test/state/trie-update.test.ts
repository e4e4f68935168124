import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMPTY_TRIE_ROOT } from '../../src/chain/account.ts'
import { keccakHex } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { decodeNode, type MptNode, textOf } from '../../src/state/trie-node.ts'
import { type LoadNode, readTrie } from '../../src/state/trie-read.ts'
import { type Edit, updateTrie } from '../../src/state/trie-update.ts'
import { oracleRoot } from './trie-oracle.ts'

/** A trie that keeps every node it was ever given, and applies edits in one pass. */
function createTrie() {
  const nodes = new Map<Hex, Uint8Array>()
  const load: LoadNode = (hash) => {
    const rlp = nodes.get(hash)
    if (rlp === undefined) throw new Error(`no node ${hash}`)
    return decodeNode(rlp)
  }
  return {
    load,
    update(root: Hex, edits: readonly Edit[]): { root: Hex; made: Map<Hex, Uint8Array> } {
      const made = new Map<Hex, Uint8Array>()
      const after = updateTrie(load, root, edits, (hash, rlp) => made.set(hash, rlp))
      for (const [hash, rlp] of made) nodes.set(hash, rlp)
      return { root: after, made }
    },
  }
}

/** Hashes of all nodes below a root, found by walking from it. */
function reachable(load: LoadNode, root: Hex): Set<Hex> {
  const found = new Set<Hex>()
  const visit = (node: MptNode): void => {
    const children = node.kind === 'branch' ? node.children : node.kind === 'extension' ? [node.child] : []
    for (const child of children) {
      if (child?.kind === 'hash') enter(textOf(child))
      else if (child !== undefined) visit(child)
    }
  }
  const enter = (hash: Hex): void => {
    found.add(hash)
    visit(load(hash))
  }
  if (root !== EMPTY_TRIE_ROOT) enter(root)
  return found
}

/** Keys that agree for long stretches, so that paths split, shrink, and short nodes stand inside others. */
const crowdedKey = fc
  .tuple(fc.constantFrom(0, 1, 20, 30, 31), fc.integer({ min: 0, max: 31 }), fc.integer({ min: 0, max: 255 }))
  .map(([prefix, at, byte]) => {
    const key = new Uint8Array(32).fill(0x11, 0, prefix)
    key[at] = byte
    return toHex(key)
  })
const value = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 3 }),
  fc.uint8Array({ minLength: 1, maxLength: 120 }),
)
const batch = fc.uniqueArray(fc.tuple(crowdedKey, fc.option(value, { nil: undefined })), {
  selector: ([key]) => key,
  maxLength: 40,
})

describe('updateTrie', () => {
  it('gives the roots of the library after any batches, and reports just the nodes that are new and reachable', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 6 }), async (batches) => {
        const trie = createTrie()
        const model = new Map<Hex, Uint8Array>()
        let root: Hex = EMPTY_TRIE_ROOT
        for (const edits of batches) {
          for (const [key, newValue] of edits) {
            if (newValue === undefined) model.delete(key)
            else model.set(key, newValue)
          }
          const committed = trie.update(
            root,
            edits.map(([key, newValue]) => ({ key: fromHex(key), value: newValue })),
          )
          root = committed.root
          const entries = [...model].map(([key, bytes]) => [fromHex(key), bytes] as const)
          expect(root).toBe(await oracleRoot(entries, { hashKeys: false }))
          const live = reachable(trie.load, root)
          for (const [hash, rlp] of committed.made) {
            expect(live.has(hash)).toBe(true)
            expect(keccakHex(rlp)).toBe(hash)
          }
          for (const [key] of edits) {
            expect(readTrie(trie.load, root, fromHex(key))).toEqual(model.get(key))
          }
        }
      }),
      { numRuns: 150 },
    )
  })

  it('comes back to the same root when a batch is undone by another', () => {
    fc.assert(
      fc.property(batch, batch, (first, second) => {
        const trie = createTrie()
        const initial = new Map(first.filter(([, bytes]) => bytes !== undefined))
        const { root } = trie.update(
          EMPTY_TRIE_ROOT,
          [...initial].map(([key, bytes]) => ({ key: fromHex(key), value: bytes })),
        )
        const forth = trie.update(
          root,
          second.map(([key, bytes]) => ({ key: fromHex(key), value: bytes })),
        )
        const back = trie.update(
          forth.root,
          second.map(([key]) => ({ key: fromHex(key), value: initial.get(key) })),
        )
        expect(back.root).toBe(root)
      }),
    )
  })

  it('makes no node when every value stays what it was', () => {
    fc.assert(
      fc.property(batch, fc.array(crowdedKey), (edits, absent) => {
        const trie = createTrie()
        const asEdits = edits.map(([key, bytes]) => ({ key: fromHex(key), value: bytes }))
        const { root } = trie.update(EMPTY_TRIE_ROOT, asEdits)
        const present = new Set(edits.map(([key]) => key))
        const removals = [...new Set(absent)]
          .filter((key) => !present.has(key))
          .map((key) => ({ key: fromHex(key), value: undefined }))
        const again = trie.update(root, [
          ...asEdits.map(({ key, value: bytes }) => ({ key, value: bytes && new Uint8Array(bytes) })),
          ...removals,
        ])
        expect(again).toEqual({ root, made: new Map() })
      }),
    )
  })

  it('collapses to the empty root when the last key goes', () => {
    const trie = createTrie()
    const keys = [0x00, 0x01, 0x10, 0xff].map((byte) => new Uint8Array(32).fill(byte))
    const { root } = trie.update(
      EMPTY_TRIE_ROOT,
      keys.map((key) => ({ key, value: Uint8Array.of(7) })),
    )
    const emptied = trie.update(
      root,
      keys.map((key) => ({ key, value: undefined })),
    )
    expect(emptied).toEqual({ root: EMPTY_TRIE_ROOT, made: new Map() })
  })
})
