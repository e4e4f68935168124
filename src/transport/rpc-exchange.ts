/** From the text of an HTTP request to its reply, whatever carries the two. */
import type { IncomingHttpHeaders } from 'node:http'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { andThen } from '../maybe-promise.ts'
import type { LogProgress } from '../rpc/cluster-routes.ts'
import { type Entitlement, openSession, type Session } from '../rpc/session.ts'
import { type ByteBudget, PACKED, SMALL_BYTES } from './byte-budget.ts'
import { type ApiKeyClient, sessionOf } from './keys/api-key-client.ts'
import { BEHIND, BROKEN, BUSY, full, type Refusal } from './refusal.ts'
import { dispatchLong, type LongReply, type TextDispatcher } from './text-dispatcher.ts'

/** Header fields beyond those that every reply has, which are its type, its length and the ID of its request. */
export type ReplyFields = Readonly<Record<string, string | number>>

/** A request that has passed all checks, and the way back to its caller. */
export interface RpcExchange {
  /** Names the request in the logs and in its reply. */
  readonly requestId: string
  readonly headers: IncomingHttpHeaders
  /** Address of the caller. */
  readonly remote: string
  /** Has the caller disconnected? Nothing is sent to it then. */
  readonly isGone: boolean
  /**
   * Sends the reply, which is JSON.
   * @param length of the body in bytes
   */
  send(status: number, fields: ReplyFields, body: string | LongReply, length: number): void
  /**
   * Calls back once the reply is sent or its caller is gone. A caller that takes nothing of the reply for `timeoutMs`
   * is disconnected. Called before `send`, for large replies only.
   */
  hold(timeoutMs: number, release: () => void): void
}

/** What answers need. */
export interface RpcExchangeParts {
  /** Of requests and answers of all transports. */
  readonly budget: ByteBudget
  /** How long a caller may read nothing of a large answer, milliseconds. */
  readonly transferTimeoutMs: number
  /** What callers may do where no keys are in use. */
  readonly entitlements: ReadonlySet<Entitlement>
  readonly logger: Logger
}

/** Answers the body of one request; with a client, within the rights of its API key. */
export type AnswerExchange = (
  exchange: RpcExchange,
  dispatcher: TextDispatcher,
  body: string,
  client?: ApiKeyClient,
) => void

/**
 * In a cluster: how much of the log was applied before a reply. A caller that sends it with a request to another node
 * sees there what it has seen here.
 */
const SEQUENCE_HEADER = 'x-tandem-sequence'
/** Longest wait for a node to catch up with that, milliseconds. */
const CATCH_UP_MS = 4_000
/** What the sessions of all requests have in common. */
const SESSION = openSession('http')

/** The status of a reply, which the dispatcher may change by its session. */
interface Outcome {
  status: number
  retryAfter: number | undefined
}

/** Sends a refusal in the place of a reply. */
export function decline(exchange: RpcExchange, { status, body, allow, retryAfter }: Refusal): void {
  if (exchange.isGone) return
  const fields = {
    ...(retryAfter !== undefined && { 'Retry-After': retryAfter }),
    ...(allow !== undefined && { Allow: allow }),
  }
  exchange.send(status, fields, body, Buffer.byteLength(body))
}

/** The session of one request; a message that the node is too busy for gets status 503, one beyond the limits of a key 429. */
function requestSession(
  exchange: RpcExchange,
  outcome: Outcome,
  client: ApiKeyClient | undefined,
  entitlements: ReadonlySet<Entitlement>,
): Session {
  const { remote, requestId, headers } = exchange
  const session: Session = {
    label: SESSION.label,
    owner: SESSION.owner,
    entitlements,
    allows: SESSION.allows,
    remote,
    requestId,
    userAgent: headers['user-agent'],
    isGone: () => exchange.isGone,
    shed(retrySeconds) {
      outcome.status = 503
      outcome.retryAfter = retrySeconds
    },
  }
  if (client === undefined) return session
  const rights = sessionOf(client, ({ retryAfterSeconds }) => {
    outcome.status = 429
    outcome.retryAfter = retryAfterSeconds
  })
  return { ...session, ...rights }
}

/** Makes the function that answers. */
export function createExchange({
  budget,
  transferTimeoutMs,
  entitlements,
  logger,
}: RpcExchangeParts): AnswerExchange {
  /** Takes bytes from the budget until the answer is sent; false when it is spent. */
  function reserve(exchange: RpcExchange, bytes: number): boolean {
    if (budget.isSpent) return false
    budget.take(bytes)
    exchange.hold(transferTimeoutMs, () => budget.give(bytes))
    return true
  }

  /**
   * Waits until this node of a cluster has applied what its caller has seen on another one. False when that takes too
   * long; the request is refused then.
   */
  async function catchUp(progress: LogProgress, seen: string, exchange: RpcExchange): Promise<boolean> {
    const isReached = /^\d{1,15}$/.test(seen) && (await progress.reached(Number(seen), CATCH_UP_MS))
    if (!isReached) decline(exchange, BEHIND)
    return isReached
  }

  function answerNow(
    exchange: RpcExchange,
    dispatcher: TextDispatcher,
    body: string,
    client: ApiKeyClient | undefined,
  ): void {
    const outcome: Outcome = { status: 200, retryAfter: undefined }
    const send = (reply: string | LongReply = '') => {
      if (exchange.isGone) return
      const isLong = typeof reply !== 'string'
      const length = isLong ? reply.length : Buffer.byteLength(reply)
      const held = isLong ? Math.ceil(length / PACKED) : length
      if (length > SMALL_BYTES && !reserve(exchange, held)) return decline(exchange, BUSY)
      const progress = dispatcher.position?.()
      const fields: Record<string, string | number> = {}
      if (progress !== undefined) fields[SEQUENCE_HEADER] = progress.sequence
      if (outcome.retryAfter !== undefined) fields['Retry-After'] = outcome.retryAfter
      exchange.send(outcome.status, fields, reply, length)
    }
    const fail = (error: unknown) => {
      if (error instanceof NodeError) return decline(exchange, full(error.message))
      logger.error('a request failed outside its method', { error, request: exchange.requestId })
      decline(exchange, BROKEN)
    }
    try {
      andThen(
        dispatchLong(dispatcher, body, requestSession(exchange, outcome, client, entitlements)),
        send,
        fail,
      )
    } catch (error) {
      fail(error)
    }
  }

  return (exchange, dispatcher, body, client) => {
    const progress = dispatcher.position?.()
    const seen = progress && exchange.headers[SEQUENCE_HEADER]
    if (progress === undefined || typeof seen !== 'string') {
      answerNow(exchange, dispatcher, body, client)
      return
    }
    void catchUp(progress, seen, exchange).then((isReached) => {
      if (isReached) answerNow(exchange, dispatcher, body, client)
    })
  }
}
