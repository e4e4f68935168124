import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logsBloom } from '../../src/chain/bloom.ts'
import { bloomMightMatch, matchesLog, prepare } from '../../src/chain/log-filter.ts'
import type { Log } from '../../src/chain/receipt.ts'
import { fromHex, type Hex, toFixedHex } from '../../src/encoding/hex.ts'
import { bloomMightContain } from '../support/bloom.ts'

const address = (n: number): Hex => toFixedHex(BigInt(n), 20)
const topic = (n: number): Hex => toFixedHex(BigInt(n), 32)
const log = (from: number, topics: readonly number[]): Log => ({
  address: address(from),
  topics: topics.map(topic),
  data: new Uint8Array(0),
})

describe('matchesLog', () => {
  const transfer = log(1, [10, 11, 12])

  it.each<[string, readonly Hex[], readonly (readonly Hex[] | null)[], boolean]>([
    ['no condition', [], [], true],
    ['its address', [address(1)], [], true],
    ['one of several addresses', [address(2), address(1)], [], true],
    ['another address', [address(2)], [], false],
    ['the first topic', [], [[topic(10)]], true],
    ['one of several topics', [], [[topic(9), topic(10)]], true],
    ['a topic in the wrong place', [], [[topic(11)]], false],
    ['a later topic after a wildcard', [], [null, [topic(11)]], true],
    ['an empty choice, which is any', [], [[], [topic(11)]], true],
    ['wildcards beyond its topics', [], [[topic(10)], null, null, null], true],
    ['an empty choice beyond its topics', [], [null, null, null, []], true],
    ['a topic beyond its topics', [], [null, null, null, [topic(13)]], false],
    ['address and topic', [address(1)], [[topic(10)]], true],
    ['the topic but not the address', [address(2)], [[topic(10)]], false],
  ])('%s', (_, addresses, topics, expected) => {
    expect(matchesLog(transfer, addresses, topics)).toBe(expected)
  })
})

describe('bloomMightMatch', () => {
  const small = fc.integer({ min: 0, max: 4 })
  const someLog = fc
    .tuple(small, fc.array(small, { maxLength: 4 }))
    .map(([from, topics]) => log(from, topics))
  const filter = fc.tuple(
    fc.array(small.map(address), { maxLength: 2 }),
    fc.array(fc.option(fc.array(small.map(topic), { maxLength: 2 })), { maxLength: 4 }),
  )

  it('never excludes a block with a match', () => {
    fc.assert(
      fc.property(fc.array(someLog, { minLength: 1, maxLength: 4 }), filter, (logs, [addresses, topics]) => {
        if (logs.some((one) => matchesLog(one, addresses, topics))) {
          expect(bloomMightMatch(logsBloom(logs), addresses, topics)).toBe(true)
        }
      }),
    )
  })

  it('gives the same answers after preparation', () => {
    fc.assert(
      fc.property(fc.array(someLog, { maxLength: 2 }), filter, (logs, [addresses, topics]) => {
        const expected = bloomMightMatch(
          logsBloom(logs),
          [...addresses],
          topics.map((wanted) => wanted && [...wanted]),
        )
        prepare(addresses, topics)
        expect(bloomMightMatch(logsBloom(logs), addresses, topics)).toBe(expected)
      }),
    )
  })

  it('tests the bloom for each address and topic at each call', () => {
    fc.assert(
      fc.property(fc.array(someLog, { maxLength: 4 }), filter, (logs, [addresses, topics]) => {
        const bloom = logsBloom(logs)
        const any = (items: readonly Hex[]) =>
          items.length === 0 || items.some((item) => bloomMightContain(bloom, fromHex(item)))
        const expected = any(addresses) && topics.every((items) => items === null || any(items))
        expect(bloomMightMatch(bloom, addresses, topics)).toBe(expected)
        expect(bloomMightMatch(bloom, addresses, topics)).toBe(expected)
        expect(bloomMightMatch(new Uint8Array(256).fill(255), addresses, topics)).toBe(true)
      }),
    )
  })

  it('excludes an empty block for any filter', () => {
    const none = new Uint8Array(256)
    expect(bloomMightMatch(none, [], [])).toBe(true)
    expect(bloomMightMatch(none, [], [null, []])).toBe(true)
    expect(bloomMightMatch(none, [address(1)], [])).toBe(false)
    expect(bloomMightMatch(none, [], [null, [topic(1)]])).toBe(false)
  })
})
