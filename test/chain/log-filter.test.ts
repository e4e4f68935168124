import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logsBloom } from '../../src/chain/bloom.ts'
import { bloomMightMatch, encodedLogs, matchesLog, prepare } from '../../src/chain/log-filter.ts'
import { encodeReceipts, type Log } from '../../src/chain/receipt.ts'
import { concat } from '../../src/encoding/bytes.ts'
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

const small = fc.integer({ min: 0, max: 4 })
const someLog = fc.tuple(small, fc.array(small, { maxLength: 4 })).map(([from, topics]) => log(from, topics))
const filter = fc.tuple(
  fc.array(small.map(address), { maxLength: 2 }),
  fc.array(fc.option(fc.array(small.map(topic), { maxLength: 2 })), { maxLength: 4 }),
)

describe('encodedLogs', () => {
  const encoded = (logs: readonly Log[]) =>
    concat(
      ...encodeReceipts([
        {
          succeeded: true,
          type: 0,
          cumulativeGasUsed: 1n,
          gasUsed: 1n,
          logsBloom: logsBloom(logs),
          logs,
        },
      ]),
    )

  it('never excludes receipts with a match', () => {
    fc.assert(
      fc.property(fc.array(someLog, { minLength: 1, maxLength: 4 }), filter, (logs, [addresses, topics]) => {
        if (logs.some((one) => matchesLog(one, addresses, topics))) {
          expect(encodedLogs(addresses, topics)(encoded(logs))).toBe(true)
        }
      }),
    )
  })

  it.each<[string, readonly Hex[], readonly (readonly Hex[] | null)[], boolean]>([
    ['nothing', [], [], true],
    ['an address of the logs', [address(1)], [], true],
    ['another address', [address(3)], [], false],
    ['one of two addresses', [address(3), address(2)], [], true],
    ['a topic of the logs', [], [null, [topic(11)]], true],
    ['an address of the logs and another topic', [address(1)], [[topic(12)]], false],
    ['several items, which are not looked for', [], [[topic(20), topic(21)]], true],
    ['the last of several clauses', [address(3)], [[topic(10)], [topic(11), topic(20)]], true],
  ])('looks for %s', (_, addresses, topics, expected) => {
    expect(encodedLogs(addresses, topics)(encoded([log(1, [10, 11]), log(2, [])]))).toBe(expected)
  })
})

describe('bloomMightMatch', () => {
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
