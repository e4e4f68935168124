import { describe, expect, it } from 'vitest'
import type { AbiParameter } from '../../src/abi/entry.ts'
import { quoted, valuesText, valueText } from '../../src/abi/value-text.ts'

const parameter = (type: string, name = ''): AbiParameter => ({ name, type, components: [], indexed: false })

describe('the text of a value', () => {
  it('has no terminal control characters', () => {
    expect(quoted('a\x1b[2J\n\x9b\u202e"')).toBe('"a\\u001b[2J\\n\\u009b\\u202e\\""')
  })

  it('is cut when it is long', () => {
    expect(quoted('x'.repeat(1000)).length).toBeLessThan(220)
    expect(valueText(parameter('bytes'), new Uint8Array(1000))).toMatch(/^0x0+… \(1000 bytes\)$/)
    const many = Array.from({ length: 100 }, (_, i) => BigInt(i))
    expect(valueText(parameter('uint256[]'), many)).toMatch(/^\[0, 1, .*, 15, … \(100 entries\)\]$/)
  })

  it('has the names of parameters that have one', () => {
    expect(valuesText([parameter('bool', 'on'), parameter('uint8')], [true, 3n])).toBe('on: true, 3')
  })
})
