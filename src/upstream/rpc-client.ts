/**
 * JSON-RPC over HTTP or WebSocket to an upstream: batches, retries, failover, limits. Own code: `p-retry` delays each
 * request by itself, while here a refused request holds back all requests to its URL, and only what has no answer is
 * sent again. viem's transports send whole batches again, split none, and have no limits per second and per day.
 */
import type { NodeError } from '../errors.ts'
import { type Endpoint, type EndpointFailure, Endpoints } from './endpoints.ts'
import type { RemoteDeps } from './environment.ts'
import { closed, late, limited, unusable } from './failures.ts'
import { Gate } from './gate.ts'
import { createHttpSender } from './http.ts'
import { Pace } from './pace.ts'
import { batchOutcomes, type RpcCall, type RpcOutcome, singleOutcome } from './replies.ts'
import { withoutSecrets } from './secrets.ts'
import { BATCH_LIMIT, type Outcome, type Sender } from './sender.ts'
import type { RemoteSettings } from './settings.ts'
import { createSocketSender, isSocketUrl } from './socket.ts'
import { type Progress, Work } from './work.ts'

/** Requests that are open at once. */
const CONCURRENT = 8
/** Longest wait that a server may ask for, milliseconds. */
const LONGEST_WAIT_MS = 60_000

/** Counts of what was sent. */
export interface ClientCounts {
  requests: number
  calls: number
  retries: number
  rateLimited: number
  failures: number
  milliseconds: number
}

/** The result of one attempt: no call is left, some are, or the rest is sent again in halves. */
type Attempt = 'done' | 'limited' | 'failed' | 'split'

