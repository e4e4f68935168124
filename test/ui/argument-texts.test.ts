/** Encoded inputs as texts of a form, against ethers' codec: the texts encode to the same input. */
import { AbiCoder, Interface, type ParamType } from 'ethers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeCall } from '../../src/ui/abi.ts'
import { argumentTexts } from '../../src/ui/argument-texts.ts'
import type { AbiEntry } from '../../src/ui/model.ts'

const WHO = `0x${'Ab'.repeat(20)}`

function functionOf(signature: string): { entry: AbiEntry; coder: Interface } {
  const coder = new Interface([`function ${signature}`])
  const [json] = JSON.parse(coder.formatJson()) as AbiEntry[]
  const selector = coder.getFunction(json?.name ?? '')?.selector as `0x${string}`
  return { entry: { ...(json as AbiEntry), selector }, coder }
}

function encoded(signature: string, values: readonly unknown[]) {
  const { entry, coder } = functionOf(signature)
  return { entry, data: coder.encodeFunctionData(entry.name ?? '', values) as `0x${string}` }
}

const VALUES: Record<string, fc.Arbitrary<unknown>> = {
  address: fc
    .uint8Array({ minLength: 20, maxLength: 20 })
    .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
  uint256: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  int8: fc.integer({ min: -128, max: 127 }),
  string: fc.string({ unit: 'grapheme' }),
  bytes: fc.uint8Array({ maxLength: 70 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
  bool: fc.boolean(),
  'string[]': fc.array(fc.oneof(fc.string(), fc.constantFrom('0xAB', '5', '"')), { maxLength: 3 }),
  '(uint64 a,(string b,bytes4[] c)[] d)': fc.tuple(
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    fc.array(fc.tuple(fc.string(), fc.array(fc.constant('0x01020304'), { maxLength: 2 })), { maxLength: 2 }),
  ),
}

describe('argumentTexts', () => {
  it('reads what a user would type', () => {
    const { entry, data } = encoded(
      'f(address,uint256,bool,string,bytes3,int256[],(uint8 kind,string name))',
      [WHO.toLowerCase(), 10n ** 30n, true, 'A "b" 0xAB', '0xabcdef', [-1, 2n ** 200n], [7, 'it']],
    )
    const expected = [
      WHO.toLowerCase(),
      `1${'0'.repeat(30)}`,
      'true',
      'A "b" 0xAB',
      '0xabcdef',
      `[-1, ${2n ** 200n}]`,
      '[7, "it"]',
    ]
    expect(argumentTexts(entry, data)).toEqual(expected)
    expect(argumentTexts(entry, data.toUpperCase().replace('X', 'x') as `0x${string}`)).toEqual(expected)
  })

  it('texts encode to the input again', () => {
    const typed = fc
      .constantFrom(...Object.keys(VALUES))
      .chain((type) => (VALUES[type] as fc.Arbitrary<unknown>).map((value) => ({ type, value })))
    fc.assert(
      fc.property(fc.array(typed, { maxLength: 4 }), (list) => {
        const { entry, data } = encoded(
          `f(${list.map(({ type }) => (type.startsWith('(') ? `tuple${type}` : type)).join(',')})`,
          list.map(({ value }) => value),
        )
        const texts = argumentTexts(entry, data)
        expect(texts).toBeDefined()
        expect(encodeCall(entry, texts ?? [])).toBe(data)
      }),
    )
  })

  it.each<[string, string]>([
    ['another function', '0x12345678'],
    ['no arguments', '0x'],
    ['a part of the arguments', encoded('f(address,uint256)', [WHO.toLowerCase(), 5]).data.slice(0, -2)],
    ['more than the arguments', `${encoded('f(address,uint256)', [WHO.toLowerCase(), 5]).data}00`],
    [
      'an address with other bits',
      encoded('f(address,uint256)', [WHO.toLowerCase(), 5]).data.replace('000000', '000001'),
    ],
  ])('reads no texts from %s', (_, data) => {
    expect(argumentTexts(functionOf('f(address,uint256)').entry, data as `0x${string}`)).toBeUndefined()
  })

  it('agrees with a codec that has no names', () => {
    const entry: AbiEntry = {
      type: 'function',
      inputs: [{ name: 'x', type: 'uint8' }],
      selector: '0x12345678',
    }
    const word = AbiCoder.defaultAbiCoder().encode(['uint8' as unknown as ParamType], [9])
    expect(argumentTexts(entry, `0x12345678${word.slice(2)}`)).toEqual(['9'])
  })
})
