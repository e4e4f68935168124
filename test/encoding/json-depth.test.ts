/** The depth of JSON text, known without parsing it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isTooDeep as isDeeperThan } from '../../src/encoding/json-depth.ts'

const MAX_DEPTH = 1000
const isTooDeep = (text: string) => isDeeperThan(text, MAX_DEPTH)

describe('isTooDeep', () => {
  it('accepts the limit and refuses one level more', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(isTooDeep(nested(MAX_DEPTH))).toBe(false)
    expect(isTooDeep(nested(MAX_DEPTH + 1))).toBe(true)
    expect(isTooDeep('{"a":'.repeat(MAX_DEPTH + 1))).toBe(true)
  })

  it('does not count closed brackets or brackets in strings', () => {
    expect(isTooDeep('[]'.repeat(5000))).toBe(false)
    expect(isTooDeep(JSON.stringify('['.repeat(5000)))).toBe(false)
    expect(isTooDeep(`"\\"${'['.repeat(5000)}"`)).toBe(false)
    expect(isTooDeep(`"\\\\"${'['.repeat(5000)}`)).toBe(true)
  })

  it('skips any string', () => {
    const wrap = (inner: string, depth: number) => '['.repeat(depth) + inner + ']'.repeat(depth)
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', 'a') }),
        fc.nat(20),
        (text, less) => {
          const inner = JSON.stringify(text)
          expect(isTooDeep(wrap(inner, MAX_DEPTH - less))).toBe(false)
          expect(isTooDeep(wrap(inner, MAX_DEPTH + 1 + less))).toBe(true)
        },
      ),
    )
  })
})
