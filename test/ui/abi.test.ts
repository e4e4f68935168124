/** The encoder of the explorer's forms, against ethers' codec. */
import { AbiCoder, Interface, type ParamType } from 'ethers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeCall } from '../../src/ui/abi.ts'
import type { AbiEntry } from '../../src/ui/model.ts'

const WHO = `0x${'Ab'.repeat(20)}`

/** An entry as the node answers it, and what ethers makes of the same signature. */
function functionOf(signature: string): { entry: AbiEntry; coder: Interface } {
  const coder = new Interface([signature])
  const [json] = JSON.parse(coder.formatJson()) as AbiEntry[]
  const selector = coder.getFunction(json?.name ?? '')?.selector as `0x${string}`
  return { entry: { ...(json as AbiEntry), selector }, coder }
}

describe('encodeCall', () => {
  it.each<[string, readonly string[], readonly unknown[]]>([
    ['none()', [], []],
    ['f(address,uint256)', [` ${WHO} `, '1 000_000'], [WHO.toLowerCase(), 1_000_000n]],
    ['f(uint8,int8)', ['0xff', '-128'], [255, -128]],
    ['f(uint256)', ['1.5e18'], [1_500_000_000_000_000_000n]],
    ['f(bool,bool)', ['true', '0'], [true, false]],
    ['f(string,bytes)', ['naïve "text" 0x12 \u{1f600}', '0x00ff'], ['naïve "text" 0x12 \u{1f600}', '0x00ff']],
    ['f(string)', [''], ['']],
    ['f(bytes4,bytes32)', ['0xdeadbeef', `0x${'12'.repeat(32)}`], ['0xdeadbeef', `0x${'12'.repeat(32)}`]],
    [
      'f(uint256[])',
      ['[1, 2, 115792089237316195423570985008687907853269984665640564039457584007913129639935]'],
      [[1, 2, 2n ** 256n - 1n]],
    ],
    ['f(uint256[])', ['[]'], [[]]],
    [
      'f(uint8[2][],string[2])',
      ['[[1,2],[3,4]]', '["a","b\\"c"]'],
      [
        [
          [1, 2],
          [3, 4],
        ],
        ['a', 'b"c'],
      ],
    ],
    ['f(address[])', [`[${WHO}, "${WHO}"]`], [[WHO.toLowerCase(), WHO.toLowerCase()]]],
    [
      'f((uint8 kind,(bytes4 id,string text)[] parts) order,int256[2] pair)',
      ['{"kind": 7, "parts": [[0x01020304, "x"]]}', '[-1, 5]'],
      [
        [7, [['0x01020304', 'x']]],
        [-1, 5],
      ],
    ],
    ['f((uint8,bool))', ['[1, true]'], [[1, true]]],
    ['f(bool[])', ['[true, false]'], [[true, false]]],
  ])('%s of %j', (signature, texts, values) => {
    const { entry, coder } = functionOf(`function ${signature}`)
    expect(encodeCall(entry, texts)).toBe(coder.encodeFunctionData(entry.name ?? '', values))
  })

  it('encodes a function as an address and a selector, to the left of its word', () => {
    const entry: AbiEntry = {
      type: 'function',
      inputs: [{ name: 'f', type: 'function[]' }],
      selector: '0x12345678',
    }
    const word = (value: number) => value.toString(16).padStart(64, '0')
    expect(encodeCall(entry, [`["0x${'ab'.repeat(24)}"]`])).toBe(
      `0x12345678${word(32)}${word(1)}${'ab'.repeat(24)}${'00'.repeat(8)}`,
    )
  })

  it('agrees with ethers on any list of static and dynamic values', () => {
    const types = ['uint256', 'int64', 'string', 'bytes', 'bool', 'uint16[]', 'string[2]'] as const
    const values: Record<(typeof types)[number], fc.Arbitrary<unknown>> = {
      uint256: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
      int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      string: fc.string({ unit: 'grapheme' }),
      bytes: fc.uint8Array({ maxLength: 70 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
      bool: fc.boolean(),
      'uint16[]': fc.array(fc.integer({ min: 0, max: 65_535 }), { maxLength: 4 }),
      'string[2]': fc.array(fc.string(), { minLength: 2, maxLength: 2 }),
    }
    const typed = fc.constantFrom(...types).chain((type) => values[type].map((value) => ({ type, value })))
    fc.assert(
      fc.property(fc.array(typed, { maxLength: 5 }), (list) => {
        const inputs = list.map(({ type }) => ({ name: '', type }))
        const texts = list.map(({ value }) => (Array.isArray(value) ? JSON.stringify(value) : String(value)))
        const expected = AbiCoder.defaultAbiCoder().encode(
          list.map(({ type }) => type as unknown as ParamType),
          list.map(({ value }) => value),
        )
        expect(encodeCall({ type: 'function', inputs }, texts)).toBe(expected)
      }),
      { numRuns: 200 },
    )
  })

  it.each([
    ['f(address to)', '0x12', 'to: expected 0x and 40 hex digits (address)'],
    ['f(uint8 x)', '256', 'x: expected a whole number of this type (uint8)'],
    ['f(uint256 x)', '-1', 'x: expected a whole number of this type (uint256)'],
    ['f(uint256 x)', '', 'x: expected a whole number of this type (uint256)'],
    ['f(uint256 x)', '1.5', 'x: expected a whole number of this type (uint256)'],
    ['f(int8 x)', '128', 'x: expected a whole number of this type (int8)'],
    ['f(bool)', 'yes', '#1: expected true or false (bool)'],
    ['f(bool)', 'constructor', '#1: expected true or false (bool)'],
    ['f(bytes4 id)', '0x123456', 'id: expected 0x and all its hex digits (bytes4)'],
    ['f(bytes data)', '0x123', 'data: expected 0x and two hex digits a byte (bytes)'],
    ['f(uint256[] xs)', '1, 2', 'xs: expected JSON, such as [1, 2]'],
    ['f(uint256[] xs)', '5', 'xs: expected a list, such as [1, 2] (uint256[])'],
    ['f(uint256[2] xs)', '[1]', 'xs: expected 2 values, got 1'],
    ['f(uint256[] xs)', '[1, null]', 'xs[1]: expected a whole number of this type (uint256)'],
    ['f((uint8 a, bool b) pair)', '[1]', 'pair: expected 2 values, such as [a, b]'],
    ['f((uint8 a, bool b) pair)', '{"a": 1}', 'pair.b: expected true or false (bool)'],
  ])('%s refuses %j', (signature, text, message) => {
    expect(() => encodeCall(functionOf(`function ${signature}`).entry, [text])).toThrow(new Error(message))
  })
})
