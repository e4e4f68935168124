/** Opens transactions, calls and simulations in a debugger: each runs again under a recorder. */

import type { ExecutedBlock } from '../../chain/block.ts'
import { DebugSession } from '../../debugger/debug-session.ts'
import type { Execution } from '../../debugger/execution.ts'
import { ExecutionRecorder } from '../../debugger/execution-recorder.ts'
import { type MappedCode, readSourceSteps } from '../../debugger/source-steps.ts'
import { NodeError } from '../../errors.ts'
import { TraceBudget } from '../../evm/tracing/trace-budget.ts'
import type { CallRequest } from '../../execution/request.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import type { CodeMap } from '../../source-level/code-map.ts'
import type { RecordedMessage } from '../../source-level/message-recorder.ts'
import { type Demand, runOnce } from '../../state/fork/demand.ts'
import { createEventLoopYield, type EventLoopYield } from '../event-loop.ts'
import type { BlockReference, BlockView, SimulationOptions } from '../model.ts'
import type { SequencePlace } from '../queries/call-sequence.ts'
import type { Replays } from '../queries/replay.ts'
import type { Simulations } from '../queries/simulate.ts'
import type { SimulationStep, StepSimulations } from '../queries/simulate-steps.ts'
import type { CodeMaps } from './code-maps.ts'

/** Bytes that the record of a run may take beside its states. */
const RECORD_BYTES = 256 << 20
/** Bytes of the states of a session. */
const STATE_BYTES = 96 << 20

/** What is to be debugged. */
export type DebugTarget =
  | { readonly kind: 'transaction'; readonly block: ExecutedBlock; readonly index: number }
  | {
      readonly kind: 'call'
      readonly request: CallRequest
      readonly reference: BlockReference
      readonly options: SimulationOptions
    }
  /** The step at an index of a simulation. */
  | {
      readonly kind: 'simulation'
      readonly place: SequencePlace
      readonly steps: readonly SimulationStep[]
      readonly index: number
    }

/** A session, and what can run its execution again. */
export interface OpenDebugSession {
  readonly session: DebugSession
  /** Moves the session, and lets others run meanwhile. */
  move(...to: Parameters<DebugSession['move']>): Promise<unknown>
  /**
   * Runs the execution again where the states around the session's step are not kept. Throws as a replay does, and
   * `limit-exceeded` where the state that it ran on has changed.
   */
  settle(timeoutMs?: number): Promise<void>
  /** Reads of the session, also what the run did not: the work runs again where a fork has to fetch that. */
  read<T>(work: (session: DebugSession) => T): Promise<T>
  /** Lets go of the states that the session reads. */
  close(): void
}

/** A node's debugger. */
export interface Debugger {
  /**
   * Runs a target and opens it; `undefined` where none of its code ran, or the simulation has no such message. Throws as a
   * replay, a traced call or a simulation does, and `limit-exceeded` for an execution that is too long.
   */
  open(target: DebugTarget, timeoutMs?: number): Promise<OpenDebugSession | undefined>
}

interface Parts {
  readonly maps: CodeMaps
  readonly queries: Pick<Replays, 'replay'> &
    Pick<Simulations, 'traceCall'> &
    StepSimulations & {
      block(reference: BlockReference): MaybePromise<BlockView | undefined>
    }
  /** Absent without a fork. What is read of a state is kept, so that reads throw where something is missing, and start again. */
  readonly demand?: Pick<Demand, 'run' | 'restart'> | undefined
  /** Keeps states readable until the returned function is called. */
  holdStates(): (() => void) | undefined
  /** Bytes of the states of a session. */
  readonly stateBytes?: number
}

/** Why states that were not kept cannot be had. */
const stateChanged = () =>
  new NodeError(
    'limit-exceeded',
    'The states of this step are not kept, and the state that the execution ran on has changed since: open it again',
  )

