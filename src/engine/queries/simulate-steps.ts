/** Steps on the state of a block, each on the state that the one before it left, with all that they would change; nothing is written. */
import { LATEST_TIMESTAMP } from '../../chain/config.ts'
import type { Log } from '../../chain/receipt.ts'
import { TYPE } from '../../chain/transaction-types.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams, NodeError } from '../../errors.ts'
import type { Failure } from '../../evm/failure-message.ts'
import type { BlockEnvironment } from '../../evm/message.ts'
import type { CallFrame } from '../../evm/tracing/call-frame.ts'
import { CallTracer } from '../../evm/tracing/call-tracer.ts'
import { type FrameEffect, frameEffects } from '../../evm/tracing/frame-effects.ts'
import { muxTracers } from '../../evm/tracing/mux-tracer.ts'
import { PrestateTracer } from '../../evm/tracing/prestate-tracer.ts'
import { TraceBudget } from '../../evm/tracing/trace-budget.ts'
import type { Tracer } from '../../evm/tracing/tracer.ts'
import { type AccountChange, accountChanges } from '../../execution/account-changes.ts'
import { assetChanges } from '../../execution/asset-changes.ts'
import { messageCall } from '../../execution/message-call.ts'
import { applyOverrides } from '../../execution/overrides.ts'
import type { CallRequest, StateOverrides } from '../../execution/request.ts'
import { applySimulated, refusalIn, type SimulatedCall } from '../../execution/simulated-transaction.ts'
import { type KnownAssets, knownAssets, QUESTION_GAS } from '../../execution/token-facts.ts'
import { applyChanges } from '../../state/apply-changes.ts'
import type { StateReader } from '../../state/model.ts'
import { Overlay } from '../../state/overlay.ts'
import { createEventLoopYield, type EventLoopYield } from '../event-loop.ts'
import type { HeaderOverrides } from '../model.ts'
import type { NameFailure } from '../transaction-notes.ts'
import type { SequencePlace } from './call-sequence.ts'
import { type PlaceParts, raisedGasCap, type SequenceStart, sequenceStart } from './simulation-place.ts'

/** Estimated memory of a changed account or slot, bytes. */
const CHANGE_BYTES = 256

/** A later block; absent members add nothing. */
export interface Warp {
  readonly seconds?: number
  readonly blocks?: number
  /** The timestamp, Unix seconds, in place of `seconds`. */
  readonly time?: number
}

/**
 * `block`: the rules for transactions of the block. `message`: any nonce and price, no price unless given, and the gas of a
 * whole block, as for the calls of `callMany`.
 */
export type SendRules = 'block' | 'message'

/** One step. */
export type SimulationStep =
  /** A message as in `eth_call`, without nonce and fee, whose writes later steps find. */
  | { readonly kind: 'call'; readonly request: CallRequest }
  /** The same as a transaction of the block, by its rules unless others are given; without a price, at the block's minimum. */
  | { readonly kind: 'send'; readonly request: SimulatedCall; readonly rules?: SendRules }
  | { readonly kind: 'set'; readonly overrides: StateOverrides }
  | { readonly kind: 'warp'; readonly warp: Warp }

/** Where a step ran. */
export interface StepBlock {
  readonly number: number
  /** Unix seconds. */
  readonly timestamp: number
}

/** What a message did. */
export interface ExecutedStep extends KnownAssets {
  readonly kind: 'call' | 'send'
  /** Of its transaction (`chain/transaction-types.ts`). */
  readonly type: number
  readonly block: StepBlock
  readonly succeeded: boolean
  /** Why it failed; `output` is absent where it could not run at all. */
  readonly failure?: Pick<Failure, 'reason'> & Partial<Pick<Failure, 'output'>>
  readonly output: Uint8Array
  /** Intrinsic gas included, refund deducted. */
  readonly gasUsed: bigint
  /** What the sender paid for gas, wei; 0 of a call. */
  readonly fee: bigint
  /** The contract that it created. */
  readonly created?: Hex
  /** Absent where it could not run. */
  readonly root?: CallFrame
  readonly logs: readonly Log[]
  readonly changes: readonly AccountChange[]
  /** The states around it, which later steps do not change. */
  readonly before: StateReader
  readonly after: StateReader
}

/** The result of a step. */
export type StepResult = ExecutedStep | { readonly kind: 'set' | 'warp'; readonly block: StepBlock }

