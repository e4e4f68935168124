/** Counts what each key uses: a rate with its burst, and a quota by the day of UTC; here or in a Redis that nodes share. */
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Logger } from '../../logger.ts'
import { type Allowance, type KeyRecord, parseAllowance } from './key-record.ts'
import type { SharedCounts } from './shared-counts.ts'
import { tokenBucket } from './token-bucket.ts'

/** Why a message is not paid for, and when to try again. */
export interface Spent {
  readonly message: string
  /** At least 1. */
  readonly retryAfterSeconds: number
}

/** Takes the price of messages from what keys may use. */
export interface Meter {
  /** Takes so many calls from the limits of a key; why not, when they do not have them. Never rejects. */
  charge(record: KeyRecord, calls: number): Promise<Spent | undefined>
  close(): Promise<void>
}

/** One limit, as the library counts it. Rejects with a `RateLimiterRes` when there is too little. */
export interface Counter {
  consume(key: string, calls: number, options?: { readonly customDuration: number }): Promise<unknown>
}

/** One limit to count, found again by its name: a rate is a bucket that fills, a quota is spent until its day is over. */
export interface Count {
  readonly name: 'rate' | 'quota'
  readonly points: number
  /** Seconds in which an empty bucket fills, or until all that was used of a quota is given back. */
  readonly duration: number
}

const DAY_MS = 86_400_000

/** Throws for what the record of a key cannot hold. */
function allowanceOf(text: string): Allowance {
  const allowance = parseAllowance(text)
  if (allowance === undefined) throw new Error(`no allowance: ${text}`)
  return allowance
}

/** One period's calls and the burst are there at once; they come back as fast as the rate says. */
function rateCount(rate: string, burst = 0): Count {
  const { calls, seconds } = allowanceOf(rate)
  const points = calls + burst
  return { name: 'rate', points, duration: (points / calls) * seconds }
}

function quotaCount(quota: string): Count {
  const { calls, seconds } = allowanceOf(quota)
  return { name: 'quota', points: calls, duration: seconds }
}

/** What was refused need not have been used up: the rest of a day's quota stays for a smaller message. */
function givingBack(limiter: RateLimiterAbstract): Counter {
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
 * Counts together with other nodes, and alone while that fails: a limiter that is gone must not shut out those who keep
 * within their limits, and without it no key gets more than its limits from one node.
 */
function insured(shared: Counter, local: Counter, counts: SharedCounts): Counter {
  return {
    async consume(key, calls, options) {
      if (counts.isDown()) return local.consume(key, calls, options)
      try {
        return await shared.consume(key, calls, options)
      } catch (error) {
        if (error instanceof RateLimiterRes) throw error
        counts.failed()
        return local.consume(key, calls, options)
      }
    },
  }
}

function secondsOf(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000))
}

/** Makes the meter. With a Redis URL, throws `invalid-options` when nothing answers there. */
export async function createMeter(parts: {
  readonly redis: string | undefined
  readonly logger: Logger
  /** Milliseconds since 1970. */
  readonly now: () => number
}): Promise<Meter> {
  const { redis, logger, now } = parts
  // Most nodes count alone, and pay nothing for the client.
  const shared =
    redis === undefined
      ? undefined
      : await import('./shared-counts.ts').then(({ openSharedCounts }) => openSharedCounts(redis, logger))
  /** Per limit and key; terms that change begin a new count, and leave the other limit's alone. */
  const known = new Map<string, { readonly terms: string; readonly counter: Counter }>()

  /** Counts in this process; another start begins anew. */
  function localCounter(count: Count): Counter {
    return count.name === 'rate' ? tokenBucket(count, now) : givingBack(new RateLimiterMemory(count))
  }

  function sharedCounter(count: Count, { counter }: SharedCounts): Counter {
    return count.name === 'rate' ? counter(count) : givingBack(counter(count))
  }

  function counterOf(key: string, terms: string, countOf: () => Count): Counter {
    const found = known.get(key)
    if (found?.terms === terms) return found.counter
    const count = countOf()
    const local = localCounter(count)
    const counter = shared === undefined ? local : insured(sharedCounter(count, shared), local, shared)
    known.set(key, { terms, counter })
    return counter
  }

  function rateOf({ name, rate, burst }: KeyRecord): Counter | undefined {
    if (rate === undefined) return undefined
    return counterOf(`rate:${name}`, `${rate} ${burst}`, () => rateCount(rate, burst))
  }

  function quotaOf({ name, quota }: KeyRecord): Counter | undefined {
    if (quota === undefined) return undefined
    return counterOf(`quota:${name}`, quota, () => quotaCount(quota))
  }

  return {
    async charge(record, calls) {
      const { name, rate = '', quota = '', burst } = record
      const bucket = rate === '' ? undefined : rateCount(rate, burst)
      if (bucket !== undefined && calls > bucket.points) {
        const words = `Rate limit of ${rate} exceeded: it never allows ${calls} calls at once`
        return { message: words, retryAfterSeconds: Math.ceil(bucket.duration) }
      }
      try {
        await rateOf(record)?.consume(name, calls)
      } catch (error) {
        const wait = error instanceof RateLimiterRes ? error.msBeforeNext : 0
        return { message: `Rate limit of ${rate} exceeded`, retryAfterSeconds: secondsOf(wait) }
      }
      const untilMidnight = DAY_MS - (now() % DAY_MS)
      try {
        const day = new Date(now()).toISOString().slice(0, 10)
        await quotaOf(record)?.consume(`${name}:${day}`, calls, { customDuration: secondsOf(untilMidnight) })
      } catch {
        return { message: `Quota of ${quota} exceeded`, retryAfterSeconds: secondsOf(untilMidnight) }
      }
      return undefined
    },
    async close() {
      await shared?.close()
    },
  }
}
