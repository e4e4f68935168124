/** The entry point of every transport: envelope, batch, permission, parameters → run → reply (JSON-RPC 2.0). */
import { Call } from '../engine/call.ts'
import type { ForkChoice } from '../engine/engine.ts'
import type { CurrentEngine } from '../engine/engine-holder.ts'
import type { ForkAnew } from '../engine/fork/open-upstream.ts'
import type { RandomBytes } from '../engine/randomness.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { OnCall } from '../options/options.ts'
import { CallMeter } from './call-meter.ts'
import type { LogProgress, Route } from './cluster-routes.ts'
import { createDeadlines, within } from './deadlines.ts'
import {
  countRequests,
  INVALID_REQUEST,
  idOf,
  idRefusal,
  isId,
  isObject,
  positional,
  TOO_DEEP,
} from './envelope.ts'
import { ERROR_CODES } from './error-codes.ts'
import { hasInexactId, restoreIds } from './exact-ids.ts'
import { createFilters } from './feeds/filters.ts'
import { createSubscriptions } from './feeds/subscriptions.ts'
import { isTooDeep } from './json-depth.ts'
import { Load, type Place, RETRY_SECONDS } from './load.ts'
import type { AnyMethod } from './method.ts'
import { namesOf } from './method-names.ts'
import { eventOf } from './peer-scoring.ts'
import { createPresetHints } from './preset-hints.ts'
import { RawJson } from './raw-json.ts'
import { createReplyWriter, type Replies, type Reply, rawLength, refusal, tooMuchRaw } from './reply.ts'
import type { RpcOptions } from './rpc-options.ts'
import type { Session } from './session.ts'
import { unknownMethod } from './unknown-method.ts'
import { createLogTexts } from './wire/log.ts'

/** Takes requests from any transport. */
export interface Dispatcher {
  /** The methods that are open on this node. */
  readonly methods: readonly AnyMethod[]
  /** What is in progress, and whether more is accepted. */
  readonly load: Load
  /** How far a node of a cluster is; absent in a node of its own. */
  readonly position?: (() => LogProgress | undefined) | undefined
  /** Receives each call from now on, answered or refused; the returned function unsubscribes. */
  listen(listener: OnCall): () => void
  /** Counts calls by method and key, from the first time that it is asked for. */
  meter(): CallMeter
  /** Answers a parsed message; `undefined` when there is nothing to answer. Never rejects. */
  dispatch(message: unknown, session: Session): Promise<Reply | Replies | undefined>
  /** Answers JSON text by JSON text, within the limits of depth and size. Never rejects. */
  dispatchText(text: string, session: Session): Promise<string | undefined>
  /** The same, at once where the method answers at once; a long reply in pieces of ASCII, to be sent one after another. */
  dispatchPieces(text: string, session: Session): MaybePromise<string | RawJson | undefined>
  /**
   * Runs one method and returns its result; rejects with the `NodeError` that a reply would carry. A signal that aborts
   * ends a call that changes something as a caller does that goes; `deadline` (ms since 1970, 0 is none) takes the place
   * of the usual time of a request.
   */
  request(
    name: string,
    params: unknown,
    session: Session,
    limits?: { readonly signal?: AbortSignal | undefined; readonly deadline?: number },
  ): Promise<unknown>
}

/** What a dispatcher is made of. */
export interface DispatcherParts {
  readonly methods: readonly AnyMethod[]
  readonly node: CurrentEngine
  /** Absent where a node shares its chain with others. */
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
  /** Of another dispatcher, with which this one shares its limits of concurrent work; one of its own unless given. */
  readonly load?: Load | undefined
  /** Has other nodes of a cluster answer calls; absent in a node of its own. */
  readonly route?: Route | undefined
  /** How far a node of a cluster is; absent in a node of its own. */
  readonly position?: (() => LogProgress | undefined) | undefined
}

const PARSE_ERROR = new NodeError('parse-error', 'JSON parse error')

