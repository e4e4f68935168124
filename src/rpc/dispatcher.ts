/** The entry point of every transport: envelope, batch, parameters → call → reply (JSON-RPC 2.0). */

import type { ChaosSwitch } from '../chaos/switch.ts'
import { isTooComplex } from '../encoding/json-complexity.ts'
import { isObject } from '../encoding/json-object.ts'
import type { CurrentEngine } from '../engine/engine-holder.ts'
import type { ForkAnew } from '../engine/fork/open-upstream.ts'
import type { RandomBytes } from '../engine/randomness.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { OnCall } from '../options/options.ts'
import type { Peg } from '../peg/peg.ts'
import { CallListeners } from './call-listeners.ts'
import type { CallMeter } from './call-meter.ts'
import type { CallObserver } from './call-observer.ts'
import { CallRunner } from './call-runner.ts'
import type { LogProgress, Route } from './cluster-routes.ts'
import { countRequests, INVALID_REQUEST, idOf, idRefusal, isId, TOO_COMPLEX } from './envelope.ts'
import { ERROR_CODES } from './error-codes.ts'
import { hasInexactId, restoreIds } from './exact-ids.ts'
import { Load, RETRY_SECONDS } from './load.ts'
import type { AnyMethod } from './method.ts'
import { MethodTable } from './method-table.ts'
import { RawJson } from './raw-json.ts'
import { createReplyWriter, type Replies, type Reply, rawLength, refusal, tooMuchRaw } from './reply.ts'
import type { RpcOptions } from './rpc-options.ts'
import type { Session } from './session.ts'

/** Takes requests from any transport. */
export interface Dispatcher {
  /** The methods that are open on this node. @internal */
  readonly methods: readonly AnyMethod[]
  /** The calls in progress, and whether more are accepted. */
  readonly load: Load
  /** How much of the cluster's log the node has applied; absent in a node without a cluster. @internal */
  readonly position?: (() => LogProgress | undefined) | undefined
  /** Whether messages are disturbed; absent where they cannot be. @internal */
  readonly chaos?: ChaosSwitch | undefined
  /** Receives each call from now on, answered or refused; the returned function unsubscribes. */
  listen(listener: OnCall): () => void
  /** Counts calls by method and key, from the first time that it is asked for. */
  meter(): CallMeter
  /** Answers a parsed message; `undefined` when there is nothing to answer. Never rejects. */
  dispatch(message: unknown, session: Session): Promise<Reply | Replies | undefined>
  /** Answers JSON text by JSON text, within the limits of depth and size. Never rejects. */
  dispatchText(text: string, session: Session): Promise<string | undefined>
  /** The same, without a promise if the method returns none; a long reply in ASCII pieces, to be sent in order. */
  dispatchPieces(text: string, session: Session): MaybePromise<string | RawJson | undefined>
  /**
   * Runs one method and returns its result; rejects with the `NodeError` that a reply would carry. `signal` ends
   * a call that changes something, as the disconnection of its caller does; `deadline` (ms since 1970, 0 is none)
   * replaces the usual time limit of a request.
   */
  request(
    name: string,
    params: unknown,
    session: Session,
    limits?: { readonly signal?: AbortSignal | undefined; readonly deadline?: number },
  ): Promise<unknown>
}

/** The parameters up to the last that is not undefined: a caller in process passes that for an optional one, JSON cannot. */
function withoutUndefined(params: unknown): unknown {
  if (!Array.isArray(params) || params.length === 0 || params.at(-1) !== undefined) return params
  return params.slice(0, params.findLastIndex((param) => param !== undefined) + 1)
}

