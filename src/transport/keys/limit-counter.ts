/** The types of limits: one limit, its counter, and the refusal when it is exceeded. */

/** One limit to count: a rate is a token bucket, a quota resets when its day is over. */
export interface Limit {
  readonly name: 'rate' | 'quota'
  /** Calls that are available at once. */
  readonly points: number
  /** Seconds in which an empty bucket refills, or until a quota resets. */
  readonly duration: number
}

/** Counts one limit by key, as `rate-limiter-flexible` does. Rejects with a `RateLimiterRes` when too little is left. */
export interface LimitCounter {
  consume(key: string, calls: number, options?: { readonly customDuration: number }): Promise<unknown>
}

/** Why a message is refused, and when to try again. */
export interface Spent {
  readonly message: string
  /** At least 1. */
  readonly retryAfterSeconds: number
}
