/** Counts of limits in a Redis that several nodes share, and how it fares. */
import { RateLimiterRedis, RLWrapperTimeouts } from 'rate-limiter-flexible'
import { createClient } from 'redis'
import { NodeError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import type { Count } from './meter.ts'
import { BUCKET_SCRIPT } from './token-bucket.ts'

/** A Redis, as the meter uses it. */
export interface SharedCounts {
  /** One limit, counted there. Rejects with an `Error` when that fails. */
  counter(count: Count): RLWrapperTimeouts
  /** Is it left alone, since it failed and did not answer since? */
  isDown(): boolean
  /** Says that a count failed: from then on it is asked now and then whether it is back, and by nobody's call. */
  failed(): void
  close(): Promise<void>
}

/** How long a count may take, and how often to ask whether a Redis that failed is back; milliseconds. */
const COUNT_MS = 1000
const ASK_MS = 500
const CONNECT_MS = 3000
const LONGEST_PAUSE_MS = 3000

/** Connects to a Redis URL. Throws `invalid-options` when nothing answers; the words leave out user and password. */
export async function openSharedCounts(url: string, logger: Logger): Promise<SharedCounts> {
  let connected = false
  let asking: NodeJS.Timeout | undefined
  let isAsked = false
  const client = createClient({
    url,
    // Calls must not wait for a connection that may never come back.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_MS,
      reconnectStrategy: (retries, cause) =>
        connected ? Math.min(50 * 2 ** Math.min(retries, 10), LONGEST_PAUSE_MS) : cause,
    },
  })
  // Without a listener a broken connection would end the process; `failed` says what there is to say.
  client.on('error', () => {})
  try {
    await client.connect()
    connected = true
  } catch (error) {
    // The client wraps what it met in an error of its own.
    const cause = (error as { originalError?: unknown }).originalError ?? error
    const { code, message } = cause as NodeJS.ErrnoException
    const { host } = new URL(url)
    throw new NodeError('invalid-options', `Cannot count limits in the Redis at ${host}: ${code ?? message}.`)
  }

  async function ask(): Promise<void> {
    // One that hangs is asked once.
    if (isAsked) return
    isAsked = true
    try {
      await client.ping()
      clearInterval(asking)
      asking = undefined
      logger.info('limits of keys are counted in Redis again')
    } catch {
      // It is asked again.
    } finally {
      isAsked = false
    }
  }

  return {
    counter({ name, points, duration }) {
      const limiter = new RateLimiterRedis({
        storeClient: client,
        useRedisPackage: true,
        rejectIfRedisNotReady: true,
        keyPrefix: `tandem:${name}`,
        points,
        duration,
        ...(name === 'rate' && { customIncrTtlLuaScript: BUCKET_SCRIPT }),
      })
      return new RLWrapperTimeouts({ limiter, timeoutMs: COUNT_MS })
    },
    isDown: () => asking !== undefined,
    failed() {
      if (asking !== undefined) return
      asking = setInterval(ask, ASK_MS).unref()
      logger.warn('Redis does not answer; this node counts the limits of keys alone until it does')
    },
    async close() {
      clearInterval(asking)
      client.destroy()
    },
  }
}