/** The dependencies of a dispatcher. */
export interface DispatcherParts {
  readonly methods: readonly AnyMethod[]
  readonly node: CurrentEngine
  /** Absent when the node shares its chain with others. */
  readonly forkAnew?: ForkAnew | undefined
  readonly options: RpcOptions
  /** Is this method open on this node? */
  readonly permits: (method: AnyMethod) => boolean
  readonly logger: Logger
  /** Milliseconds from any origin, for expiry; `performance.now` when absent. */
  readonly elapsed?: (() => number) | undefined
  readonly random: RandomBytes
  /** Receives each call, answered or refused. */
  readonly onCall?: OnCall | undefined
  /** The limits of concurrent work that this dispatcher shares with another one; its own unless given. */
  readonly load?: Load | undefined
  /** Passes calls to other nodes of a cluster; absent in a node without one. */
  readonly route?: Route | undefined
  /** How much of the cluster's log the node has applied; absent in a node without a cluster. */
  readonly position?: (() => LogProgress | undefined) | undefined
  /** The Bitcoin chain and the peg, where the node has one. */
  readonly peg?: Peg | undefined
  /** Whether calls are disturbed; absent where they cannot be. */
  readonly chaos?: ChaosSwitch | undefined
  /** Observes messages and calls; absent where nothing does. */
  readonly observer?: CallObserver | undefined
}

const PARSE_ERROR = new NodeError('parse-error', 'JSON parse error')

/** Makes the dispatcher of one node. */
export function createDispatcher(parts: DispatcherParts): Dispatcher {
  return new JsonRpcDispatcher(parts)
}

const isBatch = (message: unknown): message is readonly unknown[] =>
  Array.isArray(message) && message.length > 0

/** Tells the transport when a reply refuses its call because the node is busy. */
function noteOverload(reply: Reply | undefined, session: Session): Reply | undefined {
  if (reply !== undefined && 'error' in reply && reply.error.code === ERROR_CODES.overloaded) {
    session.shed?.(RETRY_SECONDS)
  }
  return reply
}

class JsonRpcDispatcher implements Dispatcher {
  readonly methods: readonly AnyMethod[]
  readonly load: Load
  readonly position: Dispatcher['position']
  readonly chaos: ChaosSwitch | undefined
  readonly #options: RpcOptions
  readonly #table: MethodTable
  readonly #listeners: CallListeners
  readonly #calls: CallRunner
  readonly #observer: CallObserver | undefined
  readonly #write: (reply: Reply | Replies) => string | RawJson

