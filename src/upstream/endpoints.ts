/** The URLs of an upstream: which one to ask next, and how long one that failed is left alone. */
import type { RemoteDeps } from './environment.ts'
import { originOf } from './http.ts'

/** First pause after a failure, and the longest, milliseconds. */
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000
/** First pause after a refusal for too many requests that names no time. */
const LIMITED_PAUSE_MS = 1000

/** One URL. */
export interface Endpoint {
  readonly url: string
  readonly origin: string
  /** Not to be asked before this time, milliseconds. */
  notBefore: number
  /** Failures since the last answer. */
  failures: number
  lastFailure: string
  /** The HTTP status of that failure, where it failed by it. */
  lastStatus: number | undefined
  /** Did it refuse for too many requests? */
  isLimited: boolean
  /** Did it say itself for how long it is to be left alone? */
  isPauseNamed: boolean
}

/** Why an endpoint failed. `limit`: it refused for too many requests. */
export interface EndpointFailure {
  readonly why: string
  readonly status?: number | undefined
  readonly limit?: { readonly retryAfterMs: number | undefined }
}

/** The URLs of an upstream. */
export interface Endpoints {
  readonly all: readonly Endpoint[]
  /** The first one that may be asked now, or else the one that may be asked first. */
  next(): Endpoint
  /** It answered. */
  succeeded(endpoint: Endpoint): void
  /** It is left alone for a time that doubles with each failure, half of it by chance; or as long as it asked for. */
  failed(endpoint: Endpoint, failure: EndpointFailure): void
}

/** None has failed yet. */
export function createEndpoints(urls: readonly string[], { clock, random }: RemoteDeps): Endpoints {
  const all = urls.map(
    (url): Endpoint => ({
      url,
      origin: originOf(url),
      notBefore: 0,
      failures: 0,
      lastFailure: '',
      lastStatus: undefined,
      isLimited: false,
      isPauseNamed: false,
    }),
  )
  return {
    all,
    next() {
      const now = clock.now()
      let best = all[0] as Endpoint
      for (const endpoint of all) {
        if (Math.max(endpoint.notBefore, now) < Math.max(best.notBefore, now)) best = endpoint
      }
      return best
    },
    succeeded(endpoint) {
      endpoint.failures = 0
      if (!endpoint.isPauseNamed) endpoint.notBefore = 0
    },
    failed(endpoint, { why, status, limit }) {
      endpoint.lastFailure = why
      endpoint.lastStatus = status
      endpoint.isLimited = limit !== undefined
      endpoint.isPauseNamed = limit?.retryAfterMs !== undefined
      const first = limit === undefined ? FIRST_PAUSE_MS : LIMITED_PAUSE_MS
      const pause = Math.min(LONGEST_PAUSE_MS, first * 2 ** endpoint.failures++)
      // Jitter only lengthens a time that the server named.
      const wait =
        limit?.retryAfterMs === undefined
          ? pause * (0.5 + random() / 2)
          : limit.retryAfterMs * (1 + random() / 10)
      endpoint.notBefore = Math.max(endpoint.notBefore, clock.now() + wait)
    },
  }
}
