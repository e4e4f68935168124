/** How side branches are laid out. */
import { expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { assignLanes } from '../../src/ui/lanes.ts'

/** `a3` is a block of height 3; the canonical chain is `a`. */
function lanesOf(blocks: readonly (readonly [name: string, parent: string])[]) {
  const given = blocks.map(([hash, parentHash]) => ({
    hash: hash as Hex,
    parentHash: parentHash as Hex,
    height: Number(hash.slice(1)),
    isCanonical: hash.startsWith('a'),
    totalDifficulty: 0n,
    difficulty: 1n,
    timestamp: '0x0' as Hex,
    miner: '0x' as Hex,
    transactions: 0,
    uncles: [],
    includedBy: undefined,
  }))
  return Object.fromEntries(assignLanes(given).map(({ hash, lane }) => [hash, lane]))
}

it('keeps a branch in one lane, uses another for a concurrent branch, and reuses lanes above', () => {
  expect(
    lanesOf([
      ['a1', 'a0'],
      ['a2', 'a1'],
      ['a3', 'a2'],
      ['a4', 'a3'],
      ['a5', 'a4'],
      ['b2', 'a1'],
      ['b3', 'b2'],
      ['c3', 'b2'],
      ['d3', 'a2'],
      ['e5', 'a4'],
    ]),
  ).toEqual({ a1: 0, a2: 0, a3: 0, a4: 0, a5: 0, b2: 1, b3: 1, c3: 2, d3: 3, e5: 1 })
})
