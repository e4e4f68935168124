/** Limits that several nodes count in one Redis, and what becomes of them when it fails. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Logger } from '../../../src/logger.ts'
import { silentLogger } from '../../../src/logger.ts'
import type { KeyRecord } from '../../../src/transport/keys/key-record.ts'
import { createMeter, type Meter } from '../../../src/transport/keys/meter.ts'
import { keyFile } from '../../support/api-keys.ts'
import { type RedisServer, redisServer } from '../../support/redis-server.ts'
import { servedNode } from '../../support/served-node.ts'
import { describeWith, REDIS_SERVER } from '../../support/tools.ts'

const NOON = Date.parse('2026-01-02T12:00:00.000Z')

const record = (name: string, limits: Partial<KeyRecord>): KeyRecord => ({
  name,
  hash: '0'.repeat(64),
  created: '2026-01-01T00:00:00.000Z',
  allow: [],
  stateOverride: false,
  ...limits,
})

describe('a Redis that does not answer', () => {
  it('stops the start with an error that omits its password', async () => {
    const redis = 'redis://user:hunter2@127.0.0.1:1'
    const made = createMeter({ redis, logger: silentLogger, now: () => NOON })
    await expect(made).rejects.toMatchObject({
      kind: 'invalid-options',
      message: 'Cannot count limits in the Redis at 127.0.0.1:1: ECONNREFUSED.',
    })
  })
})

describeWith(REDIS_SERVER, 'limits in Redis', () => {
  let redis: RedisServer
  let meters: Meter[]
  /** Log lines of the meters, and the listener for the next ones. */
  let logged: string[]
  let onLine: (message: string) => void
  const say = (message: string) => {
    logged.push(message)
    onLine(message)
  }
  const logger: Logger = { debug: say, info: say, warn: say, error: say }

  beforeEach(async () => {
    redis = await redisServer()
    logged = []
    onLine = () => {}
    meters = await Promise.all([1, 2].map(() => createMeter({ redis: redis.url, logger, now: () => NOON })))
  })
  afterEach(async () => {
    await Promise.all(meters.map((meter) => meter.close()))
    await redis.kill()
  })

  /** Charges the two meters alternately; returns how many were let through. */
  async function through(terms: KeyRecord, count: number): Promise<number> {
    let passed = 0
    for (let i = 0; i < count; i++) {
      if ((await meters[i % 2]?.charge(terms, 1)) === undefined) passed++
    }
    return passed
  }

  it('are shared by all nodes', async () => {
    expect(await through(record('a', { rate: '5/h' }), 8)).toBe(5)
    expect(await through(record('b', { rate: '5/h', burst: 2 }), 9)).toBe(7)
    const quota = record('c', { quota: '5/day' })
    expect(await meters[0]?.charge(quota, 6)).toEqual({
      message: 'Quota of 5/day exceeded',
      retryAfterSeconds: 12 * 3600,
    })
    expect(await through(quota, 8)).toBe(5)
    expect(logged).toEqual([])
  })

  it('are a token bucket in Redis too, which refills evenly', async () => {
    const terms = record('drip', { rate: '100/s', burst: 20 })
    const one = () => meters[0]?.charge(terms, 1)
    expect(await meters[1]?.charge(terms, 121)).toMatchObject({
      message: 'Rate limit of 100/s exceeded: it never allows 121 calls at once',
    })
    const began = performance.now()
    expect(await meters[0]?.charge(terms, 120)).toBeUndefined()
    // What is refused takes nothing, so calls come back one by one, and no faster than they may.
    for (let passed = 0; passed < 30; ) if ((await one()) === undefined) passed++
    expect(performance.now() - began).toBeGreaterThan(290)
    const hour = record('hour', { rate: '60/h' })
    await meters[0]?.charge(hour, 60)
    expect(await meters[1]?.charge(hour, 10)).toEqual({
      message: 'Rate limit of 60/h exceeded',
      retryAfterSeconds: 600,
    })
  })

  it.each(['kill', 'hold'] as const)(
    'are counted by each node alone after a %s, and together again',
    async (how) => {
      const terms = record('ci', { rate: '4/h' })
      expect(await through(terms, 4)).toBe(4)
      await redis[how]()
      // Each begins its own count: nobody is shut out, and nobody gets more than that.
      expect(await through(terms, 12)).toBe(8)
      expect(logged).toEqual(
        Array(2).fill('Redis does not answer; this node counts the limits of keys alone until it does'),
      )
      const back = new Promise<void>((resolve) => {
        onLine = (message) => {
          if (message === 'limits of keys are counted in Redis again') resolve()
        }
      })
      await redis.restart()
      await back
    },
  )

  it('apply to the keys of two served nodes together', async () => {
    const keys = keyFile()
    const key = await keys.add('ci', { rate: '3/h' })
    const nodes = await Promise.all(
      [1, 2].map(() => servedNode({}, { apiKeys: keys.file, redis: redis.url })),
    )
    const statuses: number[] = []
    for (const i of [0, 1, 0, 1, 0]) {
      const reply = await nodes[i]?.post('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}', {}, `/${key}`)
      statuses.push(reply?.status ?? 0)
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    await Promise.all(nodes.map((node) => node.close()))
    keys.remove()
  })
})
