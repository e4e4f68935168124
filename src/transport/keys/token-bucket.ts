/** A rate as a token bucket: it holds so many calls, gives them out as they are asked for, and fills again evenly. */
import { RateLimiterRes } from 'rate-limiter-flexible'
import type { Count, Counter } from './meter.ts'

/**
 * The bucket of one key in this process, full at the beginning. It rejects with a `RateLimiterRes` that says when there
 * will be enough; what is refused takes nothing. `now` is in milliseconds.
 */
export function tokenBucket({ points, duration }: Omit<Count, 'name'>, now: () => number): Counter {
  const fillMs = duration * 1000
  /** When it will be full again. */
  let full = 0
  return {
    async consume(_key, calls) {
      const time = now()
      // The clock may have been set back.
      full = Math.min(Math.max(full, time), time + fillMs)
      const after = full + (calls / points) * fillMs
      if (after - time > fillMs) throw new RateLimiterRes(0, after - time - fillMs, points, false)
      full = after
    },
  }
}

/**
 * The same in Redis, by its clock, as the library's script for a limit: it takes the calls, the length of a window
 * (which a bucket has not), the size of the bucket and the seconds in which it fills. It answers what is used up, more
 * than there is for a refusal, and the milliseconds until that changes.
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
