import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BinaryTrie, binaryTrieProof, binaryTrieRoot } from '../../src/encoding/binary-trie.ts'
import { fromBigInt } from '../../src/encoding/bytes.ts'
import { keccak256, keccakHex } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { encodeRlp } from '../../src/encoding/rlp.ts'
import { bytes } from '../support/arbitraries.ts'
import { fixture } from '../support/fixture.ts'

const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

interface Vectors {
  readonly tries: readonly {
    readonly entries: readonly { readonly key: Hex; readonly value: Hex }[]
    readonly rootNode: Hex
    readonly root: Hex
  }[]
}

interface ReceiptProof {
  readonly receiptBytes: number
  readonly siblingBytes: number
  readonly leaf: Hex
  readonly root: Hex
  readonly receiptsRoot: Hex
}

describe('the binary trie', () => {
  it.each(fixture<Vectors>('binary-trie/vectors.json').tries)(
    'has root $root',
    ({ entries, rootNode, root }) => {
      for (const order of [entries, [...entries].reverse()]) {
        const trie = new BinaryTrie()
        for (const { key, value } of order) trie.put(fromHex(key), fromHex(value))
        expect(toHex(trie.rootNode())).toBe(rootNode)
        expect(trie.root()).toBe(root)
      }
    },
  )

  it('has the empty root before the first entry and after the last one is removed', () => {
    const trie = new BinaryTrie()
    expect(trie.root()).toBe(EMPTY_ROOT)
    expect(trie.rootNode()).toHaveLength(0)
    trie.put(Uint8Array.of(1), Uint8Array.of(1))
    expect(trie.root()).not.toBe(EMPTY_ROOT)
    trie.put(Uint8Array.of(1), new Uint8Array(0))
    expect(trie.root()).toBe(EMPTY_ROOT)
    expect(binaryTrieRoot([])).toBe(EMPTY_ROOT)
  })

  it('returns the values of a map, whatever the order of changes', () => {
    const key = fc.uint8Array({ minLength: 0, maxLength: 3 }).map((raw) => raw.map((byte) => byte & 0x83))
    fc.assert(
      fc.property(fc.array(fc.tuple(key, bytes(40)), { maxLength: 60 }), (changes) => {
        const trie = new BinaryTrie()
        const model = new Map<Hex, Uint8Array>()
        for (const [at, value] of changes) {
          trie.put(at, value)
          if (value.length === 0) model.delete(toHex(at))
          else model.set(toHex(at), value)
        }
        for (const [at] of changes) expect(trie.get(at)).toEqual(model.get(toHex(at)))
        const fresh = new BinaryTrie()
        for (const [at, value] of [...model].sort(([a], [b]) => (a < b ? 1 : -1)))
          fresh.put(fromHex(at), value)
        expect(fresh.root()).toBe(trie.root())
        for (const at of model.keys()) fresh.delete(fromHex(at))
        expect(fresh.root()).toBe(EMPTY_ROOT)
      }),
    )
  })

  it('is unchanged when an absent key is deleted', () => {
    const trie = new BinaryTrie()
    trie.put(fromHex('0x0102'), Uint8Array.of(7))
    trie.put(fromHex('0x0103'), Uint8Array.of(8))
    const before = trie.root()
    for (const key of ['0x01', '0x010204', '0x0104', '0xff', '0x'] as const) trie.delete(fromHex(key))
    expect(trie.root()).toBe(before)
  })
})

describe('an ordered list', () => {
  it('keys each value by the RLP of its index', () => {
    const values = Array.from({ length: 300 }, (_, i) => fromBigInt(BigInt(i + 1)))
    const trie = new BinaryTrie()
    values.forEach((value, i) => {
      trie.put(encodeRlp(fromBigInt(BigInt(i))), value)
    })
    expect(binaryTrieRoot(values)).toBe(trie.root())
  })

  it('proves a value by nodes that each contain the hash of the previous one, up to the root', () => {
    const values = Array.from({ length: 20 }, (_, i) => new Uint8Array(10 + 5 * i).fill(i + 1))
    values.forEach((value, index) => {
      const proof = binaryTrieProof(values, index)
      const end = value.length > 32 ? keccak256(value) : value
      expect(toHex(proof[0] as Uint8Array)).toContain(toHex(end).slice(2))
      proof.slice(1).forEach((node, i) => {
        const child = proof[i] as Uint8Array
        const text = toHex(node)
        expect(text.includes(toHex(child).slice(2)) || text.includes(keccakHex(child).slice(2))).toBe(true)
      })
      expect(keccakHex(proof.at(-1) as Uint8Array)).toBe(binaryTrieRoot(values))
    })
  })

  it('refuses to prove an absent index', () => {
    expect(() => binaryTrieProof([Uint8Array.of(1)], 1)).toThrow(RangeError)
  })

  it('produces the nodes of a real receipt proof from the size and hash of two values', () => {
    const real = fixture<ReceiptProof>('blocks/receipt-proof.json')
    const values = [
      new Uint8Array(real.receiptBytes).fill(1),
      new Uint8Array(real.siblingBytes).fill(2),
    ] as const
    // The page has no receipts, only the nodes: their hashes take the place of those of our stand-ins.
    const realHash = fromHex(real.leaf).subarray(3, 35)
    const siblingHash = fromHex(real.root).subarray(5, 37)
    const withRealHashes = (node: Uint8Array): Hex =>
      toHex(node)
        .replace(toHex(keccak256(values[0])).slice(2), toHex(realHash).slice(2))
        .replace(toHex(keccak256(values[1])).slice(2), toHex(siblingHash).slice(2)) as Hex
    const nodes = binaryTrieProof(values, 0).map(withRealHashes)
    expect(nodes).toEqual([real.leaf, real.root])
    expect(keccakHex(fromHex(nodes[1] as Hex))).toBe(real.receiptsRoot)
  })

  it('has the same root whether the hashes of its values are known or not', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 80 }), { maxLength: 12 }), (values) => {
        const hashes = values.map((value) => keccakHex(value))
        expect(binaryTrieRoot(values, hashes)).toBe(binaryTrieRoot(values))
      }),
    )
  })
})