/** A client of one upstream. Sends nothing before the first call. */
export class RpcClient {
  readonly #settings: RemoteSettings
  readonly #deps: RemoteDeps
  readonly #pace: Pace
  readonly #closing = new AbortController()
  readonly #gate = new Gate(CONCURRENT)
  readonly #sockets: Sender
  readonly #http: Sender
  readonly #counts: ClientCounts = {
    requests: 0,
    calls: 0,
    retries: 0,
    rateLimited: 0,
    failures: 0,
    milliseconds: 0,
  }
  /** Requests without an answer, the oldest first. */
  readonly #open = new Set<Progress>()
  #endpoints: Endpoints
  #lastOrigin: string
  #batchLimit = BATCH_LIMIT
  #nextId = 1
  #limitMs: number

  constructor(settings: RemoteSettings, deps: RemoteDeps) {
    this.#settings = settings
    this.#deps = deps
    this.#pace = new Pace(settings.rate, settings.callsPerDay, deps.clock)
    const { resolve, observe = (sender: Sender) => sender } = deps
    this.#sockets = observe(createSocketSender(this.#closing.signal, resolve))
    this.#http = observe(createHttpSender(this.#closing.signal, resolve))
    this.#endpoints = new Endpoints(settings.urls, deps)
    this.#lastOrigin = this.#endpoints.next().origin
    this.#limitMs = settings.timeoutMs
  }

  /**
   * The outcome of each call, in order. Throws a NodeError when the upstream gives no answer, at the latest when the
   * time of a request, retries included, is over.
   */
  async send(calls: readonly RpcCall[]): Promise<readonly RpcOutcome[]> {
    const size = this.#batchLimit
    const chunks = Array.from({ length: Math.ceil(calls.length / size) }, (_, i) =>
      calls.slice(i * size, (i + 1) * size),
    )
    const outcomes = chunks.map((chunk) => this.#gate.run(() => this.#sendChunk(chunk)))
    return (await Promise.all(outcomes)).flat()
  }

  /** From now on a request, retries included, has at most this many milliseconds. */
  limit(milliseconds: number): void {
    this.#limitMs = milliseconds
  }

  /**
   * How long a caller that blocks others should wait for an answer, milliseconds: 0 where the last attempt at each URL
   * failed, or a request has been open for too long.
   */
  waitLimit(): number {
    const [oldest] = this.#open
    const longest = this.#limitMs / 4
    const isOverdue = oldest !== undefined && this.#deps.clock.now() - oldest.since >= longest
    return isOverdue || this.#endpoints.all.every(({ failures }) => failures > 0) ? 0 : longest
  }

  /** Why a request that is open has no answer yet; `undefined` where none is open, or nothing is wrong. */
  delay(): NodeError | undefined {
    const [oldest] = this.#open
    if (oldest === undefined || this.waitLimit() > 0) return undefined
    return late(this.#endpoints.next(), oldest, this.#deps.clock.now() - oldest.since)
  }

  /** The origin of the URL that answered last, or else of the first. */
  origin(): string {
    return this.#lastOrigin
  }

  /** Asks other URLs from now on. */
  setUrls(urls: readonly string[]): void {
    this.#endpoints = new Endpoints(urls, this.#deps)
    this.#lastOrigin = this.#endpoints.next().origin
    this.#batchLimit = BATCH_LIMIT
  }

  get counts(): Readonly<ClientCounts> {
    return this.#counts
  }

  callsToday(): number {
    return this.#pace.callsToday()
  }

  /** Ends open requests; they fail. */
  close(): void {
    this.#closing.abort()
  }

  async #sendChunk(calls: readonly RpcCall[]): Promise<readonly RpcOutcome[]> {
    const work = Work.of(calls, this.#deps.clock.now(), this.#limitMs)
    this.#open.add(work.progress)
    try {
      await this.#complete(work)
    } catch (error) {
      throw this.#closing.signal.aborted ? closed() : error
    } finally {
      this.#open.delete(work.progress)
    }
    return work.outcomes
  }

  /** Sends what is left until nothing is. Throws when time or attempts are used up. */
  async #complete(work: Work): Promise<void> {
    const { progress } = work
    const { signal } = this.#closing
    const { clock } = this.#deps
    for (let failed = 0; ; ) {
      if (signal.aborted) throw closed()
      const endpoint = this.#endpoints.next()
      await this.#waitFor(endpoint, progress)
      const paced = clock.now()
      await this.#pace.take(work.left, signal)
      // The upstream is not to blame for a pause of our own.
      progress.until += clock.now() - paced
      const before = work.left
      const outcome = await this.#counted(() => this.#attempt(work, endpoint))
      if (outcome === 'done') return
      if (outcome === 'split') return this.#split(work)
      // An upstream that answers a part of each batch makes progress.
      if (work.left === before) failed++
      const mostAttempts = this.#settings.retries + this.#endpoints.all.length
      if (failed >= mostAttempts || clock.now() >= progress.until) {
        throw this.#failure(endpoint, progress, outcome === 'limited')
      }
      this.#counts.retries++
    }
  }

  /** Sends what is left in two shorter batches, and no batch as long from now on. */
  async #split(work: Work): Promise<void> {
    this.#batchLimit = Math.min(this.#batchLimit, Math.max(1, work.left >> 1))
    for (const half of work.halves()) await this.#complete(half)
  }

  #failure(endpoint: Endpoint, progress: Progress, isLimited: boolean): NodeError {
    return isLimited
      ? limited(endpoint, progress, this.#endpoints, this.#deps.clock.now())
      : unusable(endpoint, progress, this.#endpoints)
  }

  /** Waits until the endpoint may be asked. Throws when no time would be left then. */
  async #waitFor(endpoint: Endpoint, progress: Progress): Promise<void> {
    const { clock } = this.#deps
    const now = clock.now()
    const { isLimited, isPauseNamed } = endpoint
    const left = progress.until - now
    let wait = endpoint.notBefore - now
    // The URL may work again: each request is sent at least once, with half of its time for the answer.
    if (progress.attempts === 0 && !isPauseNamed) wait = Math.min(wait, left / 2)
    if (wait <= 0) return
    if (wait >= left || wait > LONGEST_WAIT_MS) throw this.#failure(endpoint, progress, isLimited)
    await clock.wait(wait, this.#closing.signal)
  }

  /** The time of one attempt: what is left, shared with the URLs that were not tried yet. */
  #attemptTime(endpoint: Endpoint, { until, tried }: Progress): number {
    const { all } = this.#endpoints
    const untried = all.filter((other) => other !== endpoint && !tried.has(other)).length
    const share = (until - this.#deps.clock.now()) / (untried + 1)
    return Math.max(1, Math.floor(Math.min(this.#settings.timeoutMs, share)))
  }

  /** Sends what is left to an endpoint, once. */
  async #attempt(work: Work, endpoint: Endpoint): Promise<Attempt> {
    const { progress } = work
    const first = this.#nextId
    this.#nextId += work.left
    this.#counts.requests++
    this.#counts.calls += work.left
    const timeoutMs = this.#attemptTime(endpoint, progress)
    progress.attempts++
    progress.tried.add(endpoint)
    const { headers, headerOrigins } = this.#settings
    const { url, origin } = endpoint
    const target = { url, headers: headerOrigins.includes(origin) ? headers : [], timeoutMs }
    const sender = isSocketUrl(url) ? this.#sockets : this.#http
    const answer = await sender.post(target, work.body(first), this.#deps.clock, this.#closing.signal)
    return answer.kind === 'answered'
      ? this.#accept(work, first, withoutSecrets(answer.body, target), answer.retryAfterMs, endpoint)
      : this.#noteFailure(work, answer, endpoint)
  }

  /** Notes that a request had no answer. Throws where no other URL can be asked and a retry is of no use. */
  #noteFailure(work: Work, answer: Exclude<Outcome, { kind: 'answered' }>, endpoint: Endpoint): Attempt {
    const failure: EndpointFailure = { why: answer.why, status: answer.status }
    if (answer.kind === 'limited') return this.#noteLimit(endpoint, { ...failure, limit: answer })
    this.#endpoints.failed(endpoint, failure)
    if (answer.kind === 'too-large' && work.left > 1) return 'split'
    if (answer.kind === 'refused' && this.#endpoints.all.length === 1) {
      throw this.#failure(endpoint, work.progress, false)
    }
    return 'failed'
  }

  #noteLimit(endpoint: Endpoint, failure: EndpointFailure): Attempt {
    this.#counts.rateLimited++
    this.#endpoints.failed(endpoint, failure)
    return 'limited'
  }

  /** Takes the replies in the body of an answer to a message with ids from `first` on. */
  #accept(
    work: Work,
    first: number,
    body: unknown,
    retryAfterMs: number | undefined,
    endpoint: Endpoint,
  ): Attempt {
    const items =
      work.left === 1
        ? [singleOutcome(body, first, retryAfterMs)]
        : batchOutcomes(body, first, work.left, retryAfterMs)
    if (items === undefined) return this.#acceptWhole(body, first, retryAfterMs, endpoint)
    const refused = work.accept(items)
    this.#lastOrigin = endpoint.origin
    if (work.left === 0) {
      this.#endpoints.succeeded(endpoint)
      return 'done'
    }
    if (refused !== undefined) {
      return this.#noteLimit(endpoint, { why: refused.why, limit: { retryAfterMs: refused.waitMs } })
    }
    this.#endpoints.failed(endpoint, { why: 'replies are missing, or have ids that were not asked' })
    return 'failed'
  }

  /** Takes one reply to a whole batch. */
  #acceptWhole(body: unknown, first: number, retryAfterMs: number | undefined, endpoint: Endpoint): Attempt {
    const whole = singleOutcome(body, first, retryAfterMs)
    // A refusal of the batch as a whole: too long, too large, or the server knows no batches.
    if (whole.kind === 'answer' && 'error' in whole.outcome) return 'split'
    if (whole.kind === 'limited') {
      return this.#noteLimit(endpoint, { why: whole.why, limit: { retryAfterMs: whole.waitMs } })
    }
    this.#endpoints.failed(endpoint, { why: 'its answer is JSON, and not that of a JSON-RPC node' })
    return 'failed'
  }

  /** Counts the time of one attempt, and whether its answer was of use. */
  async #counted(attempt: () => Promise<Attempt>): Promise<Attempt> {
    const { clock } = this.#deps
    const since = clock.now()
    let isFailed = true
    try {
      const outcome = await attempt()
      isFailed = outcome === 'failed' || outcome === 'limited'
      return outcome
    } finally {
      this.#counts.milliseconds += clock.now() - since
      if (isFailed) this.#counts.failures++
    }
  }
}
