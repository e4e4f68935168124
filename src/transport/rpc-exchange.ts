/** From the text of an HTTP request to its reply, whatever carries the two. */
import type { Disturbance } from '../chaos/model.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { andThen } from '../maybe-promise.ts'
import type { LogProgress } from '../rpc/cluster-routes.ts'
import { openSession, type Session } from '../rpc/session.ts'
import { PACKED, SMALL_BYTES } from './byte-budget.ts'
import { asksForCalm, CHAOS_HEADER, decline, type RpcExchange } from './exchange.ts'
import { type ApiKeyClient, sessionOf } from './keys/api-key-client.ts'
import type { Policy } from './policy.ts'
import { BEHIND, BROKEN, BUSY, full } from './refusal.ts'
import { dispatchLong, type LongReply, type TextDispatcher } from './text-dispatcher.ts'

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
  /** Present once something was done to one of its calls. */
  chaos?: string[]
}

/** The session of a request while chaos is set: what is done to its calls stands in its reply. */
function withChaos(session: Session, exchange: RpcExchange, outcome: Outcome): Session {
  return {
    ...session,
    isCalm: asksForCalm({ headers: exchange.headers }),
    noteChaos(what) {
      outcome.chaos ??= []
      outcome.chaos.push(what)
    },
  }
}

/** Answers requests by dispatchers, within the policy of a server. */
export class RpcAnswers {
  readonly #policy: Policy
  readonly #logger: Logger

  constructor(policy: Policy, logger: Logger) {
    this.#policy = policy
    this.#logger = logger
  }

  /** Answers the body of one request; with a client, within the rights of its API key. */
  answer(exchange: RpcExchange, dispatcher: TextDispatcher, body: string, client?: ApiKeyClient): void {
    const chaos = dispatcher.chaos?.current
    if (chaos !== undefined) {
      const { requestId, headers } = exchange
      const caller = { label: SESSION.label, requestId, isCalm: asksForCalm({ headers }) }
      const disturbance = chaos.message(body, caller)
      if (disturbance !== undefined) {
        void this.#disturb(exchange, disturbance, (disturbed) =>
          this.#answerInTime(disturbed, dispatcher, body, client),
        )
        return
      }
    }
    this.#answerInTime(exchange, dispatcher, body, client)
  }

  /** Disturbs an exchange; the code for it is loaded with the first one. */
  async #disturb(
    exchange: RpcExchange,
    disturbance: Disturbance,
    answer: (disturbed: RpcExchange) => void,
  ): Promise<void> {
    const { disturb } = await import('./disturbed-exchange.ts')
    disturb(exchange, disturbance, this.#policy, answer)
  }

  /** Answers once this node has what its caller has seen on another one of a cluster. */
  #answerInTime(
    exchange: RpcExchange,
    dispatcher: TextDispatcher,
    body: string,
    client: ApiKeyClient | undefined,
  ): void {
    const progress = dispatcher.position?.()
    const seen = progress && exchange.headers[SEQUENCE_HEADER]
    if (progress === undefined || typeof seen !== 'string') {
      this.#answerNow(exchange, dispatcher, body, client)
      return
    }
    void catchUp(progress, seen).then((isReached) => {
      if (isReached) this.#answerNow(exchange, dispatcher, body, client)
      else decline(exchange, BEHIND)
    })
  }

  #answerNow(
    exchange: RpcExchange,
    dispatcher: TextDispatcher,
    body: string,
    client: ApiKeyClient | undefined,
  ): void {
    const outcome: Outcome = { status: 200, retryAfter: undefined }
    try {
      andThen(
        dispatchLong(dispatcher, body, this.#session(exchange, outcome, client, dispatcher)),
        (reply) => this.#send(exchange, dispatcher, outcome, reply),
        (error) => this.#fail(exchange, error),
      )
    } catch (error) {
      this.#fail(exchange, error)
    }
  }

  /** The session of one request; a message that the node is too busy for gets status 503, one beyond the limits of a key 429. */
  #session(
    exchange: RpcExchange,
    outcome: Outcome,
    client: ApiKeyClient | undefined,
    { chaos }: TextDispatcher,
  ): Session {
    const { remote, requestId, headers } = exchange
    const session: Session = {
      label: SESSION.label,
      owner: SESSION.owner,
      entitlements: this.#policy.entitlements,
      allows: SESSION.allows,
      remote,
      requestId,
      userAgent: headers['user-agent'],
      carrier: headers,
      isGone: () => exchange.isGone,
      shed(retrySeconds) {
        outcome.status = 503
        outcome.retryAfter = retrySeconds
      },
    }
    const own = chaos?.current === undefined ? session : withChaos(session, exchange, outcome)
    if (client === undefined) return own
    const rights = sessionOf(client, ({ retryAfterSeconds }) => {
      outcome.status = 429
      outcome.retryAfter = retryAfterSeconds
    })
    return { ...own, ...rights }
  }

  #send(
    exchange: RpcExchange,
    dispatcher: TextDispatcher,
    { status, retryAfter, chaos }: Outcome,
    reply: string | LongReply = '',
  ): void {
    if (exchange.isGone) return
    const isLong = typeof reply !== 'string'
    const length = isLong ? reply.length : Buffer.byteLength(reply)
    const held = isLong ? Math.ceil(length / PACKED) : length
    if (length > SMALL_BYTES && !this.#policy.reserve(exchange, held)) return void decline(exchange, BUSY)
    const progress = dispatcher.position?.()
    const fields: Record<string, string | number> = {}
    if (progress !== undefined) fields[SEQUENCE_HEADER] = progress.sequence
    if (retryAfter !== undefined) fields['Retry-After'] = retryAfter
    if (chaos !== undefined) fields[CHAOS_HEADER] = chaos.join('; ')
    exchange.send(status, fields, reply, length)
  }

  #fail(exchange: RpcExchange, error: unknown): void {
    if (error instanceof NodeError) return void decline(exchange, full(error.message))
    this.#logger.error('a request failed outside its method', { error, request: exchange.requestId })
    decline(exchange, BROKEN)
  }
}

/** Waits until this node of a cluster has applied what its caller has seen on another one; false when that takes too long. */
async function catchUp(progress: LogProgress, seen: string): Promise<boolean> {
  return /^\d{1,15}$/.test(seen) && progress.reached(Number(seen), CATCH_UP_MS)
}
