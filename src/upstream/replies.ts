/** JSON-RPC replies of an upstream, matched to the calls of a batch by their ids. */
import { z } from 'zod'

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

/** The members of a reply; every object passes, and what they hold is checked where it is used. */
const Reply = z.object({
  id: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
})
/** The error member of one; some services leave out the code or the message. */
const ReplyError = z.object({
  code: z.number().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  data: z.unknown().optional(),
})
const Wait = z.union([z.string(), z.number()]).optional().catch(undefined)
/** The names that services give to the time to wait. */
const ErrorData = z.object({ retryAfter: Wait, retry_after: Wait, 'retry-after': Wait, try_again_in: Wait })

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

/** Milliseconds that an error's data asks to wait, in seconds or as `1.5s`. */
function waitIn(data: unknown): number | undefined {
  for (const value of Object.values(ErrorData.safeParse(data).data ?? {})) {
    const [, digits, unit] = /^\s*(\d+(?:\.\d+)?)\s*(ms|s)?\s*$/.exec(String(value ?? '')) ?? []
    if (digits !== undefined) return Number(digits) * (unit === 'ms' ? 1 : 1000)
  }
  return undefined
}

function failureOf(error: unknown): RpcFailure | undefined {
  const { code, message, data } = ReplyError.safeParse(error).data ?? {}
  if (message === undefined && code === undefined) return undefined
  return {
    code: code ?? -32603,
    message: message ?? `error ${code}`,
    ...(data !== undefined && { data }),
  }
}

/** The outcome in one reply object; `undefined` when it is no reply. */
export function outcomeOf(body: unknown): RpcOutcome | undefined {
  const reply = Reply.safeParse(body).data
  if (reply === undefined) return undefined
  const { error, result } = reply
  if (error !== undefined && error !== null) {
    const failure = failureOf(error)
    return failure && { error: failure }
  }
  return 'result' in reply ? { result } : undefined
}

/** The id in what should be a reply. */
const idIn = (reply: unknown): unknown => Reply.safeParse(reply).data?.id

/** The ids in a message: of one reply, or of each in a batch. */
export const idsIn = (message: unknown): unknown[] => (Array.isArray(message) ? message : [message]).map(idIn)

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
  const answered = idIn(body)
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
  for (const reply of body) {
    const id = idIn(reply)
    if (id === undefined || id === null) continue
    const index = typeof id === 'number' ? id - first : -1
    if (index < 0 || index >= count || !Number.isInteger(index) || seen.has(index)) return nothing()
    seen.add(index)
    found[index] = itemOf(outcomeOf(reply), retryAfterMs)
  }
  return found
}
