/** JSON-RPC over HTTP or WebSocket to an upstream: batches, repetition, failover, limits. */
import { NodeError } from '../../errors.ts'
import { createEndpoints, type Endpoint, type Endpoints } from './endpoints.ts'
import { post } from './http.ts'
import { createPace } from './pace.ts'
import { batchOutcomes, type ItemOutcome, type RpcCall, type RpcOutcome, singleOutcome } from './replies.ts'
import type { RemoteDeps, RemoteSettings } from './settings.ts'
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
}

/** A client of one upstream. */
export interface RpcClient {
  /** The outcome of each call, in order. Throws a NodeError when the upstream gives no answer. */
  send(calls: readonly RpcCall[]): Promise<readonly RpcOutcome[]>
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
  const counts: ClientCounts = { requests: 0, calls: 0, retries: 0, rateLimited: 0 }
  const closing = new AbortController()
  const gate = createGate()
  const sockets = createSocketSender(closing.signal)
  let endpoints: Endpoints = createEndpoints(settings.urls, deps)
  let lastOrigin = endpoints.next().origin
  let batchLimit = BATCH_LIMIT
  let nextId = 1

  function failure({ origin, lastFailure, notBefore }: Endpoint, isLimited: boolean): NodeError {
    const others = endpoints.all.length > 1 ? ` (and ${endpoints.all.length - 1} more URLs)` : ''
    if (isLimited) {
      return new NodeError(
        'upstream',
        `The upstream ${origin}${others} refuses further requests: ${lastFailure}. ` +
          `Try again in ${seconds(Math.max(0, notBefore - clock.now()))}, lower --fork-rate, or add a second --fork <url>.`,
      )
    }
    return new NodeError(
      'upstream',
      `The upstream ${origin}${others} cannot be used: ${lastFailure}. Check the URL, or add a second --fork <url>.`,
    )
  }

  /** Waits until the endpoint may be asked. Throws when that takes too long. */
  async function waitFor(endpoint: Endpoint): Promise<void> {
    const wait = endpoint.notBefore - clock.now()
    if (wait <= 0) return
    if (wait > LONGEST_WAIT_MS) throw failure(endpoint, true)
    await clock.wait(wait, closing.signal)
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
    const target = { url: endpoint.url, headers: settings.headers, timeoutMs: settings.timeoutMs }
    const body = JSON.stringify(asked.length === 1 ? requests[0] : requests)
    const send = isSocketUrl(endpoint.url) ? sockets.post : post
    const answer = await send(target, body, clock, closing.signal)
    if (answer.kind === 'refused') {
      endpoints.failed(endpoint, answer.why)
      // Another URL may do; without one, repeating is of no use.
      if (endpoints.all.length === 1) throw failure(endpoint, false)
      return 'failed'
    }
    if (answer.kind === 'limited') {
      counts.rateLimited++
      endpoints.failed(endpoint, answer.why, answer)
      return 'limited'
    }
    if (answer.kind === 'too-large') {
      endpoints.failed(endpoint, answer.why)
      return asked.length > 1 ? 'split' : 'failed'
    }
    if (answer.kind === 'failed') {
      endpoints.failed(endpoint, answer.why)
      return 'failed'
    }
    return accept(work, asked, first, answer.body, answer.retryAfterMs, endpoint)
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
        endpoints.failed(endpoint, whole.why, { retryAfterMs: whole.waitMs })
        return 'limited'
      }
      endpoints.failed(endpoint, 'its answer is JSON, and not that of a JSON-RPC node')
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
      endpoints.failed(endpoint, limited.why, { retryAfterMs: limited.waitMs })
      return 'limited'
    }
    endpoints.failed(endpoint, 'replies are missing, or have ids that were not asked')
    return 'failed'
  }

  async function complete(work: Work): Promise<void> {
    const attempts = settings.retries + endpoints.all.length
    for (let failed = 0; ; ) {
      if (closing.signal.aborted) throw new NodeError('upstream', 'The fork was closed.')
      const endpoint = endpoints.next()
      await waitFor(endpoint)
      await pace.take(work.pending.length, closing.signal)
      const before = work.pending.length
      const outcome = await attempt(work, endpoint)
      if (outcome === 'done') return
      if (outcome === 'split') {
        batchLimit = Math.min(batchLimit, Math.max(1, before >> 1))
        return halves(work)
      }
      // An upstream that answers a part of each batch gets on.
      if (work.pending.length === before) failed++
      if (failed >= attempts) throw failure(endpoint, outcome === 'limited')
      counts.retries++
    }
  }

  async function halves(work: Work): Promise<void> {
    const { pending, calls } = work
    const middle = pending.length >> 1
    for (const part of [pending.slice(0, middle), pending.slice(middle)]) {
      const own: Work = { calls, outcomes: work.outcomes, pending: part }
      await complete(own)
    }
  }

  async function sendChunk(calls: readonly RpcCall[]): Promise<readonly RpcOutcome[]> {
    const work: Work = { calls, outcomes: new Array(calls.length), pending: calls.map((_, index) => index) }
    try {
      await complete(work)
    } catch (error) {
      if (closing.signal.aborted) throw new NodeError('upstream', 'The fork was closed.')
      throw error
    }
    return work.outcomes as RpcOutcome[]
  }

  return {
    async send(calls) {
      const chunks: RpcCall[][] = []
      for (let i = 0; i < calls.length; i += batchLimit) chunks.push(calls.slice(i, i + batchLimit))
      return (await Promise.all(chunks.map((chunk) => gate(() => sendChunk(chunk))))).flat()
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
