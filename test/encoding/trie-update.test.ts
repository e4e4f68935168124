/** The binary trie against sequences of the reference node's own trie (fixtures/reference-node). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMPTY } from '../../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { decodeNode, type NodeHash, type TrieNode } from '../../src/encoding/trie-node.ts'
import {
  type LoadNode,
  type NewNodes,
  reportNewNodes,
  type TrieEdit,
  updateTrie,
} from '../../src/encoding/trie-update.ts'
import { NaiveTrie } from '../support/naive-trie.ts'
import { referenceData } from '../support/reference-data.ts'

interface Step {
  readonly op: 'put' | 'putIntoEmpty' | 'delete' | 'deleteRecursive'
  readonly key: Hex
  readonly value?: Hex
  /** A long value, as `ff x 65535`. */
  readonly valueRepeat?: string
  readonly root: Hex
  readonly message: Hex
  readonly childrenSize: number
  readonly embeddable: boolean
}

interface Sequence {
  readonly name: string
  readonly steps: readonly Step[]
  /** The entries at the end, and the nodes that the reference node saved; both absent in some sequences. */
  readonly finalItems?: readonly (readonly [Hex, Hex])[]
  readonly savedNodes?: readonly (readonly [Hex, Hex])[]
  readonly savedNodesComplete?: boolean
}

const { emptyRoot, sequences } = referenceData<{ emptyRoot: Hex; sequences: Sequence[] }>('trie/sequences')

const nothingStored: LoadNode = (hash) => {
  throw new Error(`nothing is stored under ${hash.hex}`)
}

function bytesOf({ value, valueRepeat }: Step): Uint8Array {
  if (valueRepeat === undefined) return fromHex(value ?? '0x')
  const [byte, length] = valueRepeat.split(' x ')
  return new Uint8Array(Number(length)).fill(Number(`0x${byte}`))
}

function intoMap(stored: Map<Hex, Uint8Array>): NewNodes {
  return {
    node: (hash, { bytes }) => stored.set(hash, bytes),
    value: (hash, bytes) => stored.set(hash, bytes),
  }
}

function editOf(step: Step): TrieEdit {
  const key = fromHex(step.key)
  if (step.op === 'deleteRecursive') return { key, value: undefined, subtree: true }
  return { key, value: step.op === 'delete' ? undefined : bytesOf(step) }
}

function expectStep(node: TrieNode | undefined, step: Step): void {
  expect(node?.hash.hex ?? emptyRoot).toBe(step.root)
  if (node === undefined) return
  expect(toHex(node.bytes)).toBe(step.message)
  expect(node.childrenSize).toBe(step.childrenSize)
  expect(node.isEmbedded).toBe(step.embeddable)
}

describe.each(sequences)('sequence $name', ({ steps, finalItems, savedNodes = [], savedNodesComplete }) => {
  it('has the root and the bytes of the reference node after each step, in memory', () => {
    let root: TrieNode | undefined
    for (const step of steps) {
      root = updateTrie(step.op === 'putIntoEmpty' ? undefined : root, [editOf(step)], nothingStored)
      expectStep(root, step)
    }
  })

  it('has the root and the bytes when every step is stored and read back', () => {
    const stored = new Map<Hex, Uint8Array>()
    const load = (hash: NodeHash) => decodeNode(stored.get(hash.hex) as Uint8Array)
    let root: TrieNode | undefined
    for (const step of steps) {
      const updated = updateTrie(step.op === 'putIntoEmpty' ? undefined : root, [editOf(step)], load)
      expectStep(updated, step)
      if (updated === undefined) {
        root = undefined
        continue
      }
      reportNewNodes(updated, intoMap(stored))
      root = decodeNode(updated.bytes)
    }
  })

  if (finalItems === undefined) return

  it('has the same root when built from its entries at once', () => {
    const edits = finalItems.map(([key, value]) => ({ key: fromHex(key), value: fromHex(value) }))
    const root = updateTrie(undefined, edits, nothingStored)
    expect(root?.hash.hex ?? emptyRoot).toBe(steps.at(-1)?.root)
    if (root === undefined) return
    const stored = new Map([[root.hash.hex, root.bytes]])
    reportNewNodes(root, intoMap(stored))
    const saved = new Map(savedNodes)
    if (savedNodesComplete === true)
      for (const [hash, bytes] of stored) expect(saved.get(hash)).toBe(toHex(bytes))
  })
})

describe('random edits of short keys', () => {
  const byte = fc.constantFrom(0x00, 0x01, 0x10, 0x80, 0x81, 0xff)
  const shortKey = fc
    .array(byte, { minLength: 1, maxLength: 3 })
    .map((bytes) => toHex(Uint8Array.from(bytes)))
  const batch = fc.dictionary(
    shortKey,
    fc.oneof(fc.constant(undefined), fc.uint8Array({ minLength: 1, maxLength: 50 })),
    { maxKeys: 8 },
  )

  it('have the root that single insertions and removals give', () => {
    fc.assert(
      fc.property(fc.array(batch, { minLength: 1, maxLength: 6 }), (batches) => {
        const naive = new NaiveTrie()
        let root: TrieNode | undefined
        for (const changes of batches) {
          const edits = Object.entries(changes).map(([hex, value]) => ({ key: fromHex(hex), value }))
          for (const { key, value } of edits) naive.put(key, value ?? EMPTY)
          root = updateTrie(root, edits, nothingStored)
          expect(root?.hash.hex ?? emptyRoot).toBe(naive.root())
        }
      }),
      { numRuns: 300 },
    )
  })
})
