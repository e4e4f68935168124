/**
 * The exchanges that the specification of Ethereum's JSON-RPC has for eth_simulateV1, recorded from geth
 * (fixtures/execution-apis): the answers are equal except for what docs/differences.md lists. A difference that is not
 * listed fails, and so does a row whose count is not that of the differences found.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import {
  differencesOf,
  isListed,
  type Json,
  listedDifferences,
  openRecordedChain,
  readExchanges,
  withOurHashes,
} from '../../../support/execution-apis.ts'

const exchanges = readExchanges()
const rows = listedDifferences()

/** By name of the exchange. */
const found = new Map<string, readonly string[]>()
beforeAll(async () => {
  const chain = await openRecordedChain()
  for (const { name, params, answer } of exchanges) {
    const ours = (await chain.call('eth_simulateV1', params)) as Json
    found.set(name, differencesOf(withOurHashes(answer, ours, chain.hashes), ours))
  }
  await chain.close()
}, 60_000)

/** The row that lists a difference; -1 where none does. */
const rowOf = (name: string, difference: string) => rows.findIndex((row) => isListed(row, name, difference))

describe('the recorded exchanges', () => {
  it('are all there', () => {
    expect(exchanges).toHaveLength(91)
    expect(rows.length).toBeGreaterThan(0)
  })

  it.each(exchanges)('$name', ({ name }) => {
    expect(found.get(name)?.filter((difference) => rowOf(name, difference) === -1)).toEqual([])
  })

  it('differ as often as the rows of the list state', () => {
    const counts = rows.map(() => 0)
    for (const [name, differences] of found) {
      for (const difference of differences) {
        const row = rowOf(name, difference)
        if (row !== -1) counts[row] = (counts[row] ?? 0) + 1
      }
    }
    expect(counts).toEqual(rows.map(({ count }) => count))
  })
})
