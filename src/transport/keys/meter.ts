/** Counts the calls of each key: a rate with its burst and a quota by UTC day, in this process or in a shared Redis. */
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Logger } from '../../logger.ts'
import { type Allowance, type KeyRecord, parseAllowance } from './key-record.ts'
import type { Limit, LimitCounter, Spent } from './limit-counter.ts'
import type { SharedCounts } from './shared-counts.ts'
import { tokenBucket } from './token-bucket.ts'

const DAY_MS = 86_400_000

/** Throws for a text that a checked record cannot hold. */
function allowanceOf(text: string): Allowance {
  const allowance = parseAllowance(text)
  if (allowance === undefined) throw new Error(`no allowance: ${text}`)
  return allowance
}

/** The calls of one period and the burst are available at once; they refill at the rate. */
function rateLimit(rate: string, burst = 0): Limit {
  const { calls, seconds } = allowanceOf(rate)
  const points = calls + burst
  return { name: 'rate', points, duration: (points / calls) * seconds }
}

function quotaLimit(quota: string): Limit {
  const { calls, seconds } = allowanceOf(quota)
  return { name: 'quota', points: calls, duration: seconds }
}

/** The library counts refused calls too; they are subtracted again, so that a smaller message can use the rest. */
function withoutRefused(limiter: RateLimiterAbstract): LimitCounter {
  return {
    async consume(key, calls, options) {
      try {
        return await limiter.consume(key, calls, options)
      } catch (error) {
        if (error instanceof RateLimiterRes) await limiter.reward(key, calls, options)
        throw error
      }
    },
  }
}

/**
 * Counts in Redis, and in this process while Redis fails: clients within their limits are then not refused, and no key
 * gets more than its limits from one node.
 */
function withFallback(shared: LimitCounter, local: LimitCounter, counts: SharedCounts): LimitCounter {
  return {
    async consume(key, calls, options) {
      if (counts.isDown()) return local.consume(key, calls, options)
      try {
        return await shared.consume(key, calls, options)
      } catch (error) {
        if (error instanceof RateLimiterRes) throw error
        counts.reportFailure()
        return local.consume(key, calls, options)
      }
    },
  }
}

function secondsOf(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000))
}

/** Counts in this process; a restart resets the counts. */
function localCounter(limit: Limit, now: () => number): LimitCounter {
  return limit.name === 'rate' ? tokenBucket(limit, now) : withoutRefused(new RateLimiterMemory(limit))
}

function sharedCounter(limit: Limit, shared: SharedCounts): LimitCounter {
  const counter = shared.counter(limit)
  return limit.name === 'rate' ? counter : withoutRefused(counter)
}

/** Charges messages to the limits of keys. */
export class Meter {
  readonly #shared: SharedCounts | undefined
  readonly #now: () => number
  /** By limit and key name; changed terms of one limit start a new count of that limit only. */
  readonly #known = new Map<string, { readonly terms: string; readonly counter: LimitCounter }>()

  /** @param now milliseconds since 1970 */
  constructor(shared: SharedCounts | undefined, now: () => number) {
    this.#shared = shared
    this.#now = now
  }

  /** Charges so many calls to the limits of a key; the reason when they are exceeded. Never rejects. */
  async charge(record: KeyRecord, calls: number): Promise<Spent | undefined> {
    return (await this.#chargeRate(record, calls)) ?? (await this.#chargeQuota(record, calls))
  }

  async close(): Promise<void> {
    await this.#shared?.close()
  }

  async #chargeRate({ name, rate, burst }: KeyRecord, calls: number): Promise<Spent | undefined> {
    if (rate === undefined) return undefined
    const limit = rateLimit(rate, burst)
    if (calls > limit.points) {
      const message = `Rate limit of ${rate} exceeded: it never allows ${calls} calls at once`
      return { message, retryAfterSeconds: Math.ceil(limit.duration) }
    }
    try {
      await this.#counterOf(`rate:${name}`, `${rate} ${burst}`, limit).consume(name, calls)
      return undefined
    } catch (error) {
      const wait = error instanceof RateLimiterRes ? error.msBeforeNext : 0
      return { message: `Rate limit of ${rate} exceeded`, retryAfterSeconds: secondsOf(wait) }
    }
  }

  async #chargeQuota({ name, quota }: KeyRecord, calls: number): Promise<Spent | undefined> {
    if (quota === undefined) return undefined
    const now = this.#now()
    const untilMidnight = secondsOf(DAY_MS - (now % DAY_MS))
    const day = new Date(now).toISOString().slice(0, 10)
    try {
      const counter = this.#counterOf(`quota:${name}`, quota, quotaLimit(quota))
      await counter.consume(`${name}:${day}`, calls, { customDuration: untilMidnight })
      return undefined
    } catch {
      return { message: `Quota of ${quota} exceeded`, retryAfterSeconds: untilMidnight }
    }
  }

  #counterOf(key: string, terms: string, limit: Limit): LimitCounter {
    const found = this.#known.get(key)
    if (found?.terms === terms) return found.counter
    const shared = this.#shared
    const local = localCounter(limit, this.#now)
    const counter = shared === undefined ? local : withFallback(sharedCounter(limit, shared), local, shared)
    this.#known.set(key, { terms, counter })
    return counter
  }
}

/** Makes the meter. With a Redis URL, throws `invalid-options` when no server answers there. */
export async function createMeter(parts: {
  readonly redis: string | undefined
  readonly logger: Logger
  /** Milliseconds since 1970. */
  readonly now: () => number
}): Promise<Meter> {
  const { redis, logger, now } = parts
  if (redis === undefined) return new Meter(undefined, now)
  // The Redis client is loaded only where it is used.
  const { SharedCounts } = await import('./shared-counts.ts')
  return new Meter(await SharedCounts.open(redis, logger), now)
}
