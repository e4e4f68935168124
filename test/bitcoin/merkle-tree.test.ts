/** Partial Merkle trees and branches, built here by BIP-37, against roots of bitcoinjs-lib; what the reference node refuses. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reversed } from '../../src/bitcoin/hash.ts'
import { branchRoot, combine, hasTreeLength, proveByTree } from '../../src/bitcoin/merkle-tree.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { fromHex } from '../../src/encoding/hex.ts'
import { library } from './library.ts'
import { partialTree, treeNode } from './partial-tree.ts'

/** Different transactions; their hashes are the leaves. */
function leavesOf(count: number) {
  const list = Array.from({ length: count }, (_, i) => {
    const transaction = new library.Transaction()
    transaction.locktime = i
    transaction.addInput(new Uint8Array(32), 0, 0, new Uint8Array(0))
    transaction.addOutput(new Uint8Array(0), 1n)
    return transaction
  })
  return {
    leaves: list.map((transaction) => new Uint8Array(transaction.getHash())),
    root: new Uint8Array(library.Block.calculateMerkleRoot(list)),
  }
}

describe('partial Merkle trees', () => {
  it('prove the root and the transactions that they are about', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.infiniteStream(fc.boolean()), (count, choices) => {
        const { leaves, root } = leavesOf(count)
        const chosen = leaves.map(() => choices.next().value === true)
        const bytes = partialTree(leaves, (i) => chosen[i] === true)
        expect(hasTreeLength(bytes)).toBe(true)
        expect(proveByTree(bytes)).toEqual({ root, matches: leaves.filter((_, i) => chosen[i]) })
        for (const other of [bytes.subarray(0, -1), concat(bytes, Uint8Array.of(0)), bytes.subarray(0, 4)]) {
          expect(hasTreeLength(other)).toBe(false)
        }
      }),
      { numRuns: 50 },
    )
  })

  const leaf = '11'.repeat(32)
  it.each([
    ['no transactions', `0x00000000${'01'}${leaf}0101`, 'an impossible number of transactions'],
    ['too many transactions', `0x1b410000${'01'}${leaf}0101`, 'an impossible number of transactions'],
    ['a negative number of them', `0xffffffff${'01'}${leaf}0101`, 'an impossible number of transactions'],
    [
      'more hashes than transactions',
      `0x0100000002${leaf}${leaf}0101`,
      'a Merkle tree with more hashes than transactions',
    ],
    [
      'fewer flags than hashes',
      `0x0900000009${leaf.repeat(9)}0101`,
      'a Merkle tree with fewer flags than hashes',
    ],
    ['too few flags', '0x020000000000', 'a Merkle tree without enough flags'],
    ['too few hashes', '0x02000000000101', 'a Merkle tree without enough hashes'],
    ['two equal branches', `0x0200000002${leaf}${leaf}0107`, 'a Merkle tree with two equal branches'],
    ['a hash too many', `0x0200000002${leaf}${'22'.repeat(32)}0100`, 'a Merkle tree with more than it needs'],
    ['a byte of flags too many', `0x0100000001${leaf}020100`, 'a Merkle tree with more than it needs'],
  ])('are refused with %s', (_, bytes, message) => {
    expect(() => proveByTree(fromHex(bytes))).toThrow(new RangeError(message))
  })

  it('have no length that exceeds their bytes', () => {
    for (const bytes of ['0x', '0x01000000', '0x01000000ffffffffffffffffff', '0x0100000000fe00000010']) {
      expect(hasTreeLength(fromHex(bytes))).toBe(false)
    }
  })
})

describe('branches', () => {
  it('lead from each transaction to the root', () => {
    const { leaves, root } = leavesOf(13)
    for (const i of leaves.keys()) {
      const siblings = [0, 1, 2, 3].map((height) => treeNode(leaves, height, (i >> height) ^ 1))
      expect(branchRoot(leaves[i] as Uint8Array, i, siblings)).toEqual(root)
    }
  })
})

describe('two nodes', () => {
  /** 64 bytes that could be a transaction, from the two nodes as displayed. */
  const transaction = (
    fields: Partial<Record<'inputs' | 'output' | 'script' | 'outputs' | 'value' | 'last', string>>,
  ) => {
    const {
      inputs = '01',
      output = '00000000',
      script = '02aabb',
      outputs = '01',
      value = '0100000000000000',
      last = '02ccdd',
    } = fields
    const hex = `02000000${inputs}${'07'.repeat(32)}${output}${script}ffffffff${outputs}${value}${last}00000000`
    const bytes = fromHex(`0x${hex}`)
    expect(bytes).toHaveLength(64)
    return () => combine(reversed(bytes.subarray(0, 32)), reversed(bytes.subarray(32)))
  }

  it.each([
    {},
    { output: 'ffffffff' },
    { output: '40420f00' },
    { value: '0040075af0750700' },
    { script: '00', last: '04ccddeeff' },
  ])('that form the transaction %o are refused', (fields) => {
    expect(transaction(fields)).toThrow(new RangeError('two nodes form a transaction'))
  })

  it.each([
    { inputs: '02' },
    { output: '41420f00' },
    { outputs: '02' },
    { value: '0000000000000000' },
    { value: '0140075af0750700' },
    { value: 'ffffffffffffffff' },
    { last: '03ccdd' },
  ])('that do not, %o, are combined', (fields) => {
    expect(transaction(fields)()).toHaveLength(32)
  })
})