/** Makes the dispatcher of one node. */
export function createDispatcher(parts: DispatcherParts): Dispatcher {
  const { node, options, logger, random, route, elapsed = () => performance.now() } = parts
  const filters = createFilters({ node, options, elapsed, random })
  const subscriptions = createSubscriptions({ node, options, logger, random })
  const known = new Map(
    parts.methods.flatMap((method) => namesOf(method).map((name) => [name, method] as const)),
  )
  const methods = parts.methods.filter((method) => parts.permits(method))
  const open = new Set(methods)

  const load = parts.load ?? new Load(options)
  const hint = createPresetHints(options, logger)
  const listeners = new Set<OnCall>()
  if (parts.onCall !== undefined) listeners.add(parts.onCall)
  let counting: CallMeter | undefined
  function meter(): CallMeter {
    if (counting === undefined) {
      counting = new CallMeter(methods)
      listeners.add(counting.count)
    }
    return counting
  }
  const usage = () => meter().figures()
  const ofNode = { options, methods, filters, logTexts: createLogTexts(), subscriptions, usage }
  const deadlineOf = createDeadlines(options, parts.methods)
  const write = createReplyWriter(options.maxResponseBytes, logger)

  /** Why a call on a fork may be late. */
  const upstreamDelay = () => node.engine.fork?.remote.delay()

  /** May a caller know of this method: does its key open it, and can its transport serve it? */
  function isOpenTo(method: AnyMethod, session: Session): boolean {
    return session.allows(method) && !(method.notifies && session.notify === undefined)
  }

  /** Finds and checks a method. */
  function find(name: string, session: Session): AnyMethod {
    const method = known.get(name)
    const namesOpen = () => methods.filter((one) => isOpenTo(one, session)).flatMap(namesOf)
    if (method === undefined) throw unknownMethod(name, namesOpen, options.preset)
    if (!open.has(method)) {
      const elsewhere = method.presets?.includes(options.preset) === false
      if (elsewhere && !session.allows(method)) throw unknownMethod(name, namesOpen, options.preset)
      const how = elsewhere ? `: it is open under --preset ${method.presets?.join(' or ')}` : ''
      throw new NodeError('method-not-found', `the method ${name} does not exist/is not available${how}`)
    }
    // Any other is refused like one that does not exist.
    if (!isOpenTo(method, session)) throw unknownMethod(name, namesOpen, options.preset)
    return method
  }

  /** Adds an answer to the score of a caller on another machine. */
  function score(name: string, error: unknown, { remote }: Session): void {
    if (remote === undefined) return
    const event = eventOf(known.get(name)?.counts, error)
    if (event !== undefined) node.engine.peers.recordEvent(remote, event)
  }

  /** Runs a method that only reads; a promise, or the result itself. */
  function read(
    method: AnyMethod,
    params: unknown,
    session: Session,
    deadline: number,
    place: Place | undefined,
  ): unknown {
    const given = positional(params)
    return node.use((engine) => {
      const context = { engine, ...ofNode, session, deadline }
      const { fork } = engine
      if (fork === undefined) return method.call(given, context)
      return fork.demand.query(() => method.call(given, context), place?.pause)
    })
  }

  /** Runs a method that changes something: its commands run for this call. */
  function change(
    method: AnyMethod,
    params: unknown,
    session: Session,
    deadline: number,
    signal: AbortSignal | undefined,
  ): unknown {
    const given = positional(params)
    const call = new Call({ deadline, isGone: () => session.isGone?.() === true, signal })
    const replace = parts.forkAnew
    const forkAnew = replace && ((choice: ForkChoice) => replace(choice, call))
    return node.use((current) => {
      const engine = current.forCall(call)
      const context = { engine, forkAnew, ...ofNode, session, deadline }
      const { fork } = engine
      // What a fork must fetch first is fetched, and the call runs again: nothing has happened before it was missed.
      return fork === undefined
        ? method.call(given, context)
        : fork.demand.restart(async () => method.call(given, context))
    })
  }

  function report(name: string, started: number, error: unknown, session: Session): void {
    // A listener that was added during this call receives later ones only.
    if (started === 0) return
    const milliseconds = performance.now() - started
    for (const listener of listeners) listener(name, milliseconds, error, session)
  }

  /** Runs a method within its limits; the result, or a promise of it. Throws, or rejects with, what the call is refused by. */
  function run(
    name: string,
    params: unknown,
    session: Session,
    requestDeadline: number,
    isBounded: boolean,
    signal?: AbortSignal,
  ): unknown {
    const started = listeners.size === 0 ? 0 : performance.now()
    let place: Place | undefined
    let work: unknown

    function succeed(result: unknown): unknown {
      place?.leave()
      score(name, undefined, session)
      report(name, started, undefined, session)
      return result
    }

    function fail(error: unknown): never {
      // Work that ran out of time goes on until its next check, and keeps its place until then.
      if (place !== undefined && work instanceof Promise) work.then(place.leave, place.leave)
      else place?.leave()
      if (!(error instanceof NodeError)) {
        const { label, requestId } = session
        logger.error(`${name} failed unexpectedly`, { error, session: label, request: requestId })
      }
      score(name, error, session)
      hint(name, error, session)
      report(name, started, error, session)
      throw error
    }

    function begin(method: AnyMethod, deadline: number): unknown {
      const forwarded = route?.(method, name, params, session, deadline, signal)
      // What changes something is answered by what it did: its deadline ends its wait for its place, and nothing else.
      if (method.changesState) work = forwarded ?? change(method, params, session, deadline, signal)
      else {
        work = forwarded ?? read(method, params, session, deadline, place)
        if (work instanceof Promise) return within(work, deadline, upstreamDelay)
      }
      return work
    }

    let outcome: unknown
    try {
      const method = find(name, session)
      const deadline = deadlineOf(method, requestDeadline)
      if (method.heavy && isBounded) place = load.takePlace(session)
      outcome =
        place?.ready === undefined
          ? begin(method, deadline)
          : within(place.ready, deadline, upstreamDelay).then(() => begin(method, deadline))
    } catch (error) {
      return fail(error)
    }
    return andThen(outcome, succeed, fail)
  }

  function answerOne(request: unknown, session: Session, deadline: number): MaybePromise<Reply | undefined> {
    if (!isObject(request)) return refusal(INVALID_REQUEST)
    const { id, method: name } = request
    if (id !== undefined && !isId(id)) return refusal(INVALID_REQUEST)
    if (typeof name !== 'string') return refusal(INVALID_REQUEST, id)
    // The reference node does not check this member, and echoes it.
    const jsonrpc = typeof request.jsonrpc === 'string' ? request.jsonrpc : '2.0'
    const badId = id === undefined ? undefined : idRefusal(name, id, session)
    if (badId !== undefined) return refusal(badId, id)
    const succeed = (result: unknown): Reply | undefined =>
      id === undefined ? undefined : { jsonrpc, id, result: result === undefined ? null : result }
    const fail = (error: unknown): Reply | undefined =>
      id === undefined ? undefined : refusal(error, id, known.has(name) ? jsonrpc : '2.0', options.dialect)
    let outcome: unknown
    try {
      outcome = run(name, request.params, session, deadline, true)
    } catch (error) {
      return fail(error)
    }
    return andThen(outcome, succeed, fail)
  }

  async function answerBatch(
    batch: readonly unknown[],
    session: Session,
    deadline: number,
  ): Promise<Replies | undefined> {
    const replies: (Reply | Replies)[] = []
    let raw = 0
    for (const entry of batch) {
      const reply =
        Array.isArray(entry) && entry.length > 0
          ? await answerBatch(entry, session, deadline)
          : await answerOne(entry, session, deadline)
      if (reply === undefined) continue
      raw += rawLength(reply)
      replies.push(raw <= options.maxTraceAnswer ? reply : tooMuchRaw(reply, options.maxTraceAnswer))
    }
    return replies.length === 0 ? undefined : replies
  }

  const requestDeadline = () => (options.rpcTimeoutMs === 0 ? 0 : Date.now() + options.rpcTimeoutMs)

  function noteOverload(reply: Reply | undefined, session: Session): Reply | undefined {
    if (reply !== undefined && 'error' in reply && reply.error.code === ERROR_CODES.overloaded) {
      session.shed?.(RETRY_SECONDS)
    }
    return reply
  }

  function dispatch(message: unknown, session: Session): MaybePromise<Reply | Replies | undefined> {
    const full = load.enter()
    if (full !== undefined) {
      session.shed?.(RETRY_SECONDS)
      return refusal(full, idOf(message))
    }
    if (session.charge !== undefined || (Array.isArray(message) && message.length > 0)) {
      return answer(message, session)
    }
    const end = (reply: Reply | undefined) => {
      load.leave()
      return noteOverload(reply, session)
    }
    const reply = answerOne(message, session, requestDeadline())
    return andThen(reply, end)
  }

  /** Answers a batch that was accepted, or a call that is charged first. */
  async function answer(message: unknown, session: Session): Promise<Reply | Replies | undefined> {
    try {
      const deadline = requestDeadline()
      const isBatch = Array.isArray(message) && message.length > 0
      const calls = isBatch ? countRequests(message, options.maxDepth) : 1
      if (calls > options.maxBatch) {
        const detail = `${options.maxBatch} is the max number of supported batch requests`
        throw new NodeError('invalid-request', `Cannot dispatch batch requests. ${detail}`)
      }
      if (session.charge !== undefined) {
        const unpaid = await session.charge(calls)
        if (unpaid !== undefined) return refusal(unpaid, idOf(message))
      }
      if (isBatch) return await answerBatch(message, session, deadline)
      return noteOverload(await answerOne(message, session, deadline), session)
    } catch (error) {
      return refuseWhole(error, session)
    } finally {
      load.leave()
    }
  }

  /** Refuses a message before anything of it runs; it is charged as one call. */
  async function refuseWhole(error: unknown, session: Session): Promise<Reply> {
    score('', error, session)
    return refusal((await session.charge?.(1)) ?? error)
  }

  const refuseText = async (error: NodeError, session: Session) =>
    JSON.stringify(await refuseWhole(error, session))

  /** Answers a message as text. */
  function answerText(text: string, session: Session): MaybePromise<string | RawJson | undefined> {
    if (isTooDeep(text, options.maxDepth)) return refuseText(TOO_DEEP, session)
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch {
      return refuseText(PARSE_ERROR, session)
    }
    if (hasInexactId(message)) restoreIds(message, text)
    const written = (reply: Reply | Replies | undefined) => (reply === undefined ? undefined : write(reply))
    const reply = dispatch(message, session)
    return andThen(reply, written)
  }

  return {
    methods,
    load,
    position: parts.position,
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    meter,
    dispatch: async (message, session) => dispatch(message, session),
    async dispatchText(text, session) {
      return (await answerText(text, session))?.toString()
    },
    dispatchPieces: answerText,
    async request(name, params, session, { signal, deadline = requestDeadline() } = {}) {
      try {
        const result = await run(name, params, session, deadline, false, signal)
        return result instanceof RawJson ? result.toJSON() : result
      } catch (error) {
        throw error instanceof NodeError ? error : new NodeError('internal', 'Internal server error')
      }
    },
  }
}
