import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../src/encoding/hex.ts'
import { encodeRlp } from '../../src/encoding/rlp.ts'
import {
  type Child,
  compactPath,
  decodeNode,
  encodeNode,
  type Leaf,
  type MptNode,
  type NodeHash,
} from '../../src/state/trie-node.ts'

const path = fc.uint8Array({ max: 15, maxLength: 64 })
const hash: fc.Arbitrary<NodeHash> = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => ({ kind: 'hash', bytes, text: undefined }))
const leaf: fc.Arbitrary<Leaf> = fc.record({
  kind: fc.constant('leaf'),
  path,
  value: fc.oneof(fc.uint8Array({ maxLength: 60 }), fc.uint8Array({ minLength: 250, maxLength: 300 })),
})
const tinyLeaf: fc.Arbitrary<Leaf> = fc.record({
  kind: fc.constant('leaf'),
  path: fc.uint8Array({ max: 15, maxLength: 8 }),
  value: fc.uint8Array({ minLength: 1, maxLength: 9 }),
})
const child = fc.oneof(hash, tinyLeaf)
const node: fc.Arbitrary<MptNode> = fc.oneof(
  leaf,
  fc.record({ kind: fc.constant('extension' as const), path, child }),
  fc.record({
    kind: fc.constant('branch' as const),
    children: fc.array(fc.option(child, { nil: undefined }), { minLength: 16, maxLength: 16 }),
  }),
)

/** The node as nested RLP items, for the general encoder. */
function items(of: MptNode): unknown[] {
  const below = (each: Child | undefined) =>
    each === undefined ? new Uint8Array(0) : each.kind === 'hash' ? each.bytes : items(each)
  if (of.kind === 'branch') return [...of.children.map(below), new Uint8Array(0)]
  return [compactPath(of.path, of.kind === 'leaf'), of.kind === 'leaf' ? of.value : below(of.child)]
}

describe('compactPath', () => {
  it.each([
    [[1, 2, 3, 4, 5], false, '0x112345'],
    [[0, 1, 2, 3, 4, 5], false, '0x00012345'],
    [[0, 15, 1, 12, 11, 8], true, '0x200f1cb8'],
    [[15, 1, 12, 11, 8], true, '0x3f1cb8'],
    [[], true, '0x20'],
  ])('encodes %j (leaf: %s) as the Yellow Paper does', (nibbles, isLeaf, expected) => {
    expect(toHex(compactPath(Uint8Array.from(nibbles), isLeaf))).toBe(expected)
  })
})

describe('encodeNode and decodeNode', () => {
  it('are inverse, and agree with the general RLP encoder', () => {
    fc.assert(
      fc.property(node, (each) => {
        const rlp = encodeNode(each)
        expect(toHex(rlp)).toBe(toHex(encodeRlp(items(each) as Uint8Array[])))
        expect(decodeNode(rlp)).toEqual(each)
      }),
      { numRuns: 500 },
    )
  })

  it('encode values of every length class', () => {
    for (const length of [0, 1, 55, 56, 255, 256, 65_535, 65_536, 70_000]) {
      const each: MptNode = { kind: 'leaf', path: Uint8Array.of(1), value: new Uint8Array(length).fill(0x7f) }
      expect(toHex(encodeNode(each))).toBe(toHex(encodeRlp(items(each) as Uint8Array[])))
      expect(decodeNode(encodeNode(each))).toEqual(each)
    }
  })

  it.each([
    ['nothing', '0x'],
    ['a string', '0x820102'],
    ['one item', '0xc120'],
    ['three items', '0xc3200102'],
    ['bytes left over', '0xc2200100'],
    ['a list that is cut off', '0xc420'],
    ['an item that sticks out', '0xc2208301'],
    ['unknown flags', '0xc24001'],
    ['an extension to nowhere', '0xc20080'],
    ['a branch with a value', `0xd1${'80'.repeat(16)}01`],
    ['a leaf with a list for a value', '0xc220c0'],
  ])('refuse %s', (_what, rlp) => {
    expect(() => decodeNode(fromHex(rlp))).toThrow('malformed trie node')
  })
})
