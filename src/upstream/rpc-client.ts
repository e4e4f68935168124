/** JSON-RPC over HTTP or WebSocket to an upstream: batches, repetition, failover, limits. */

import { NodeError, type UpstreamFailure } from '../errors.ts'
import { createEndpoints, type Endpoint, type EndpointFailure, type Endpoints } from './endpoints.ts'
import type { RemoteDeps } from './environment.ts'
import { createHttpSender } from './http.ts'
import { createPace } from './pace.ts'
import { batchOutcomes, type ItemOutcome, type RpcCall, type RpcOutcome, singleOutcome } from './replies.ts'
import { withoutSecrets } from './secrets.ts'
import type { RemoteSettings } from './settings.ts'
import { createSocketSender, isSocketUrl } from './socket.ts'

/** The most calls of a batch, which is the limit of the reference node. */
export const BATCH_LIMIT = 50
/** Requests that are open at once. */
const CONCURRENT = 8
/** Longest time that a server's wish to wait is followed, milliseconds. */
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

/** A client of one upstream. */
export interface RpcClient {
  /**
   * The outcome of each call, in order. Throws a NodeError when the upstream gives no answer, at the latest when the time of
   * a request, its repetitions included, is over.
   */
  send(calls: readonly RpcCall[]): Promise<readonly RpcOutcome[]>
  /** From now on a request, its repetitions included, has at most so many milliseconds. */
  limit(milliseconds: number): void
  /**
   * How long who holds others back should wait for an answer, milliseconds: 0 where each URL failed when it was asked last,
   * or a request is open for longer than it should be.
   */
  waitLimit(): number
  /** Why a request that is open has no answer yet; `undefined` where none is open, or nothing is wrong. */
  delay(): NodeError | undefined
  /** The origin of the URL that answered last, or else of the first. */
  origin(): string
  setUrls(urls: readonly string[]): void
  readonly counts: Readonly<ClientCounts>
  callsToday(): number
  /** Ends open requests; they fail. */
  close(): void
}

/** What is left of a request: the calls without an answer, by their place in it. */
interface Work {
  readonly calls: readonly RpcCall[]
  readonly outcomes: (RpcOutcome | undefined)[]
  pending: number[]
  readonly progress: Progress
}

/** How far a request is, milliseconds since 1970. */
interface Progress {
  readonly since: number
  /** It fails then. */
  until: number
  /** How often it was sent. */
  attempts: number
  /** The URLs that it was sent to. */
  readonly tried: Set<Endpoint>
}

/** Runs `CONCURRENT` tasks at once, in the order of their arrival. */
function createGate(): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (task) => {
    if (running >= CONCURRENT) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}

function seconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 1000)} s`
}

/** Sends nothing yet. */
export function createRpcClient(settings: RemoteSettings, deps: RemoteDeps): RpcClient {
  const { clock } = deps
  const pace = createPace(settings.rate, settings.callsPerDay, clock)
  const counts: ClientCounts = {
    requests: 0,
    calls: 0,
    retries: 0,
    rateLimited: 0,
    failures: 0,
    milliseconds: 0,
  }
  const closing = new AbortController()
  const gate = createGate()
  const sockets = createSocketSender(closing.signal, deps.resolve)
  const http = createHttpSender(closing.signal, deps.resolve)
  let endpoints: Endpoints = createEndpoints(settings.urls, deps)
  let lastOrigin = endpoints.next().origin
  let batchLimit = BATCH_LIMIT
  let nextId = 1
  let limitMs = settings.timeoutMs
  /** Requests without an answer, the oldest first. */
  const open = new Set<Progress>()

  const mostAttempts = () => settings.retries + endpoints.all.length

  function failure(endpoint: Endpoint, { attempts }: Progress, isLimited: boolean): NodeError {
    const { origin, lastFailure, lastStatus, notBefore } = endpoint
    const others = endpoints.all.length > 1 ? ` (and ${endpoints.all.length - 1} more URLs)` : ''
    const count = attempts === 0 ? 'not asked again yet' : `attempt ${attempts}`
    const data: UpstreamFailure = {
      url: origin,
      attempt: attempts,
      ...(lastStatus !== undefined && { status: lastStatus }),
    }
    if (isLimited) {
      const pause = seconds(Math.max(0, notBefore - clock.now()))
      return new NodeError(
        'upstream',
        `The upstream ${origin}${others} refuses further requests: ${lastFailure} (${count}). ` +
          `Try again in ${pause}, lower --fork-rate, or add a second --fork <url>.`,
        data,
      )
    }
    return new NodeError(
      'upstream',
      `The upstream ${origin}${others} cannot be used: ${lastFailure} (${count}). Check the URL, or add a second --fork <url>.`,
      data,
    )
  }

  function waitLimit(): number {
    const [oldest] = open
    const longest = limitMs / 4
    const isOverdue = oldest !== undefined && clock.now() - oldest.since >= longest
    return isOverdue || endpoints.all.every(({ failures }) => failures > 0) ? 0 : longest
  }

  /** Waits until the endpoint may be asked. Throws when no time would be left then. */
  async function waitFor(endpoint: Endpoint, progress: Progress): Promise<void> {
    const now = clock.now()
    const { isLimited, isPauseNamed } = endpoint
    const left = progress.until - now
    let wait = endpoint.notBefore - now
    // What failed for others may work again: each request is sent once, with half of its time for the answer.
    if (progress.attempts === 0 && !isPauseNamed) wait = Math.min(wait, left / 2)
    if (wait <= 0) return
    if (wait >= left || wait > LONGEST_WAIT_MS) throw failure(endpoint, progress, isLimited)
    await clock.wait(wait, closing.signal)
  }

  /** The time of one attempt: what is left, shared with the URLs that were not tried yet. */
  function attemptTime(endpoint: Endpoint, { until, tried }: Progress): number {
    const untried = endpoints.all.filter((other) => other !== endpoint && !tried.has(other)).length
    return Math.max(1, Math.floor(Math.min(settings.timeoutMs, (until - clock.now()) / (untried + 1))))
  }

  /** Notes what one request brought; is the rest to be sent again in halves? */
  async function attempt(work: Work, endpoint: Endpoint): Promise<'done' | 'limited' | 'failed' | 'split'> {
    const asked = work.pending
    const first = nextId
    nextId += asked.length
    const requests = asked.map((index, i) => ({
      jsonrpc: '2.0',
      id: first + i,
      ...(work.calls[index] as RpcCall),
    }))
    counts.requests++
    counts.calls += asked.length
    const { progress } = work
    const timeoutMs = attemptTime(endpoint, progress)
    progress.attempts++
    progress.tried.add(endpoint)
    const { url, origin } = endpoint
    const headers = settings.headerOrigins.includes(origin) ? settings.headers : []
    const target = { url, headers, timeoutMs }
    const body = JSON.stringify(asked.length === 1 ? requests[0] : requests)
    const answer = await (isSocketUrl(url) ? sockets : http).post(target, body, clock, closing.signal)
    if (answer.kind === 'answered') {
      const replies = withoutSecrets(answer.body, target)
      return accept(work, asked, first, replies, answer.retryAfterMs, endpoint)
    }
    const failed: EndpointFailure = { why: answer.why, status: answer.status }
    if (answer.kind === 'limited') {
      counts.rateLimited++
      endpoints.failed(endpoint, { ...failed, limit: answer })
      return 'limited'
    }
    endpoints.failed(endpoint, failed)
    if (answer.kind === 'too-large' && asked.length > 1) return 'split'
    // Another URL may do; without one, repeating is of no use.
    if (answer.kind === 'refused' && endpoints.all.length === 1) throw failure(endpoint, progress, false)
    return 'failed'
  }

  function accept(
    work: Work,
    asked: readonly number[],
    first: number,
    body: unknown,
    retryAfterMs: number | undefined,
    endpoint: Endpoint,
  ): 'done' | 'limited' | 'failed' | 'split' {
    const items: ItemOutcome[] | undefined =
      asked.length === 1
        ? [singleOutcome(body, first, retryAfterMs)]
        : batchOutcomes(body, first, asked.length, retryAfterMs)
    if (items === undefined) {
      const whole = singleOutcome(body, first, retryAfterMs)
      // A refusal of the batch as a whole: too long, too large, or the server knows no batches.
      if (whole.kind === 'answer' && 'error' in whole.outcome) return 'split'
      if (whole.kind === 'limited') {
        counts.rateLimited++
        endpoints.failed(endpoint, { why: whole.why, limit: { retryAfterMs: whole.waitMs } })
        return 'limited'
      }
      endpoints.failed(endpoint, { why: 'its answer is JSON, and not that of a JSON-RPC node' })
      return 'failed'
    }
    const rest: number[] = []
    let limited: Extract<ItemOutcome, { kind: 'limited' }> | undefined
    for (const [i, item] of items.entries()) {
      const index = asked[i] as number
      if (item.kind === 'answer') work.outcomes[index] = item.outcome
      else rest.push(index)
      if (item.kind === 'limited' && (item.waitMs ?? 0) >= (limited?.waitMs ?? 0)) limited = item
    }
    work.pending = rest
    lastOrigin = endpoint.origin
    if (rest.length === 0) {
      endpoints.succeeded(endpoint)
      return 'done'
    }
    if (limited !== undefined) {
      counts.rateLimited++
      endpoints.failed(endpoint, { why: limited.why, limit: { retryAfterMs: limited.waitMs } })
      return 'limited'
    }
    endpoints.failed(endpoint, { why: 'replies are missing, or have ids that were not asked' })
    return 'failed'
  }

  /** Counts the time of one request, and whether its answer was of use. */
  async function counted<Outcome extends string>(send: () => Promise<Outcome>): Promise<Outcome> {
    const since = clock.now()
    let isFailed = true
    try {
      const outcome = await send()
      isFailed = outcome === 'failed' || outcome === 'limited'
      return outcome
    } finally {
      counts.milliseconds += clock.now() - since
      if (isFailed) counts.failures++
    }
  }

  async function complete(work: Work): Promise<void> {
    const { progress } = work
    for (let failed = 0; ; ) {
      if (closing.signal.aborted) throw new NodeError('upstream', 'The fork was closed.')
      const endpoint = endpoints.next()
      await waitFor(endpoint, progress)
      const paced = clock.now()
      await pace.take(work.pending.length, closing.signal)
      // The upstream is not to blame for a pause of our own.
      progress.until += clock.now() - paced
      const before = work.pending.length
      const outcome = await counted(() => attempt(work, endpoint))
      if (outcome === 'done') return
      if (outcome === 'split') {
        batchLimit = Math.min(batchLimit, Math.max(1, before >> 1))
        return halves(work)
      }
      // An upstream that answers a part of each batch gets on.
      if (work.pending.length === before) failed++
      if (failed >= mostAttempts() || clock.now() >= progress.until) {
        throw failure(endpoint, progress, outcome === 'limited')
      }
      counts.retries++
    }
  }

  async function halves(work: Work): Promise<void> {
    const { pending, calls, progress } = work
    const middle = pending.length >> 1
    for (const part of [pending.slice(0, middle), pending.slice(middle)]) {
      const own: Work = { calls, outcomes: work.outcomes, pending: part, progress }
      await complete(own)
    }
  }

  async function sendChunk(calls: readonly RpcCall[]): Promise<readonly RpcOutcome[]> {
    const since = clock.now()
    const progress: Progress = { since, until: since + limitMs, attempts: 0, tried: new Set() }
    const pending = calls.map((_, index) => index)
    const work: Work = { calls, outcomes: new Array(calls.length), pending, progress }
    open.add(progress)
    try {
      await complete(work)
    } catch (error) {
      if (closing.signal.aborted) throw new NodeError('upstream', 'The fork was closed.')
      throw error
    } finally {
      open.delete(progress)
    }
    return work.outcomes as RpcOutcome[]
  }

  return {
    async send(calls) {
      const chunks: RpcCall[][] = []
      for (let i = 0; i < calls.length; i += batchLimit) chunks.push(calls.slice(i, i + batchLimit))
      return (await Promise.all(chunks.map((chunk) => gate(() => sendChunk(chunk))))).flat()
    },
    limit(milliseconds) {
      limitMs = milliseconds
    },
    waitLimit,
    delay() {
      const [oldest] = open
      if (oldest === undefined || waitLimit() > 0) return undefined
      const { origin, failures, lastFailure } = endpoints.next()
      const age = clock.now() - oldest.since
      const last = failures > 0 ? ` It failed when it was asked last: ${lastFailure}.` : ''
      return new NodeError(
        'upstream',
        `The upstream ${origin} has not answered in time: a request is open for ${age} ms (attempt ${oldest.attempts}).${last} Check the URL, or add a second --fork <url>.`,
        { url: origin, attempt: oldest.attempts },
      )
    },
    origin: () => lastOrigin,
    setUrls(urls) {
      endpoints = createEndpoints(urls, deps)
      lastOrigin = endpoints.next().origin
      batchLimit = BATCH_LIMIT
    },
    counts,
    callsToday: pace.callsToday,
    close: () => closing.abort(),
  }
}
