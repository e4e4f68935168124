/** The depth and the parts of JSON text, known without parsing it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isTooComplex as isMoreComplexThan } from '../../src/encoding/json-complexity.ts'

const MAX_DEPTH = 1000
const isTooComplex = (text: string) => isMoreComplexThan(text, MAX_DEPTH)

describe('isTooComplex', () => {
  it('accepts the limit and refuses one level more', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(isTooComplex(nested(MAX_DEPTH))).toBe(false)
    expect(isTooComplex(nested(MAX_DEPTH + 1))).toBe(true)
    expect(isTooComplex('{"a":'.repeat(MAX_DEPTH + 1))).toBe(true)
  })

  it('does not count closed brackets or brackets in strings', () => {
    expect(isTooComplex('[]'.repeat(5000))).toBe(false)
    expect(isTooComplex(JSON.stringify('['.repeat(5000)))).toBe(false)
    expect(isTooComplex(`"\\"${'['.repeat(5000)}"`)).toBe(false)
    expect(isTooComplex(`"\\\\"${'['.repeat(5000)}`)).toBe(true)
  })

  it('refuses more lists and objects than data of that size has', () => {
    const listOf = (item: string, count: number) => `[${new Array(count).fill(item).join(',')}]`
    expect(isTooComplex(listOf('{}', 199_999))).toBe(false)
    expect(isTooComplex(listOf('{}', 200_000))).toBe(true)
    expect(isTooComplex(listOf('{"name":"amount"}', 400_000))).toBe(false)
  })

  it('skips any string', () => {
    const wrap = (inner: string, depth: number) => '['.repeat(depth) + inner + ']'.repeat(depth)
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', 'a') }),
        fc.nat(20),
        (text, less) => {
          const inner = JSON.stringify(text)
          expect(isTooComplex(wrap(inner, MAX_DEPTH - less))).toBe(false)
          expect(isTooComplex(wrap(inner, MAX_DEPTH + 1 + less))).toBe(true)
        },
      ),
    )
  })
})
