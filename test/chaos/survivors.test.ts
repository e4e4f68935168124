/** An app with retries ends a bad day with the receipts and rows of a calm run, whatever the seed: `npm run test:chaos` runs 1,000. */
import { describe, expect, it } from 'vitest'
import { CLIENTS, type Outcome, survive } from './survivor.ts'

/** Seeds for each client. */
const SEEDS = Number(process.env.CHAOS_SEEDS ?? 3)
const FIRST = Number(process.env.CHAOS_FIRST ?? 1)

describe.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])('the fallback of %s', (kind) => {
  it(`survives ${SEEDS} seeds`, async () => {
    const calm = await survive(kind)
    expect(calm.receipts.map(({ status }) => status)).toEqual([true, true, true, true, true])
    expect(calm.rows.map(({ data }) => data)).toEqual(['0x01', '0x02', '0x03', '0x04'])
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
      const outcome: Outcome = await survive(kind, String(seed)).catch((cause) => {
        throw new Error(`seed ${seed}`, { cause })
      })
      expect(outcome, `seed ${seed}`).toEqual(calm)
    }
  })
})
