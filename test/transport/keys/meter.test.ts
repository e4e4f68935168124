/** What keys may use, counted in this process. */
import fc from 'fast-check'
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
  it('allows everything without limits', async () => {
    const meter = await meterAt(() => NOON)
    expect(await meter.charge(record('free', {}), 1_000_000)).toBeUndefined()
    await meter.close()
  })

  it('allows a smaller message within the rest of a quota, and resets the quota at midnight', async () => {
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

  it('refuses a message that exceeds a whole rate as too large, and charges nothing for it', async () => {
    const meter = await meterAt(() => NOON)
    const ci = record('ci', { rate: '3/h', burst: 5 })
    expect(await meter.charge(ci, 9)).toEqual({
      message: 'Rate limit of 3/h exceeded: it never allows 9 calls at once',
      retryAfterSeconds: 9600,
    })
    expect([await meter.charge(ci, 3), await meter.charge(ci, 5)]).toEqual([undefined, undefined])
    expect((await meter.charge(ci, 1))?.message).toBe('Rate limit of 3/h exceeded')
    await meter.close()
  })

  it('refills the calls of a rate evenly, up to a full bucket', async () => {
    let now = NOON
    const meter = await meterAt(() => now)
    const ci = record('ci', { rate: '60/min', burst: 5 })
    const passed = async (calls: number) => {
      let count = 0
      while (count < calls && (await meter.charge(ci, 1)) === undefined) count++
      return count
    }
    expect(await passed(100)).toBe(65)
    expect(await meter.charge(ci, 10)).toEqual({
      message: 'Rate limit of 60/min exceeded',
      retryAfterSeconds: 10,
    })
    now += 999
    expect(await passed(100)).toBe(0)
    now += 1
    expect(await passed(100)).toBe(1)
    now += 10_000
    expect(await passed(100)).toBe(10)
    now += 86_400_000
    expect(await passed(100)).toBe(65)
    // A clock that is set back gives nothing, and takes nothing for longer than the bucket takes to fill.
    now -= 3_600_000
    expect(await passed(100)).toBe(0)
    now += 65_000
    expect(await passed(100)).toBe(65)
    await meter.close()
  })

  it('allows in any period no more than a full bucket and its refill', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 2000 }), fc.integer({ min: 1, max: 20 })), {
          maxLength: 60,
        }),
        async (calls, burst, asked) => {
          let now = NOON
          const meter = await meterAt(() => now)
          const ci = record('ci', { rate: `${calls}/s`, ...(burst !== undefined && { burst }) })
          const size = calls + (burst ?? 0)
          let level = size
          for (const [pause, cost] of asked) {
            now += pause
            level = Math.min(size, level + (pause * calls) / 1000)
            const passed = (await meter.charge(ci, cost)) === undefined
            if (passed) level -= cost
            expect(level).toBeGreaterThan(-1e-6)
            if (!passed) expect(level).toBeLessThan(cost + 1e-6)
          }
          await meter.close()
        },
      ),
    )
  })

  it('starts a new count when the limits of a key change', async () => {
    const meter = await meterAt(() => NOON)
    expect(await meter.charge(record('ci', { rate: '1/h' }), 1)).toBeUndefined()
    expect(await meter.charge(record('ci', { rate: '1/h' }), 1)).toEqual({
      message: 'Rate limit of 1/h exceeded',
      retryAfterSeconds: 3600,
    })
    expect(await meter.charge(record('ci', { rate: '5/h' }), 5)).toBeUndefined()
    await meter.close()
  })
})
