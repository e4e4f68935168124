/** What keys may use, counted in this process. */
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/logger.ts'
import type { KeyRecord } from '../../../src/transport/keys/key-record.ts'
import { createMeter } from '../../../src/transport/keys/meter.ts'

const NOON = Date.parse('2026-01-02T12:00:00.000Z')
const record = (name: string, limits: Partial<KeyRecord>): KeyRecord => ({
  name,
  hash: '0'.repeat(64),
  created: '2026-01-01T00:00:00.000Z',
  allow: [],
  stateOverride: false,
  ...limits,
})

function meterAt(now: () => number) {
  return createMeter({ redis: undefined, logger: silentLogger, now })
}

describe('a meter', () => {
  it('lets everything through where there are no limits', async () => {
    const meter = await meterAt(() => NOON)
    expect(await meter.charge(record('free', {}), 1_000_000)).toBeUndefined()
    await meter.close()
  })

  it('keeps the rest of a quota for what it is enough for, and gives a new one at midnight', async () => {
    let now = NOON
    const meter = await meterAt(() => now)
    const ci = record('ci', { quota: '3/day' })
    const spent = { message: 'Quota of 3/day exceeded', retryAfterSeconds: 12 * 3600 }
    expect(await meter.charge(ci, 1)).toBeUndefined()
    expect(await meter.charge(ci, 3)).toEqual(spent)
    expect(await meter.charge(ci, 2)).toBeUndefined()
    expect(await meter.charge(ci, 1)).toEqual(spent)
    expect(await meter.charge(record('other', { quota: '3/day' }), 3)).toBeUndefined()
    now += 12 * 3_600_000
    expect(await meter.charge(ci, 3)).toBeUndefined()
    expect(await meter.charge(ci, 1)).toEqual({ ...spent, retryAfterSeconds: 24 * 3600 })
    await meter.close()
  })

  it('does not take from the quota what the rate refuses', async () => {
    const meter = await meterAt(() => NOON)
    const ci = record('ci', { rate: '2/h', quota: '3/day' })
    const answers = [await meter.charge(ci, 2), await meter.charge(ci, 2), await meter.charge(ci, 1)]
    expect(answers.map((answer) => answer?.message)).toEqual([
      undefined,
      'Rate limit of 2/h exceeded',
      'Rate limit of 2/h exceeded',
    ])
    const wider = record('ci', { rate: '3/h', quota: '3/day' })
    expect(await meter.charge(wider, 1)).toBeUndefined()
    await meter.close()
  })

  it('says of a message that a rate never lets through that it is too large, and takes nothing for it', async () => {
    const meter = await meterAt(() => NOON)
    const ci = record('ci', { rate: '3/h', burst: 5 })
    expect(await meter.charge(ci, 6)).toEqual({
      message: 'Rate limit of 3/h exceeded: it never allows 6 calls at once',
      retryAfterSeconds: 3600,
    })
    expect([await meter.charge(ci, 3), await meter.charge(ci, 5)]).toEqual([undefined, undefined])
    expect((await meter.charge(ci, 1))?.message).toBe('Rate limit of 3/h exceeded')
    await meter.close()
  })

  it('counts anew when the terms of a key change', async () => {
    const meter = await meterAt(() => NOON)
    expect(await meter.charge(record('ci', { rate: '1/h' }), 1)).toBeUndefined()
    expect(await meter.charge(record('ci', { rate: '1/h' }), 1)).toBeDefined()
    expect(await meter.charge(record('ci', { rate: '5/h' }), 5)).toBeUndefined()
    await meter.close()
  })
})
