/** JSON-RPC replies of an upstream, matched to the calls of a batch by their ids. */

/** A call to the upstream. */
export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** The error member of a reply. */
export interface RpcFailure {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** What the upstream answered to a call. */
export type RpcOutcome = { readonly result: unknown } | { readonly error: RpcFailure }

/** The outcome of one call of a batch: an answer, a refusal for too many requests, or nothing that can be used. */
export type ItemOutcome =
  | { readonly kind: 'answer'; readonly outcome: RpcOutcome }
  | { readonly kind: 'limited'; readonly waitMs: number | undefined; readonly why: string }
  | { readonly kind: 'missing' }

const LIMITED_TEXT =
  /rate.?limit|too many requests|request limit|requests? per (second|minute|day)|compute units|throughput|capacity (limit )?exceeded|daily (request|limit)|quota|\b429\b|overloaded|server is busy/i
/** Limits of what a query returns, which waiting does not lift. */
const RANGE_TEXT =
  /block range|blocks? distance|more than \d+ (results|logs|blocks)|response size|query timeout/i

/** Is this an error for too many requests, which some services send with status 200 and inside of batches? */
export function isRateLimit({ code, message }: RpcFailure): boolean {
  if (RANGE_TEXT.test(message)) return false
  return code === 429 || code === -32029 || LIMITED_TEXT.test(message)
}

/** Milliseconds that an error's data asks to wait: `retryAfter`, `retry_after` or `try_again_in`, in seconds or as `1.5s`. */
function waitIn(data: unknown): number | undefined {
  if (typeof data !== 'object' || data === null) return undefined
  const values = data as Readonly<Record<string, unknown>>
  for (const key of ['retryAfter', 'retry_after', 'retry-after', 'try_again_in']) {
    const [, digits, unit] = /^\s*(\d+(?:\.\d+)?)\s*(ms|s)?\s*$/.exec(String(values[key] ?? '')) ?? []
    if (digits !== undefined) return Number(digits) * (unit === 'ms' ? 1 : 1000)
  }
  return undefined
}

function errorOf(error: unknown): RpcFailure | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, message, data } = error as { readonly [key: string]: unknown }
  if (typeof message !== 'string' && typeof code !== 'number') return undefined
  return {
    code: typeof code === 'number' ? code : -32603,
    message: typeof message === 'string' ? message : `error ${code}`,
    ...(data !== undefined && { data }),
  }
}

/** The outcome in one reply object; `undefined` when it is no reply. */
export function outcomeOf(reply: unknown): RpcOutcome | undefined {
  if (typeof reply !== 'object' || reply === null) return undefined
  const { error, result } = reply as { readonly error?: unknown; readonly result?: unknown }
  if (error !== undefined && error !== null) {
    const failure = errorOf(error)
    return failure && { error: failure }
  }
  return 'result' in reply ? { result } : undefined
}

function itemOf(outcome: RpcOutcome | undefined, retryAfterMs: number | undefined): ItemOutcome {
  if (outcome === undefined) return { kind: 'missing' }
  if ('error' in outcome && isRateLimit(outcome.error)) {
    const { message, data } = outcome.error
    return { kind: 'limited', waitMs: waitIn(data) ?? retryAfterMs, why: message }
  }
  return { kind: 'answer', outcome }
}

/** The outcome of a call that was sent alone; `missing` where the reply is to another id. */
export function singleOutcome(body: unknown, id: number, retryAfterMs: number | undefined): ItemOutcome {
  const outcome = outcomeOf(body)
  const { id: answered } = (body ?? {}) as { readonly id?: unknown }
  // An error that concerns no request in particular has the id null.
  const fits = answered === id || (outcome !== undefined && 'error' in outcome && (answered ?? null) === null)
  return fits ? itemOf(outcome, retryAfterMs) : { kind: 'missing' }
}

/**
 * The outcomes of a batch with the ids `first`, `first + 1`, …; `undefined` when the body is no list. A reply to an id
 * that was not asked, or a second one to the same id, makes the others doubtful too: all are missing then.
 */
export function batchOutcomes(
  body: unknown,
  first: number,
  count: number,
  retryAfterMs: number | undefined,
): ItemOutcome[] | undefined {
  if (!Array.isArray(body)) return undefined
  const nothing = () => Array.from({ length: count }, (): ItemOutcome => ({ kind: 'missing' }))
  const found = nothing()
  const seen = new Set<number>()
  for (const reply of body as readonly unknown[]) {
    const { id } = (reply ?? {}) as { readonly id?: unknown }
    if (id === undefined || id === null) continue
    const index = typeof id === 'number' ? id - first : -1
    if (index < 0 || index >= count || !Number.isInteger(index) || seen.has(index)) return nothing()
    seen.add(index)
    found[index] = itemOf(outcomeOf(reply), retryAfterMs)
  }
  return found
}