/** Simulated steps. */
export interface StepSimulations {
  /**
   * Runs the steps; the overrides are made before the first. A message that fails, or cannot run, ends nothing. Throws
   * `block-not-found`, `invalid-params` for overrides that cannot be made and for a time that goes back, naming the step,
   * `limit-exceeded` at the limits of time and memory.
   */
  simulateSteps(
    place: SequencePlace,
    steps: readonly SimulationStep[],
    tracerOf?: StepTracerOf,
  ): Promise<readonly StepResult[]>
}

/** A further tracer for the step at an index, if any. */
export type StepTracerOf = (index: number) => Tracer | undefined

interface Parts extends PlaceParts {
  /** Gas of a call without gas; requests with more are reduced to it. */
  readonly callGasCap: bigint
  readonly headerOverrides: () => HeaderOverrides
  readonly maxTraceBytes: number
  /** Time limit of simulations without one of their own, milliseconds; 0 is no limit. */
  readonly timeoutMs: number
  readonly nameFailure: NameFailure
}

/** The step simulations of a node. */
export class StateStepSimulations implements StepSimulations {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async simulateSteps(
    place: SequencePlace,
    steps: readonly SimulationStep[],
    tracerOf?: StepTracerOf,
  ): Promise<readonly StepResult[]> {
    const run = new StepRun(this.#parts, await sequenceStart(this.#parts, place.reference, place))
    const done: StepResult[] = []
    for (const [index, step] of steps.entries())
      done.push(await run.append(step, `simulation.steps[${index}]`, tracerOf?.(index)))
    return done
  }
}

/** The result of a message, before its effects are read. */
interface Outcome {
  readonly failure?: Failure | undefined
  readonly output: Uint8Array
  /** Wei. */
  readonly fee: bigint
}

/** One simulation: the state and the block that its steps have led to. */
class StepRun {
  readonly #parts: Parts
  readonly #end: number
  readonly #gasCap: bigint
  readonly #budget: TraceBudget
  readonly #yieldIfDue: EventLoopYield = createEventLoopYield('query')
  /** Each step has an overlay of its own, so that the states between them stay readable. */
  #state: StateReader
  #env: BlockEnvironment
  /** Gas that transactions of the block have used. */
  #gasUsed = 0n
  #destroyed = new Set<Hex>()

  constructor(parts: Parts, { state, env, end }: SequenceStart) {
    this.#parts = parts
    this.#state = state
    this.#env = env
    this.#end = end
    this.#gasCap = raisedGasCap(parts.callGasCap, parts.headerOverrides())
    this.#budget = new TraceBudget(parts.maxTraceBytes)
  }

  /** Runs the next step, under a further tracer if one is given; `path` names it. */
  async append(step: SimulationStep, path: string, watching?: Tracer): Promise<StepResult> {
    await this.#yieldIfDue()
    this.#requireTime()
    if (step.kind === 'set') this.#set(step.overrides, path)
    else if (step.kind === 'warp') this.#warp(step.warp, path)
    else return this.#execute(step, watching)
    return { kind: step.kind, block: this.#block() }
  }

  #requireTime(): void {
    if (performance.now() > this.#end) throw new NodeError('limit-exceeded', 'the simulation takes too long')
  }

  #block(): StepBlock {
    const { number, timestamp } = this.#env
    return { number, timestamp }
  }

  #set(overrides: StateOverrides, path: string): void {
    const state = new Overlay(this.#state)
    try {
      this.#env = applyOverrides(state, this.#env, overrides, this.#parts.vm)
    } catch (error) {
      // A refusal of variables begins with their path.
      if (!(error instanceof NodeError) || error.message.startsWith(`${path}.set.`)) throw error
      throw invalidParams(`${path}.set: ${error.message}`)
    }
    this.#state = state
  }

  #warp({ seconds = 0, blocks = 0, time }: Warp, path: string): void {
    const timestamp = time ?? this.#env.timestamp + seconds
    const number = this.#env.number + blocks
    const refuse = (member: keyof Warp, why: string): never => {
      throw invalidParams(`${path}.warp.${member}: ${why}`)
    }
    if (timestamp < this.#env.timestamp) {
      refuse('time', `${timestamp} is below ${this.#env.timestamp}, the timestamp of the previous step`)
    }
    if (timestamp > LATEST_TIMESTAMP) {
      refuse('seconds', `the timestamp would exceed the latest one, ${LATEST_TIMESTAMP}`)
    }
    if (!Number.isSafeInteger(number)) {
      refuse('blocks', `the block number would exceed ${Number.MAX_SAFE_INTEGER}`)
    }
    this.#env = { ...this.#env, number, timestamp }
    this.#gasUsed = 0n
    this.#destroyed = new Set()
  }

