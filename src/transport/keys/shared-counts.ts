/** Counts limits in a Redis that several nodes share, and tracks whether it answers. */
import { RateLimiterRedis, RLWrapperTimeouts } from 'rate-limiter-flexible'
import { createClient } from 'redis'
import { messageOf, NodeError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import type { Limit } from './limit-counter.ts'
import { BUCKET_SCRIPT } from './token-bucket.ts'

/** Limit of one count, and pause between pings of a Redis that failed; milliseconds. */
const COUNT_MS = 1000
const PING_MS = 500
const CONNECT_MS = 3000
const LONGEST_PAUSE_MS = 3000

function createRedisClient(url: string, isConnected: () => boolean) {
  const client = createClient({
    url,
    // Calls must not wait for a connection that may never be restored.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_MS,
      reconnectStrategy: (retries, cause) =>
        isConnected() ? Math.min(50 * 2 ** Math.min(retries, 10), LONGEST_PAUSE_MS) : cause,
    },
  })
  // Without a listener a broken connection would end the process; `reportFailure` logs it.
  client.on('error', () => {})
  return client
}

/** What is wrong with a Redis: the client wraps the cause in an error of its own. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && 'originalError' in error ? error.originalError : error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : messageOf(cause)
}

/** A Redis as the meter uses it. */
export class SharedCounts {
  readonly #client: ReturnType<typeof createRedisClient>
  readonly #logger: Logger
  #isConnected = false
  #pinging: NodeJS.Timeout | undefined
  #isPingPending = false

  private constructor(url: string, logger: Logger) {
    this.#client = createRedisClient(url, () => this.#isConnected)
    this.#logger = logger
  }

  /** Connects to a Redis URL. Throws `invalid-options` when no server answers; the message omits user and password. */
  static async open(url: string, logger: Logger): Promise<SharedCounts> {
    const counts = new SharedCounts(url, logger)
    try {
      await counts.#client.connect()
      counts.#isConnected = true
      return counts
    } catch (error) {
      const { host } = new URL(url)
      throw new NodeError(
        'invalid-options',
        `Cannot count limits in the Redis at ${host}: ${reasonOf(error)}.`,
      )
    }
  }

  /** One limit, counted there. Rejects with an `Error` when that fails. */
  counter({ name, points, duration }: Limit): RLWrapperTimeouts {
    const limiter = new RateLimiterRedis({
      storeClient: this.#client,
      useRedisPackage: true,
      rejectIfRedisNotReady: true,
      keyPrefix: `tandem:${name}`,
      points,
      duration,
      ...(name === 'rate' && { customIncrTtlLuaScript: BUCKET_SCRIPT }),
    })
    return new RLWrapperTimeouts({ limiter, timeoutMs: COUNT_MS })
  }

  /** Has it failed and not answered since? Nothing is counted there then. */
  isDown(): boolean {
    return this.#pinging !== undefined
  }

  /** Reports a failed count: from then on it is pinged in the background until it answers. */
  reportFailure(): void {
    if (this.#pinging !== undefined) return
    this.#pinging = setInterval(() => void this.#ping(), PING_MS).unref()
    this.#logger.warn('Redis does not answer; this node counts the limits of keys alone until it does')
  }

  async close(): Promise<void> {
    clearInterval(this.#pinging)
    this.#client.destroy()
  }

  async #ping(): Promise<void> {
    // A Redis that hangs gets one ping.
    if (this.#isPingPending) return
    this.#isPingPending = true
    try {
      await this.#client.ping()
      clearInterval(this.#pinging)
      this.#pinging = undefined
      this.#logger.info('limits of keys are counted in Redis again')
    } catch {
      // The interval tries again.
    } finally {
      this.#isPingPending = false
    }
  }
}
