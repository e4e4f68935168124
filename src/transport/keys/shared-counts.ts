/** Counts of limits in a Redis that several nodes share, and how it fares. */
import { RateLimiterRedis, RLWrapperTimeouts } from 'rate-limiter-flexible'
import { createClient } from 'redis'
import { NodeError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import type { Count } from './meter.ts'

/** A Redis, as the meter uses it. */
export interface SharedCounts {
  /** One limit, counted there. Rejects with an `Error` when that fails. */
  counter(count: Count): RLWrapperTimeouts
  /** Shall it be left alone for now? */
  isDown(): boolean
  worked(): void
  failed(): void
  close(): Promise<void>
}

/** How long a count may take, and for how long to count alone after one failed; milliseconds. */
const COUNT_MS = 1000
const DOWN_MS = 1000
const CONNECT_MS = 3000
const LONGEST_PAUSE_MS = 3000

/** Connects to a Redis URL. Throws `invalid-options` when nothing answers; the words leave out user and password. */
export async function openSharedCounts(url: string, logger: Logger): Promise<SharedCounts> {
  let connected = false
  let downUntil = 0
  let fell = false
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

  return {
    counter({ name, points, duration }) {
      const limiter = new RateLimiterRedis({
        storeClient: client,
        useRedisPackage: true,
        rejectIfRedisNotReady: true,
        keyPrefix: `tandem:${name}`,
        points,
        duration,
      })
      return new RLWrapperTimeouts({ limiter, timeoutMs: COUNT_MS })
    },
    isDown: () => fell && Date.now() < downUntil,
    worked() {
      if (!fell) return
      fell = false
      logger.info('limits of keys are counted in Redis again')
    },
    failed() {
      downUntil = Date.now() + DOWN_MS
      if (fell) return
      fell = true
      logger.warn('Redis does not answer; this node counts the limits of keys alone until it does')
    },
    async close() {
      client.destroy()
    },
  }
}