  async #execute(
    step: Extract<SimulationStep, { request: unknown }>,
    watching: Tracer | undefined,
  ): Promise<ExecutedStep> {
    const before = this.#state
    const after = new Overlay(before)
    const calls = new CallTracer(this.#budget)
    const touched = new PrestateTracer()
    const tracer = muxTracers(watching === undefined ? [calls, touched] : [calls, touched, watching])
    const { kind, request } = step
    const common = { kind, type: request.type ?? TYPE.legacy, block: this.#block(), before, after }
    let outcome: Outcome
    try {
      outcome = await (step.kind === 'call'
        ? this.#call(step.request, after, tracer)
        : this.#send(step, after, tracer))
    } catch (error) {
      return { ...common, ...couldNotRun(refusalIn(error)) }
    }
    this.#state = after
    const { root } = calls
    const effects = frameEffects(root)
    const isUndone = step.kind === 'call' && outcome.failure !== undefined
    return {
      ...common,
      succeeded: outcome.failure === undefined,
      output: outcome.output,
      ...(outcome.failure && { failure: this.#parts.nameFailure(outcome.failure, step.request.to ?? null) }),
      gasUsed: root.gasUsed,
      fee: outcome.fee,
      ...createdBy(root),
      root,
      logs: effects.flatMap((effect) => ('log' in effect ? [effect.log] : [])),
      ...(await this.#assetsOf(effects)),
      changes: isUndone ? [] : this.#counted(accountChanges(touched.touched)),
    }
  }

  async #call(request: CallRequest, state: Overlay, tracer: Tracer): Promise<Outcome> {
    const simulation = await messageCall({
      request,
      state,
      env: this.#env,
      vm: this.#parts.vm,
      gasCap: this.#gasCap,
      deadlineMs: this.#end - performance.now(),
      keepsNonce: true,
      tracer,
    })
    // What the message was given before it ran, such as a balance that it lacked, is taken back too.
    if (simulation.failure === undefined) applyChanges(state, simulation.after.changes())
    return { ...simulation, fee: 0n }
  }

  async #send(
    { request, rules = 'block' }: Extract<SimulationStep, { kind: 'send' }>,
    state: Overlay,
    tracer: Tracer,
  ): Promise<Outcome> {
    const { vm, config } = this.#parts
    const validation = rules === 'block'
    const { gasLimit, minimumGasPrice } = this.#env
    const { gas, gasPrice = validation ? minimumGasPrice : 0n } = request
    const isTooMuch = !validation && gas !== undefined && gas > gasLimit
    const { outcome } = await applySimulated({
      call: { ...request, gasPrice, ...(isTooMuch && { gas: gasLimit }) },
      state,
      env: this.#env,
      vm,
      chainId: config.chainId,
      gasAvailable: validation ? gasLimit - this.#gasUsed : gasLimit,
      gasCap: this.#gasCap,
      validation,
      gasPriceCap: config.gasPriceCapAt(this.#env.number),
      destroyedEarlier: this.#destroyed,
      tracer,
      deadlineMs: this.#end - performance.now(),
    })
    this.#gasUsed += outcome.gasUsed
    for (const address of outcome.destroyed) this.#destroyed.add(address)
    return outcome
  }

  /** The asset changes, and what their tokens answer on the state after them. */
  #assetsOf(effects: readonly FrameEffect[]): Promise<KnownAssets> {
    const assets = assetChanges(effects)
    this.#budget.take(CHANGE_BYTES * assets.length)
    return knownAssets(assets, (token, question) => this.#ask(token, question))
  }

  async #ask(token: Hex, data: Uint8Array): Promise<Uint8Array | undefined> {
    await this.#yieldIfDue()
    this.#requireTime()
    const { failure, output } = await messageCall({
      request: { to: token, data },
      state: this.#state,
      env: this.#env,
      vm: this.#parts.vm,
      gasCap: QUESTION_GAS,
      deadlineMs: this.#end - performance.now(),
    })
    return failure === undefined ? output : undefined
  }

  #counted(changes: readonly AccountChange[]): readonly AccountChange[] {
    for (const { storage } of changes) this.#budget.take(CHANGE_BYTES * (1 + storage.length))
    return changes
  }
}

/** The result of a message that was refused. */
function couldNotRun({ message }: NodeError) {
  return {
    succeeded: false,
    failure: { reason: message },
    output: EMPTY,
    gasUsed: 0n,
    fee: 0n,
    logs: [],
    assets: [],
    tokens: new Map(),
    changes: [],
  }
}

function createdBy({ kind, to, failure }: CallFrame): Pick<ExecutedStep, 'created'> {
  const isCreation = kind === 'create' || kind === 'create2'
  return isCreation && failure === undefined && to !== undefined ? { created: to } : {}
}