  constructor(parts: DispatcherParts) {
    const { options, logger } = parts
    this.#options = options
    this.#table = new MethodTable(parts.methods, parts.permits, options.preset)
    this.methods = this.#table.open
    this.load = parts.load ?? new Load(options)
    this.position = parts.position
    this.chaos = parts.chaos
    this.#observer = parts.observer
    this.#listeners = new CallListeners(this.methods, parts.onCall)
    this.#calls = new CallRunner({
      ...parts,
      table: this.#table,
      load: this.load,
      listeners: this.#listeners,
    })
    this.#write = createReplyWriter(options.maxResponseBytes, logger)
  }

  listen(listener: OnCall): () => void {
    return this.#listeners.listen(listener)
  }

  meter(): CallMeter {
    return this.#listeners.meter()
  }

  async dispatch(message: unknown, session: Session): Promise<Reply | Replies | undefined> {
    return this.#accept(message, session)
  }

  async dispatchText(text: string, session: Session): Promise<string | undefined> {
    return (await this.dispatchPieces(text, session))?.toString()
  }

  dispatchPieces(text: string, session: Session): MaybePromise<string | RawJson | undefined> {
    const observer = this.#observer
    if (observer === undefined) return this.#dispatch(text, session)
    return observer.message(session, () => this.#dispatch(text, session))
  }

  #dispatch(text: string, session: Session): MaybePromise<string | RawJson | undefined> {
    if (isTooComplex(text, this.#options.maxDepth)) return this.#refuseText(TOO_COMPLEX, session)
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch {
      return this.#refuseText(PARSE_ERROR, session)
    }
    if (hasInexactId(message)) restoreIds(message, text)
    const reply = this.#accept(message, session)
    return andThen(reply, (written) => (written === undefined ? undefined : this.#write(written)))
  }

  async request(
    name: string,
    params: unknown,
    session: Session,
    limits: { readonly signal?: AbortSignal | undefined; readonly deadline?: number } = {},
  ): Promise<unknown> {
    const { signal, deadline: requestDeadline = this.#requestDeadline() } = limits
    try {
      const call = { name, params: withoutUndefined(params), session, requestDeadline, signal }
      const result = await this.#calls.run(call, false)
      return result instanceof RawJson ? result.toJSON() : result
    } catch (error) {
      throw error instanceof NodeError ? error : new NodeError('internal', 'Internal server error')
    }
  }

  #requestDeadline(): number {
    const { rpcTimeoutMs } = this.#options
    return rpcTimeoutMs === 0 ? 0 : Date.now() + rpcTimeoutMs
  }

  /** Answers a message, synchronously if it can. */
  #accept(message: unknown, session: Session): MaybePromise<Reply | Replies | undefined> {
    const full = this.load.enter()
    if (full !== undefined) {
      session.shed?.(RETRY_SECONDS)
      return refusal(full, idOf(message))
    }
    if (session.charge !== undefined || isBatch(message)) return this.#answer(message, session)
    const end = (reply: Reply | undefined) => {
      this.load.leave()
      return noteOverload(reply, session)
    }
    return andThen(this.#answerOne(message, session, this.#requestDeadline()), end)
  }

  /** Answers a batch, or a call that is charged first. */
  async #answer(message: unknown, session: Session): Promise<Reply | Replies | undefined> {
    const { maxBatch, maxDepth } = this.#options
    try {
      const deadline = this.#requestDeadline()
      const calls = isBatch(message) ? countRequests(message, maxDepth) : 1
      if (calls > maxBatch) {
        const detail = `${maxBatch} is the max number of supported batch requests`
        throw new NodeError('invalid-request', `Cannot dispatch batch requests. ${detail}`)
      }
      const unpaid = await session.charge?.(calls)
      if (unpaid !== undefined) return refusal(unpaid, idOf(message))
      if (isBatch(message)) return await this.#answerBatch(message, session, deadline)
      return noteOverload(await this.#answerOne(message, session, deadline), session)
    } catch (error) {
      return this.#refuseWhole(error, session)
    } finally {
      this.load.leave()
    }
  }

  async #answerBatch(
    batch: readonly unknown[],
    session: Session,
    deadline: number,
  ): Promise<Replies | undefined> {
    const { maxTraceAnswer } = this.#options
    const replies: (Reply | Replies)[] = []
    let raw = 0
    for (const entry of batch) {
      const reply = isBatch(entry)
        ? await this.#answerBatch(entry, session, deadline)
        : await this.#answerOne(entry, session, deadline)
      if (reply === undefined) continue
      raw += rawLength(reply)
      replies.push(raw <= maxTraceAnswer ? reply : tooMuchRaw(reply, maxTraceAnswer))
    }
    return replies.length === 0 ? undefined : replies
  }

  /** Answers one request; nothing where it is a notification. */
  #answerOne(request: unknown, session: Session, requestDeadline: number): MaybePromise<Reply | undefined> {
    if (!isObject(request)) return refusal(INVALID_REQUEST)
    const { id, method: name, params } = request
    if (id !== undefined && !isId(id)) return refusal(INVALID_REQUEST)
    if (typeof name !== 'string') return refusal(INVALID_REQUEST, id)
    // The reference node does not check this member, and echoes it.
    const jsonrpc = typeof request.jsonrpc === 'string' ? request.jsonrpc : '2.0'
    const badId =
      id === undefined || session.notify === undefined ? undefined : idRefusal(this.#table.get(name), id)
    if (badId !== undefined) return refusal(badId, id)
    const succeed = (result: unknown): Reply | undefined =>
      id === undefined ? undefined : { jsonrpc, id, result: result === undefined ? null : result }
    const fail = (error: unknown): Reply | undefined =>
      id === undefined
        ? undefined
        : refusal(error, id, this.#table.get(name) === undefined ? '2.0' : jsonrpc, this.#options)
    let outcome: unknown
    try {
      outcome = this.#calls.run({ name, params, session, requestDeadline }, true)
    } catch (error) {
      return fail(error)
    }
    return andThen(outcome, succeed, fail)
  }

  /** Refuses a message before any of its calls runs; it is charged as one call. */
  async #refuseWhole(error: unknown, session: Session): Promise<Reply> {
    this.#calls.scoreMessage(error, session)
    return refusal((await session.charge?.(1)) ?? error)
  }

  async #refuseText(error: NodeError, session: Session): Promise<string> {
    return JSON.stringify(await this.#refuseWhole(error, session))
  }
}
