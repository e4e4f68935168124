/** The flame graph's tree and boxes: widths are shares of the gas. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { flameBoxes, flameTree } from '../../src/ui/flame.ts'

const profile = {
  gasUsed: 100,
  refunds: 0,
  frames: [
    { name: '(intrinsic gas)' },
    { name: 'A.f', file: 'A.sol', line: 3 },
    { name: 'A.sol:4', file: 'A.sol', line: 4 },
    { name: 'B.g', file: 'B.sol', line: 1 },
  ],
  stacks: [
    { frames: [0], gas: 20 },
    { frames: [1], gas: 10 },
    { frames: [1, 2], gas: 30 },
    { frames: [1, 3], gas: 40 },
    { frames: [3], gas: -5 },
  ],
}

it('adds up stacks, leaving out those that got back more than they spent', () => {
  const root = flameTree(profile)
  expect(root.total).toBe(100)
  expect(root.children.map(({ name, place, total }) => [name, place, total])).toEqual([
    ['A.f', 'A.sol:3', 80],
    ['(intrinsic gas)', '', 20],
  ])
  expect(root.children[0]?.children.map(({ name, total }) => [name, total])).toEqual([
    ['B.g', 40],
    ['A.sol:4', 30],
  ])
})

it('gives a frame that is zoomed the whole width, below those around it', () => {
  const boxes = flameBoxes(flameTree(profile), [0]).map(({ node, row, left, width }) => [
    node.name,
    row,
    left,
    width,
  ])
  expect(boxes).toEqual([
    ['transaction', 0, 0, 100],
    ['A.f', 1, 0, 100],
    ['B.g', 2, 0, 50],
    ['A.sol:4', 2, 50, 37.5],
  ])
})

it('draws boxes that do not overlap, whatever the stacks', () => {
  const stack = fc.record({
    frames: fc.array(fc.nat(3), { maxLength: 6 }),
    gas: fc.integer({ min: -10, max: 1000 }),
  })
  fc.assert(
    fc.property(fc.array(stack, { maxLength: 40 }), (stacks) => {
      const boxes = flameBoxes(flameTree({ ...profile, stacks }), [])
      for (const a of boxes) {
        expect(a.left).toBeGreaterThanOrEqual(0)
        expect(a.left + a.width).toBeLessThanOrEqual(100.0001)
        for (const b of boxes) {
          if (a === b || a.row !== b.row) continue
          const isApart = a.left + a.width <= b.left + 1e-6 || b.left + b.width <= a.left + 1e-6
          expect(isApart).toBe(true)
        }
      }
    }),
  )
})
