/** Receipt proofs: real ones, made ones, and those that someone has touched. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeReceipt, type Receipt, receiptsRoot } from '../../src/chain/receipt.ts'
import { provenValue, type ReceiptProof, verifyReceiptProof } from '../../src/chain/receipt-proof.ts'
import { BinaryTrie, binaryTrieProof } from '../../src/encoding/binary-trie.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { keccak256 } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { receipts } from '../support/arbitraries.ts'
import { fixture } from '../support/fixture.ts'

interface RealProof {
  readonly key: Hex
  readonly receiptBytes: number
  readonly siblingKey: Hex
  readonly siblingBytes: number
  readonly leaf: Hex
  readonly root: Hex
  readonly receiptsRoot: Hex
}

interface RemascOnly {
  readonly receiptPrefix: Hex
  readonly receiptSuffix: Hex
  readonly receiptsRoot: Hex
}

const refused = (message: unknown = expect.any(String)) =>
  expect.objectContaining({ kind: 'invalid-params', message })

function proofOf(list: readonly Receipt[], index: number): ReceiptProof {
  const encoded = list.map(encodeReceipt)
  return { receipt: encoded[index] as Uint8Array, nodes: binaryTrieProof(encoded, index), index }
}

function flipped(bytes: Uint8Array, at: number, mask: number): Uint8Array {
  const out = bytes.slice()
  out[at % out.length] = (out[at % out.length] as number) ^ mask
  return out
}

const someReceipts = fc.array(receipts, { minLength: 1, maxLength: 9 })
const place = fc.nat(100_000)
const mask = fc.integer({ min: 1, max: 255 })

describe('real proofs', () => {
  const real = fixture<RealProof>('blocks/receipt-proof.json')
  const nodes = [fromHex(real.leaf), fromHex(real.root)]

  it('lead to the value of their leaf', () => {
    const { hash, length } = provenValue(nodes, fromHex(real.key), real.receiptsRoot)
    expect(length).toBe(real.receiptBytes)
    expect(real.leaf).toContain(toHex(hash).slice(2))
  })

  it('do not verify for another key or another receipt', () => {
    const { key, siblingKey, receiptsRoot: root } = real
    expect(() => provenValue(nodes, fromHex(siblingKey), root)).toThrow(
      refused('A node of the proof is not the child of the one above'),
    )
    expect(() => provenValue(nodes, concat(fromHex(key), Uint8Array.of(0)), root)).toThrow(
      refused('The proof ends before the key'),
    )
    const receipt = new Uint8Array(real.receiptBytes)
    expect(() => verifyReceiptProof({ receipt, nodes, index: 0 }, root)).toThrow(
      refused('The proof is of another receipt'),
    )
  })

  it('do not verify after any byte is changed', () => {
    for (const [at, node] of nodes.entries()) {
      for (let byte = 0; byte < node.length; byte++) {
        const touched = nodes.with(at, flipped(node, byte, 1))
        expect(() => provenValue(touched, fromHex(real.key), real.receiptsRoot)).toThrow(refused())
      }
    }
  })

  it('verify for the only receipt of a block', () => {
    const {
      receiptPrefix,
      receiptSuffix,
      receiptsRoot: root,
    } = fixture<RemascOnly>('blocks/reward-only.json')
    const receipt = concat(fromHex(receiptPrefix), new Uint8Array(256), fromHex(receiptSuffix))
    const node = concat(
      fromHex('0x700780'),
      keccak256(receipt),
      Uint8Array.of(0, receipt.length >> 8, receipt.length),
    )
    expect(verifyReceiptProof({ receipt, nodes: [node], index: 0 }, root)).toMatchObject({
      succeeded: true,
      gasUsed: 0n,
      logs: [],
    })
  })
})

describe('generated proofs', () => {
  it('return the receipt', () => {
    fc.assert(
      fc.property(someReceipts, place, (list, seed) => {
        const index = seed % list.length
        const { logsBloom, ...read } = verifyReceiptProof(proofOf(list, index), receiptsRoot(list))
        const { logsBloom: bloom, ...expected } = list[index] as Receipt
        expect(read).toEqual(expected)
        expect(toHex(logsBloom)).toBe(toHex(bloom))
      }),
      { numRuns: 60 },
    )
  })

  it('verify at indexes of one, two and three bytes', () => {
    const [receipt] = fc.sample(receipts, { numRuns: 1, seed: 1 })
    const list = Array.from({ length: 300 }, (_, i) => ({ ...(receipt as Receipt), gasUsed: BigInt(i) }))
    const root = receiptsRoot(list)
    for (const index of [0, 1, 127, 128, 255, 256, 299]) {
      expect(verifyReceiptProof(proofOf(list, index), root).gasUsed).toBe(BigInt(index))
    }
  })

  it('are refused when any byte changes', () => {
    fc.assert(
      fc.property(someReceipts, place, place, place, mask, (list, seed, which, byte, bits) => {
        const proof = proofOf(list, seed % list.length)
        const part = which % (proof.nodes.length + 1)
        const node = proof.nodes[part]
        const touched =
          node === undefined
            ? { ...proof, receipt: flipped(proof.receipt, byte, bits) }
            : { ...proof, nodes: proof.nodes.with(part, flipped(node, byte, bits)) }
        expect(() => verifyReceiptProof(touched, receiptsRoot(list))).toThrow(refused())
      }),
      { numRuns: 300 },
    )
  })

  it('are refused for another index, another root, or with nodes missing, added or out of order', () => {
    fc.assert(
      fc.property(fc.array(receipts, { minLength: 2, maxLength: 9 }), place, (list, seed) => {
        const proof = proofOf(list, seed % list.length)
        const root = receiptsRoot(list)
        const { nodes, index } = proof
        const others = [
          { ...proof, index: index + 1 },
          { ...proof, index: index + 128 },
          { ...proof, nodes: nodes.slice(1) },
          { ...proof, nodes: nodes.slice(0, -1) },
          { ...proof, nodes: nodes.toReversed() },
          { ...proof, nodes: [nodes[0] as Uint8Array, ...nodes] },
        ]
        for (const other of others) expect(() => verifyReceiptProof(other, root)).toThrow(refused())
        expect(() => verifyReceiptProof(proof, receiptsRoot(list.slice(1)))).toThrow(
          refused('The last node of the proof is not the root'),
        )
      }),
      { numRuns: 40 },
    )
  })
})

describe('the walk from root to leaf', () => {
  it('reads tries of every shape: values inside nodes, embedded leaves, long paths', () => {
    const key = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 3 }).map((raw) => raw.map((byte) => byte & 0x83)),
      fc.constantFrom(5, 19, 20, 47, 48, 49).map((length) => new Uint8Array(length).fill(1)),
    )
    const value = fc.uint8Array({ minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(fc.array(fc.tuple(key, value), { minLength: 1, maxLength: 20 }), (entries) => {
        const trie = new BinaryTrie()
        for (const [at, what] of entries) trie.put(at, what)
        for (const [at] of entries) {
          const held = trie.get(at) as Uint8Array
          const { hash, length } = provenValue(trie.proof(at), at, trie.root())
          expect(length).toBe(held.length)
          expect(toHex(hash)).toBe(toHex(keccak256(held)))
        }
      }),
      { numRuns: 60 },
    )
  })

  const MALFORMED = 'A node of the proof is malformed: a node of the binary trie'
  it.each<[string, Hex, string]>([
    ['of an older format', '0x0200', `${MALFORMED} has an unknown format`],
    ['that is cut short', '0x50', `${MALFORMED} is cut short`],
    ['with a path that is cut short', '0x5007', `${MALFORMED} is cut short`],
    ['without value', '0x500780', 'The proof ends at a node without value'],
    ['with half a value', '0x700780aabb', `${MALFORMED} has a malformed value`],
  ])('refuses a root %s', (_, node, message) => {
    const bytes = fromHex(node)
    expect(() => provenValue([bytes], Uint8Array.of(0x80), toHex(keccak256(bytes)))).toThrow(refused(message))
  })

  it('refuses an empty proof and an invalid index', () => {
    const root: Hex = `0x${'00'.repeat(32)}`
    expect(() => provenValue([], Uint8Array.of(0x80), root)).toThrow(refused('The proof has no nodes'))
    for (const index of [-1, 0.5, Number.NaN]) {
      expect(() => verifyReceiptProof({ receipt: new Uint8Array(0), nodes: [], index }, root)).toThrow(
        refused('The index must be a whole number'),
      )
    }
  })
})
