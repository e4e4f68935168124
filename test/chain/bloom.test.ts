import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logsBloom, mergeBlooms, ZERO_BLOOM } from '../../src/chain/bloom.ts'
import { CHAINS, PRECOMPILE_ADDRESS } from '../../src/chain/config.ts'
import { decodeHeader } from '../../src/chain/header.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { logs } from '../support/arbitraries.ts'
import { bloomMightContain } from '../support/bloom.ts'
import { fixture } from '../support/fixture.ts'

const someLogs = fc.array(logs, { maxLength: 4 })

describe('blooms', () => {
  it('set the bits that Ethereum sets', () => {
    // The example that Ethereum's own client libraries test with.
    const address = '0x0f572e5295c57f15886f9b263e2f6d2d6c7b5ec6'
    const bloom = logsBloom([{ address, topics: [], data: new Uint8Array(0) }])
    const set = [...bloom].flatMap((byte, at) =>
      [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => (byte >> bit) & 1).map((bit) => (255 - at) * 8 + bit),
    )
    expect(set.sort((a, b) => a - b)).toEqual([431, 1319, 1323])
  })

  it('of real headers contain the address and topic of the contract that pays out fees', () => {
    const topic = new Uint8Array(32)
    topic.set(new TextEncoder().encode('mining_fee_topic'), 16)
    for (const name of ['testnet-436', 'testnet-64746']) {
      const header = decodeHeader(
        fromHex(fixture<{ full: Hex }>(`headers/${name}.json`).full),
        CHAINS.testnet,
      )
      expect(bloomMightContain(header.logsBloom, fromHex(PRECOMPILE_ADDRESS.remasc))).toBe(true)
      expect(bloomMightContain(header.logsBloom, topic)).toBe(true)
      expect(bloomMightContain(header.logsBloom, fromHex(PRECOMPILE_ADDRESS.bridge))).toBe(false)
    }
  })

  it('match every address and topic of their logs', () => {
    fc.assert(
      fc.property(someLogs, (list) => {
        const bloom = logsBloom(list)
        for (const { address, topics } of list) {
          for (const item of [address, ...topics]) expect(bloomMightContain(bloom, fromHex(item))).toBe(true)
        }
      }),
      { numRuns: 50 },
    )
  })

  it('merge to the bloom of all logs, and stay unchanged', () => {
    fc.assert(
      fc.property(someLogs, someLogs, someLogs, (a, b, c) => {
        const parts = [logsBloom(a), logsBloom(b), logsBloom(c)]
        const before = parts.map(toHex)
        expect(toHex(mergeBlooms(parts))).toBe(toHex(logsBloom([...a, ...b, ...c])))
        expect(parts.map(toHex)).toEqual(before)
      }),
      { numRuns: 50 },
    )
  })

  it('of no logs are one shared empty bloom', () => {
    expect(logsBloom([])).toBe(ZERO_BLOOM)
    expect(mergeBlooms([])).toBe(ZERO_BLOOM)
    expect(mergeBlooms([ZERO_BLOOM, ZERO_BLOOM])).toBe(ZERO_BLOOM)
    expect(bloomMightContain(ZERO_BLOOM, Uint8Array.of(1))).toBe(false)
    expect(ZERO_BLOOM.every((byte) => byte === 0)).toBe(true)
  })
})
