/** Compares what a line of a documented block gives with what its comment states; `…` in a text stands for any text. */
import assert from 'node:assert/strict'

const literal = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

function same(actual, expected) {
  if (typeof expected === 'string' && expected.includes('…')) {
    const pattern = new RegExp(`^${expected.split('…').map(literal).join('.*')}$`, 's')
    return typeof actual === 'string' && pattern.test(actual)
  }
  if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null) {
    return Object.is(actual, expected)
  }
  const keys = Object.keys(expected)
  return keys.length === Object.keys(actual).length && keys.every((key) => same(actual[key], expected[key]))
}

export function check(actual, expected, line) {
  if (same(actual, expected)) return
  assert.deepStrictEqual(actual, expected, `line ${line} of the block states another result`)
}