/** The block that a call or a simulation runs on; `undefined` for a transaction, whose block stays. */
function referenceOf(target: DebugTarget): BlockReference | undefined {
  if (target.kind === 'transaction') return undefined
  return target.kind === 'call' ? target.reference : target.place.reference
}

/** The debugger of one engine. */
export class SourceDebugger implements Debugger {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async open(target: DebugTarget, timeoutMs?: number): Promise<OpenDebugSession | undefined> {
    const execution = await this.#run(target, undefined, timeoutMs)
    if (execution === undefined || execution.length === 0) return undefined
    const pause = createEventLoopYield('query')
    const mappedCode = await this.#mappedCodes(execution.root, pause)
    const steps = await readSourceSteps({
      execution,
      mappedCode: (message) => mappedCode.get(message),
      pause,
    })
    const session = new DebugSession({ execution, steps, codes: [...new Set(mappedCode.values())] })
    const before = await this.#stateOf(target)
    let release = this.#parts.holdStates()
    return {
      session,
      move: (kind, direction, breakpoints) => session.move(kind, direction, breakpoints, pause),
      settle: async (limitMs) => {
        if (session.isKept) return
        if ((await this.#stateOf(target)) !== before) throw stateChanged()
        const states = await this.#run(target, session.step, limitMs)
        if (states !== undefined) session.keep(states)
      },
      read: async (work) => {
        const { demand } = this.#parts
        return demand === undefined ? work(session) : demand.restart(async () => work(session))
      },
      close() {
        release?.()
        release = undefined
      },
    }
  }

  /** Root of the state that a call or a simulation runs on. */
  async #stateOf(target: DebugTarget): Promise<string | undefined> {
    const reference = referenceOf(target)
    return reference && (await this.#parts.queries.block(reference))?.executed.postState
  }

  /** Runs a target; the states around a step are kept, by default around the last one. */
  #run(target: DebugTarget, wanted: number | undefined, timeoutMs?: number): Promise<Execution | undefined> {
    const onDemand = this.#parts.demand?.run ?? runOnce
    return onDemand(() => this.#runOnce(target, wanted, timeoutMs))
  }

  async #runOnce(
    target: DebugTarget,
    wanted: number | undefined,
    timeoutMs: number | undefined,
  ): Promise<Execution | undefined> {
    const { queries } = this.#parts
    const recorder = new ExecutionRecorder({
      budget: new TraceBudget(RECORD_BYTES),
      chapterBytes: this.#parts.stateBytes ?? STATE_BYTES,
      wanted,
    })
    if (target.kind === 'transaction') {
      const { block, index } = target
      const tracerOf = (_: unknown, at: number) => (at === index ? recorder : undefined)
      await queries.replay(block, tracerOf, { lastIndex: index, timeoutMs })
    } else if (target.kind === 'call') {
      await queries.traceCall(target.request, target.reference, recorder, { ...target.options, timeoutMs })
    } else {
      const { place, steps, index } = target
      await queries.simulateSteps({ ...place, timeoutMs }, steps.slice(0, index + 1), (at) =>
        at === index ? recorder : undefined,
      )
    }
    return recorder.execution()
  }

  async #mappedCodes(
    root: RecordedMessage,
    pause: EventLoopYield,
  ): Promise<ReadonlyMap<RecordedMessage, MappedCode>> {
    const codeOf = await this.#parts.maps.of(root)
    const byCode = new Map<CodeMap, MappedCode | undefined>()
    const found = new Map<RecordedMessage, MappedCode>()
    const messages = [root]
    for (const message of messages) {
      await pause()
      const code = codeOf(message)
      if (code !== undefined && !byCode.has(code)) {
        const sources = await this.#parts.maps.debugSources(code.compilation)
        byCode.set(code, sources && { code, sources })
      }
      const mapped = code && byCode.get(code)
      if (mapped !== undefined) found.set(message, mapped)
      for (const { message: sent } of message.sent) messages.push(sent)
    }
    return found
  }
}
