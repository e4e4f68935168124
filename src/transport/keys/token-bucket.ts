/**
 * A rate as a token bucket, in this process and as a Redis script. rate-limiter-flexible counts fixed windows only, which
 * let twice the rate through around the end of a window; its stores, timeouts and script hook are used as they are.
 */
import { RateLimiterRes } from 'rate-limiter-flexible'
import type { Limit, LimitCounter } from './limit-counter.ts'

/**
 * The bucket of one key in this process, full at the start. It rejects with a `RateLimiterRes` that holds the time until
 * enough has refilled; a refusal takes nothing. `now` is in milliseconds.
 */
export function tokenBucket({ points, duration }: Omit<Limit, 'name'>, now: () => number): LimitCounter {
  const refillMs = duration * 1000
  /** When it is full again. */
  let fullAt = 0
  return {
    async consume(_key, calls) {
      const time = now()
      // The clock may have been set back.
      fullAt = Math.min(Math.max(fullAt, time), time + refillMs)
      const after = fullAt + (calls / points) * refillMs
      if (after - time > refillMs) throw new RateLimiterRes(0, after - time - refillMs, points, false)
      fullAt = after
    },
  }
}

/**
 * The same in Redis, by its clock, in the form of the library's script hook: its arguments are the calls, the length of a
 * window (unused), the size of the bucket and the seconds in which it refills. It returns the points in use, more than
 * the size for a refusal, and the milliseconds until that changes.
 */
export const BUCKET_SCRIPT = `
local time = redis.call('time')
local now = time[1] * 1000 + time[2] / 1000
local size, fill = tonumber(ARGV[3]), ARGV[4] * 1000
local full = math.max(tonumber(redis.call('get', KEYS[1]) or 0), now)
local after = full + ARGV[1] / size * fill
if after - now > fill then return {size + 1, math.ceil(after - now - fill)} end
redis.call('set', KEYS[1], string.format('%.3f', after), 'PX', math.ceil(after - now))
return {math.ceil((after - now) / fill * size), math.ceil(after - now)}
`
