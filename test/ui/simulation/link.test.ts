/** Simulations as links and files: back and forth, sizes, and what a broken one says. */
import { createHash } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fileText, readFileText } from '../../../src/ui/simulation/file.ts'
import { linkText, readLinkText } from '../../../src/ui/simulation/link.ts'
import { anyScenario } from './scenarios.ts'

const WHO = `0x${'ab'.repeat(20)}` as const
const packed = (text: string) => `1.${deflateRawSync(text).toString('base64url')}`

describe('a link', () => {
  it('holds the scenario, in the characters of a fragment', async () => {
    await fc.assert(
      fc.asyncProperty(anyScenario, async (scenario) => {
        const text = await linkText(scenario)
        expect(text).toMatch(/^1\.[\w-]+$/)
        expect(await readLinkText(text)).toEqual(scenario)
      }),
    )
  })

  it('is what zlib packs, so that other programs can read and write it', async () => {
    const scenario = { block: 'latest', steps: [{ call: { to: WHO } }] }
    expect(await readLinkText(packed(JSON.stringify(scenario)))).toEqual(scenario)
  })

  it('takes few characters for usual simulations', async () => {
    const data = `0xa9059cbb${WHO.slice(2).padStart(64, '0')}${'5'.padStart(64, '0')}` as const
    const send = { from: WHO, to: `0x${'12345678'.repeat(5)}`, data } as const
    expect((await linkText({ block: 'latest', steps: [{ send }] })).length).toBeLessThan(200)
  })

  it('is refused beyond its limit', async () => {
    const data = `0x${createHash('shake256', { outputLength: 50_000 }).digest('hex')}` as const
    await expect(linkText({ block: 'latest', steps: [{ call: { data } }] })).rejects.toThrow(
      new Error('The link would have more than 60000 characters: save a file instead'),
    )
  })

  it.each<[string, string | (() => string)]>([
    ['it is of another version', '2.AAAA'],
    ['it has characters that a link cannot have, or it was cut off', '1.'],
    ['it has characters that a link cannot have, or it was cut off', '1.a b'],
    ['its end is missing', '1.AAAAA'],
    ['it was cut or changed', () => packed(JSON.stringify({ block: 'latest', steps: [] })).slice(0, -6)],
    ['it was cut or changed', '1.____'],
    ['it has more than 60000 characters', () => `1.${'A'.repeat(60_000)}`],
    ['it unpacks to more than 2000000 bytes', () => packed(' '.repeat(2_000_001))],
    ['it is not JSON', () => packed('{')],
    ['the value: expected an object, got []', () => packed('[]')],
    [
      'steps[1].send.to: expected an address (0x and 40 hex digits), got "0x12"',
      () =>
        packed(JSON.stringify({ block: 'latest', steps: [{ call: { to: WHO } }, { send: { to: '0x12' } }] })),
    ],
  ])('%s', async (text, link) => {
    await expect(readLinkText(typeof link === 'string' ? link : link())).rejects.toThrow(new Error(text))
  })

  it('any change gives a scenario or an error in words', async () => {
    const text = packed(JSON.stringify({ block: 'latest', steps: [{ call: { to: WHO } }] }))
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length - 1), fc.string({ maxLength: 3 }), async (place, change) => {
        const changed = text.slice(0, place) + change + text.slice(place + 1)
        await readLinkText(changed).catch((error: unknown) => {
          expect(error).toBeInstanceOf(Error)
          expect((error as Error).constructor).toBe(Error)
        })
      }),
    )
  })
})

describe('a file', () => {
  it('holds the scenario', () => {
    fc.assert(
      fc.property(anyScenario, (scenario) => {
        expect(readFileText(fileText(scenario))).toEqual(scenario)
      }),
    )
  })

  const valid = { format: 'tandem-simulation', version: 1, block: 'latest', steps: [] }
  const steps = (...list: unknown[]) => ({ ...valid, steps: list })
  const word = `0x${'0'.repeat(64)}`
  it.each<[string, unknown]>([
    ['it holds no JSON object', []],
    ['format: expected "tandem-simulation"', { abi: [] }],
    ['version: expected 1, the only one that this page reads', { ...valid, version: 2 }],
    [
      'block: expected a block: latest, pending, earliest, safe, finalized, a height in hex, or a hash, got 5',
      { ...valid, block: 5 },
    ],
    ['steps: expected a list of at most 100, got nothing', { ...valid, steps: undefined }],
    ['steps: expected a list of at most 100, got {"length":1}', { ...valid, steps: { length: 1 } }],
    ['steps[0]: expected exactly one of call, send, set and warp', steps({ off: true })],
    ['steps[0]: expected exactly one of call, send, set and warp', steps({ call: {}, send: {} })],
    ['steps[0].off: expected true, got false', steps({ call: {}, off: false })],
    ['steps[0].call: expected an object, got null', steps({ call: null })],
    ['steps[0].call.input: there is no such member', steps({ call: { input: '0x' } })],
    [
      'steps[0].call.__proto__: there is no such member',
      JSON.parse(JSON.stringify(steps({ call: 0 })).replace('"call":0', '"call":{"__proto__":1}')),
    ],
    [
      'steps[0].call.value: expected a quantity (0x and hex digits without leading zeros), got "0x01"',
      steps({ call: { value: '0x01' } }),
    ],
    [
      'steps[0].set.0x12: expected an address (0x and 40 hex digits), got "0x12"',
      steps({ set: { '0x12': {} } }),
    ],
    [
      `steps[0].set.${WHO}: state and stateDiff exclude each other`,
      steps({ set: { [WHO]: { state: {}, stateDiff: {} } } }),
    ],
    [
      `steps[0].set.${WHO}.stateDiff.${word}: expected a word (0x and 64 hex digits), got "0x1"`,
      steps({ set: { [WHO]: { stateDiff: { [word]: '0x1' } } } }),
    ],
    [
      `steps[0].set.${WHO}.variables.a: expected a text, a whole number, true, false, or a list or object of them, got null`,
      steps({ set: { [WHO]: { variables: { a: null } } } }),
    ],
    [
      'steps[0].warp.seconds: expected a whole number up to 1099511627776, got -1',
      steps({ warp: { seconds: -1 } }),
    ],
    [
      'blockOverrides.time: expected a quantity (0x and hex digits without leading zeros), got "a text that is longer than the error sh…',
      { ...valid, blockOverrides: { time: 'a text that is longer than the error shows of it' } },
    ],
    ['transactionIndex: expected a whole number up to 1000000, got 1.5', { ...valid, transactionIndex: 1.5 }],
  ])('%s', (text, value) => {
    expect(() => readFileText(JSON.stringify(value))).toThrow(new Error(text))
  })

  it('refuses what is not JSON, and what is too large', () => {
    expect(() => readFileText('{')).toThrow(new Error('it is not JSON'))
    expect(() => readFileText(' '.repeat(2_000_001))).toThrow(new Error('it is larger than 2000000 bytes'))
  })
})
