/** The URLs of an upstream: which one to ask next, and for how long a failed one is skipped. */
import type { RemoteDeps } from './environment.ts'
import { originOf } from './sender.ts'

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
  /** Did it name the length of its pause itself? */
  isPauseNamed: boolean
}

/** Why an endpoint failed. `limit`: it refused for too many requests. */
export interface EndpointFailure {
  readonly why: string
  readonly status?: number | undefined
  readonly limit?: { readonly retryAfterMs: number | undefined }
}

function endpointAt(url: string): Endpoint {
  return {
    url,
    origin: originOf(url),
    notBefore: 0,
    failures: 0,
    lastFailure: '',
    lastStatus: undefined,
    isLimited: false,
    isPauseNamed: false,
  }
}

/** The URLs of an upstream. */
export class Endpoints {
  readonly all: readonly Endpoint[]
  readonly #clock: RemoteDeps['clock']
  readonly #random: RemoteDeps['random']

  /** None has failed yet. */
  constructor(urls: readonly string[], { clock, random }: RemoteDeps) {
    this.all = urls.map(endpointAt)
    this.#clock = clock
    this.#random = random
  }

  /** The first one that may be asked now, or else the one that may be asked first. */
  next(): Endpoint {
    const now = this.#clock.now()
    const readyAt = ({ notBefore }: Endpoint) => Math.max(notBefore, now)
    return this.all.reduce((best, endpoint) => (readyAt(endpoint) < readyAt(best) ? endpoint : best))
  }

  /** It answered. */
  succeeded(endpoint: Endpoint): void {
    endpoint.failures = 0
    if (!endpoint.isPauseNamed) endpoint.notBefore = 0
  }

  /** Skips the URL for a time that doubles with each failure, half of it random, or for as long as the server named. */
  failed(endpoint: Endpoint, { why, status, limit }: EndpointFailure): void {
    const asked = limit?.retryAfterMs
    endpoint.lastFailure = why
    endpoint.lastStatus = status
    endpoint.isLimited = limit !== undefined
    endpoint.isPauseNamed = asked !== undefined
    const first = limit === undefined ? FIRST_PAUSE_MS : LIMITED_PAUSE_MS
    const pause = Math.min(LONGEST_PAUSE_MS, first * 2 ** endpoint.failures++)
    // Jitter only lengthens a time that the server named.
    const wait = asked === undefined ? pause * (0.5 + this.#random() / 2) : asked * (1 + this.#random() / 10)
    endpoint.notBefore = Math.max(endpoint.notBefore, this.#clock.now() + wait)
  }
}
