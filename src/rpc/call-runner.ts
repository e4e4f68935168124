/** Runs single calls: permission, deadline, slot for heavy calls, engine, score, report. */
import type { ChaosSwitch } from '../chaos/switch.ts'
import { Call } from '../engine/call.ts'
import type { Engine, ForkChoice } from '../engine/engine.ts'
import type { CurrentEngine } from '../engine/engine-holder.ts'
import type { ForkAnew } from '../engine/fork/open-upstream.ts'
import type { RandomBytes } from '../engine/randomness.ts'
import { NodeError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { Peg } from '../peg/peg.ts'
import type { CallListeners } from './call-listeners.ts'
import { UNKNOWN } from './call-meter.ts'
import type { CallObserver } from './call-observer.ts'
import type { Route } from './cluster-routes.ts'
import { createDeadlines, type DeadlineOf, within } from './deadlines.ts'
import { positional } from './envelope.ts'
import { CallBundles } from './feeds/call-bundles.ts'
import { ConsoleHistory } from './feeds/console-history.ts'
import { DebugSessions } from './feeds/debug-sessions.ts'
import { Filters } from './feeds/filters.ts'
import { Subscriptions } from './feeds/subscriptions.ts'
import type { Load, Place } from './load.ts'
import type { AnyMethod, Context } from './method.ts'
import type { MethodTable } from './method-table.ts'
import { eventOf } from './peer-scoring.ts'
import { createPresetHints, type PresetHints } from './preset-hints.ts'
import type { RpcOptions } from './rpc-options.ts'
import type { Session } from './session.ts'
import { createLogTexts } from './wire/log.ts'

/** A requested call. Times are milliseconds since 1970; 0 is no limit. */
export interface CallRequest {
  readonly name: string
  readonly params: unknown
  readonly session: Session
  /** Until when the whole request may run. */
  readonly requestDeadline: number
  /** Ends a call that changes something, as the disconnection of its caller does. */
  readonly signal?: AbortSignal | undefined
}

/** A call that runs. */
interface Running extends CallRequest {
  /** When it started, for its report. */
  readonly started: number
  /** The slot of a heavy call. */
  place: Place | undefined
  /** What its method returned, once it has been called. */
  work: unknown
}

/** The dependencies of calls. */
export interface CallRunnerParts {
  readonly table: MethodTable
  readonly methods: readonly AnyMethod[]
  readonly node: CurrentEngine
  readonly forkAnew?: ForkAnew | undefined
  readonly options: RpcOptions
  readonly logger: Logger
  readonly elapsed?: (() => number) | undefined
  readonly random: RandomBytes
  readonly load: Load
  readonly listeners: CallListeners
  readonly route?: Route | undefined
  readonly peg?: Peg | undefined
  /** Whether calls are disturbed; absent where they cannot be. */
  readonly chaos?: ChaosSwitch | undefined
  /** Observes calls; absent where nothing does. */
  readonly observer?: CallObserver | undefined
}

type SharedContext = Omit<Context, 'engine' | 'session' | 'deadline' | 'forkAnew'>

/** Runs the calls of one node. */
export class CallRunner {
  readonly #parts: CallRunnerParts
  readonly #shared: SharedContext
  readonly #deadlineOf: DeadlineOf
  readonly #hint: PresetHints
  /** Why a call on a fork may be late. */
  readonly #upstreamDelay = (): NodeError | undefined => this.#parts.node.engine.fork?.remote.delay()

  constructor(parts: CallRunnerParts) {
    const { table, node, options, logger, random, listeners, elapsed = () => performance.now() } = parts
    this.#parts = parts
    this.#shared = {
      peg: parts.peg,
      chaos: parts.chaos,
      options,
      methods: table.open,
      filters: new Filters({ node, options, elapsed, random }),
      logTexts: createLogTexts(options.dialect),
      subscriptions: new Subscriptions({ node, options, logger, random, chaos: parts.chaos }),
      consoleHistory: new ConsoleHistory(node, elapsed),
      debugSessions: new DebugSessions({ node, elapsed, random }),
      bundles: new CallBundles(),
      usage: () => listeners.figures(),
    }
    this.#deadlineOf = createDeadlines(options, parts.methods)
    this.#hint = createPresetHints(options, logger)
  }

  /**
   * Runs a call; returns the result, or a promise of it. Throws, or rejects with, the refusal of the call. `isBounded`: a
   * heavy call waits for its slot.
   */
  run(request: CallRequest, isBounded: boolean): unknown {
    const { observer, table } = this.#parts
    if (observer === undefined) return this.#runDisturbed(request, isBounded)
    // Callers may send any number of names.
    const name = table.get(request.name)?.name ?? UNKNOWN
    return observer.call(name, () => this.#runDisturbed(request, isBounded))
  }

  #runDisturbed(request: CallRequest, isBounded: boolean): unknown {
    const chaos = this.#parts.chaos?.current
    if (chaos?.touches(request.name, request.session) !== true) return this.#run(request, isBounded)
    return chaos.call(request, (params) => this.#run({ ...request, params }, isBounded))
  }

  #run(request: CallRequest, isBounded: boolean): unknown {
    const { name, params, session, requestDeadline, signal } = request
    const started = this.#parts.listeners.start()
    const running = {
      name,
      params,
      session,
      requestDeadline,
      signal,
      started,
      place: undefined,
      work: undefined,
    }
    let outcome: unknown
    try {
      outcome = this.#begin(running, isBounded)
    } catch (error) {
      return this.#refuse(running, error)
    }
    return outcome instanceof Promise
      ? outcome.then(
          (result) => this.#succeed(running, result),
          (error) => this.#refuse(running, error),
        )
      : this.#succeed(running, outcome)
  }

  /** Finds the method of a call and starts it once it has its slot. */
  #begin(running: Running, isBounded: boolean): unknown {
    const { table, load } = this.#parts
    const { name, session, requestDeadline } = running
    const method = table.find(name, session)
    const deadline = this.#deadlineOf(method, requestDeadline)
    if (!method.heavy || !isBounded) return this.#start(running, method, deadline)
    const place = load.takePlace(session)
    running.place = place
    if (place.ready === undefined) return this.#start(running, method, deadline)
    const { ready } = place
    const wait = () => within(ready, deadline, this.#upstreamDelay)
    const waited = this.#parts.observer?.slot(wait) ?? wait()
    return waited.then(() => this.#start(running, method, deadline))
  }

  #start(running: Running, method: AnyMethod, deadline: number): unknown {
    const work = this.#parts.route?.(method, running, deadline) ?? this.#call(running, method, deadline)
    running.work = work
    // A change is always answered by its outcome: its deadline only limits the wait for its slot.
    if (method.changesState || !(work instanceof Promise)) return work
    return within(work, deadline, this.#upstreamDelay)
  }

  #call(running: Running, method: AnyMethod, deadline: number): unknown {
    return method.changesState
      ? this.#change(running, method, deadline)
      : this.#read(running, method, deadline)
  }

  /** Runs a method that only reads. */
  #read({ params, session, place }: Running, method: AnyMethod, deadline: number): unknown {
    const given = positional(params)
    return this.#parts.node.use((engine) => {
      const context = this.#context(engine, session, deadline)
      const { fork } = engine
      if (fork === undefined) return method.call(given, context)
      return fork.demand.query(() => method.call(given, context), { onWait: place?.pause, deadline })
    })
  }

  /** Runs a method that changes something: its commands run for this call. */
  #change({ params, session, signal }: Running, method: AnyMethod, deadline: number): unknown {
    const given = positional(params)
    const { node, forkAnew: replace, observer } = this.#parts
    const isGone = () => session.isGone?.() === true
    const call = new Call({ deadline, isGone, signal, observer: observer?.command })
    const forkAnew = replace && ((choice: ForkChoice | 'none') => replace(choice, call))
    return node.use((current) => {
      const engine = current.forCall(call)
      const context = this.#context(engine, session, deadline, forkAnew)
      const { fork } = engine
      // Data missing from a fork is fetched and the call runs again: nothing was changed before the data was found missing.
      return fork === undefined
        ? method.call(given, context)
        : fork.demand.restart(async () => method.call(given, context))
    })
  }

  /** Each member by its name: a spread of those that all calls share is copied by a slow path of V8. */
  #context(engine: Engine, session: Session, deadline: number, forkAnew?: Context['forkAnew']): Context {
    const {
      peg,
      chaos,
      options,
      methods,
      filters,
      logTexts,
      subscriptions,
      consoleHistory,
      debugSessions,
      bundles,
      usage,
    } = this.#shared
    return {
      engine,
      forkAnew,
      peg,
      chaos,
      options,
      methods,
      session,
      filters,
      logTexts,
      deadline,
      subscriptions,
      consoleHistory,
      debugSessions,
      bundles,
      usage,
    }
  }

  #succeed({ name, session, started, place }: Running, result: unknown): unknown {
    place?.leave()
    this.#score(name, undefined, session)
    this.#parts.listeners.report(name, started, undefined, session)
    return result
  }

  /** Fails a call; where code failed and its stack is asked for, after that was looked up. */
  #refuse(running: Running, error: unknown): Promise<never> {
    const isAskedFor = this.#parts.options.stackTraces !== 'off' || running.session.explains === true
    if (!isAskedFor || !(error instanceof NodeError) || error.failure === undefined) {
      return this.#fail(running, error)
    }
    return this.#explain(error).then(() => this.#fail(running, error))
  }

  /** Puts the stack of failed code into its error. Never rejects: without a stack the error is what it was. */
  async #explain(error: NodeError): Promise<void> {
    const { node, logger } = this.#parts
    try {
      const found = await node.use((engine) => {
        const explain = () => engine.stackTraces.ofError(error)
        return engine.fork === undefined ? explain() : engine.fork.demand.query(explain)
      })
      if (found.length > 0) error.stackTrace = found
    } catch (reason) {
      logger.debug('a failure has no stack trace', { error: reason })
    }
  }

  #fail({ name, session, started, place, work }: Running, error: unknown): never {
    // Work that exceeded its time continues until its next check, and keeps its slot until then.
    if (place !== undefined && work instanceof Promise) work.then(place.leave, place.leave)
    else place?.leave()
    if (!(error instanceof NodeError)) {
      const { label, requestId } = session
      this.#parts.logger.error(`${name} failed unexpectedly`, { error, session: label, request: requestId })
    }
    this.#score(name, error, session)
    this.#hint(name, error, session)
    this.#parts.listeners.report(name, started, error, session)
    throw error
  }

  /** Scores the refusal of a message before any method was called. */
  scoreMessage(error: unknown, session: Session): void {
    this.#score('', error, session)
  }

  /** Adds an answer to the score of a caller on another machine. */
  #score(name: string, error: unknown, { remote }: Session): void {
    if (remote === undefined) return
    const event = eventOf(this.#parts.table.get(name)?.counts, error)
    if (event !== undefined) this.#parts.node.engine.peers.recordEvent(remote, event)
  }
}
