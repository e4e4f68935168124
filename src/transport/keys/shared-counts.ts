/** Counts limits in a Redis that several nodes share, and tracks whether it answers. */
import { RateLimiterRedis, RLWrapperTimeouts } from 'rate-limiter-flexible'
import { createClient } from 'redis'
import { NodeError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import type { Limit } from './limit-counter.ts'
import { BUCKET_SCRIPT } from './token-bucket.ts'

/** A Redis as the meter uses it. */
export interface SharedCounts {
  /** One limit, counted there. Rejects with an `Error` when that fails. */
  counter(limit: Limit): RLWrapperTimeouts
  /** Has it failed and not answered since? Nothing is counted there then. */
  isDown(): boolean
  /** Reports a failed count: from then on it is pinged in the background until it answers. */
  reportFailure(): void
  close(): Promise<void>
}

/** Limit of one count, and pause between pings of a Redis that failed; milliseconds. */
const COUNT_MS = 1000
const PING_MS = 500
const CONNECT_MS = 3000
const LONGEST_PAUSE_MS = 3000

/** Connects to a Redis URL. Throws `invalid-options` when no server answers; the message omits user and password. */
export async function openSharedCounts(url: string, logger: Logger): Promise<SharedCounts> {
  let connected = false
  let pinging: NodeJS.Timeout | undefined
  let isPingPending = false
  const client = createClient({
    url,
    // Calls must not wait for a connection that may never be restored.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_MS,
      reconnectStrategy: (retries, cause) =>
        connected ? Math.min(50 * 2 ** Math.min(retries, 10), LONGEST_PAUSE_MS) : cause,
    },
  })
  // Without a listener a broken connection would end the process; `reportFailure` logs it.
  client.on('error', () => {})
  try {
    await client.connect()
    connected = true
  } catch (error) {
    // The client wraps the cause in an error of its own.
    const cause = (error as { originalError?: unknown }).originalError ?? error
    const { code, message } = cause as NodeJS.ErrnoException
    const { host } = new URL(url)
    throw new NodeError('invalid-options', `Cannot count limits in the Redis at ${host}: ${code ?? message}.`)
  }

  async function ping(): Promise<void> {
    // A Redis that hangs gets one ping.
    if (isPingPending) return
    isPingPending = true
    try {
      await client.ping()
      clearInterval(pinging)
      pinging = undefined
      logger.info('limits of keys are counted in Redis again')
    } catch {
      // The interval tries again.
    } finally {
      isPingPending = false
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
    isDown: () => pinging !== undefined,
    reportFailure() {
      if (pinging !== undefined) return
      pinging = setInterval(ping, PING_MS).unref()
      logger.warn('Redis does not answer; this node counts the limits of keys alone until it does')
    },
    async close() {
      clearInterval(pinging)
      client.destroy()
    },
  }
}
