/** The counts of tests in what runners print; the lines are those of the runners named. */
import { describe, expect, it } from 'vitest'

const { countsIn } = (await import(
  new URL('../../../scripts/bench/test-counts.mjs', import.meta.url).href
)) as { countsIn(text: string): { passed: number; failed: number } }

describe('the counts', () => {
  it.each([
    ['mocha', '  5352 passing (1m)\n  6 pending\n  8 failing\n', 5352, 8],
    ['mocha, none failed', '  12 passing (1s)\n', 12, 0],
    ['vitest', ' Test Files  1 failed | 2 passed (3)\n      Tests  4 failed | 10 passed (14)\n', 10, 4],
    ['vitest, none failed', ' Test Files  2 passed (2)\n      Tests  10 passed (10)\n', 10, 0],
    ['node:test, TAP', '# tests 7\n# pass 5\n# fail 2\n', 5, 2],
    ['node:test', 'ℹ tests 7\nℹ pass 6\nℹ fail 1\n', 6, 1],
    ['forge', 'Ran 2 test suites in 1.2s: 9 tests passed, 1 failed, 0 skipped (10 total tests)\n', 9, 1],
  ])('of %s', (_, text, passed, failed) => {
    expect(countsIn(text)).toEqual({ passed, failed })
  })

  it('are missing where the runner ended before', () => {
    expect(() => countsIn('Error HH8: invalid config')).toThrow(/no counts:\nError HH8/)
  })
})
