import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  branchFromHashes,
  branchFromPartialTree,
  isTransaction,
  rootOfBranch,
} from '../../../src/chain/merged-mining/merkle-branch.ts'
import { concat } from '../../../src/encoding/bytes.ts'
import { doubleSha256 } from '../../../src/encoding/hash.ts'
import { toHex } from '../../../src/encoding/hex.ts'
import { fixedBytes } from '../../support/arbitraries.ts'

/** The parent chain's rule as a recursion. */
function merkleRoot(level: readonly Uint8Array[]): Uint8Array {
  const [only] = level
  if (only !== undefined && level.length === 1) return only
  const above = level
    .filter((_, i) => i % 2 === 0)
    .map((left, i) => doubleSha256(concat(left, level[2 * i + 1] ?? left)))
  return merkleRoot(above)
}

/** Version, one input with a script of 4 bytes, one output with an empty script, lock time: 64 bytes in all. */
function shortTransaction(): Uint8Array {
  const bytes = new Uint8Array(64)
  bytes[4] = 1
  bytes[41] = 4
  bytes[50] = 1
  bytes[59] = 0
  return bytes
}

describe('merkle branches', () => {
  it('lead from the first of any number of transactions to the root', () => {
    fc.assert(
      fc.property(fc.array(fixedBytes(32), { minLength: 1, maxLength: 40 }), (hashes) => {
        const branch = branchFromHashes(hashes)
        expect(toHex(rootOfBranch(hashes[0] as Uint8Array, branch))).toBe(toHex(merkleRoot(hashes)))
        expect(branch.length).toBe(32 * Math.ceil(Math.log2(hashes.length)))
      }),
      { numRuns: 60 },
    )
  })

  it('hold the siblings in display order', () => {
    const coinbase = new Uint8Array(32).fill(1)
    const sibling = Uint8Array.from({ length: 32 }, (_, i) => i)
    expect(branchFromHashes([coinbase, sibling])).toEqual(sibling.slice().reverse())
    expect(branchFromPartialTree([coinbase, sibling])).toEqual(sibling.slice().reverse())
    expect(branchFromPartialTree([coinbase])).toHaveLength(0)
  })

  it('need at least one hash', () => {
    expect(() => branchFromHashes([])).toThrow(RangeError)
    expect(() => branchFromPartialTree([])).toThrow(RangeError)
  })

  it('have at most 30 whole hashes', () => {
    const leaf = new Uint8Array(32).fill(9)
    expect(rootOfBranch(leaf, new Uint8Array(960))).toHaveLength(32)
    expect(() => rootOfBranch(leaf, new Uint8Array(992))).toThrow(RangeError)
    expect(() => rootOfBranch(leaf, new Uint8Array(33))).toThrow(RangeError)
  })

  it('do not accept a transaction as a pair of hashes', () => {
    const pair = shortTransaction()
    expect(isTransaction(pair)).toBe(true)
    const sibling = pair.slice(32).reverse()
    expect(() => rootOfBranch(pair.subarray(0, 32), sibling)).toThrow(RangeError)
    for (const [at, byte] of [
      [4, 0],
      [4, 2],
      [41, 5],
      [50, 0],
      [59, 1],
      [41, 0xff],
    ] as const) {
      const other = shortTransaction()
      other[at] = byte
      expect(isTransaction(other)).toBe(false)
    }
  })
})
