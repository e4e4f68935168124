/** A debugger's place in an execution: it moves in both directions, and answers what is open and what variables hold there. */
import type { Hex } from '../encoding/hex.ts'
import { opcodeAt } from '../evm/code-analysis.ts'
import { CHAIN_RULES } from '../evm/rules.ts'
import type { FrameState } from './chapter.ts'
import { type EvaluationScope, evaluate } from './evaluate.ts'
import type { Execution } from './execution.ts'
import { failingStep } from './failing-step.ts'
import { type FrameAt, localValues, messageValues, stateOf, type VariableSources } from './frame-variables.ts'
import type { Statement } from './function-scope.ts'
import {
  type Breakpoints,
  type Direction,
  type Moved,
  type MoveKind,
  moved,
  type StopReason,
} from './moves.ts'
import { framesAround, type ShownFrame, shownFrame } from './shown-frames.ts'
import type { MappedCode, SourceSteps } from './source-steps.ts'
import type { Value } from './value.ts'

/** Where variables are. */
export type ScopeName = 'locals' | 'message' | 'state'

/** What a session is made of. */
export interface SessionParts {
  readonly execution: Execution
  readonly steps: SourceSteps
  /** The codes of the execution whose sources are known. */
  readonly codes: readonly MappedCode[]
}

/** What `continue` is to stop at. */
export interface BreakpointRequest {
  /** Lines from 1, by path. */
  readonly lines: ReadonlyMap<string, ReadonlySet<number>>
  /** First topics, or `true` for all events. */
  readonly events: true | ReadonlySet<Hex>
  readonly failures: boolean
}

/** A session. The states of some steps may not be kept: `isKept` tells, and `keep` takes a record that has them. */
export class DebugSession {
  readonly #parts: SessionParts
  /** Has the states around the step. */
  #states: Execution
  #step: number
  #reason: StopReason
  /** The states that were computed last. */
  #computed: { readonly step: number; readonly frames: readonly FrameState[] | undefined } | undefined

  /** Stands at the step at which the execution failed, or at the first statement. */
  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#states = parts.execution
    const failing = failingStep(parts.execution.root, parts.execution)
    this.#step = failing ?? (parts.steps.length > 0 ? parts.steps.stepAt(0) : 0)
    this.#reason = failing === undefined ? 'start' : 'failure'
  }

  get step(): number {
    return this.#step
  }

  get reason(): StopReason {
    return this.#reason
  }

  /** Steps of the execution. */
  get length(): number {
    return this.#parts.execution.length
  }

  /** Estimated memory, bytes. */
  get bytes(): number {
    const { execution } = this.#parts
    return execution.bytes + (this.#states === execution ? 0 : this.#states.bytes)
  }

  get execution(): Execution {
    return this.#parts.execution
  }

  /** The codes of the execution whose sources are known. */
  get codes(): readonly MappedCode[] {
    return this.#parts.codes
  }

  /** Are the states before the step, and around it, known? */
  get isKept(): boolean {
    return this.#states.isKept(this.#step)
  }

  /** Takes another record of the same execution, which has the states around the step. */
  keep(states: Execution): void {
    this.#states = states
    this.#computed = undefined
  }

  /** Moves. `pause` is called again and again, and a promise waited for. */
  async move(
    kind: MoveKind,
    direction: Direction,
    breakpoints: BreakpointRequest,
    pause: () => Promise<void> | undefined = () => undefined,
  ): Promise<Moved> {
    const search = moved(this.#parts, this.#step, kind, direction, this.#breakpoints(breakpoints))
    let at = search.next()
    while (at.done !== true) {
      await pause()
      at = search.next()
    }
    this.#step = at.value.step
    this.#reason = at.value.reason
    return at.value
  }

  /** Moves to a step; beyond the ends to the nearest one. */
  goTo(step: number): void {
    this.#step = Math.max(0, Math.min(step, this.length - 1))
    this.#reason = 'step'
  }

  #breakpoints({ lines, events, failures }: BreakpointRequest): Breakpoints {
    const { execution } = this.#parts
    const isWanted = (topic: Hex | undefined): boolean =>
      events === true || (topic !== undefined && events.has(topic))
    return {
      isAt: ({ file, line }: Statement) => lines.get(file.path)?.has(line) === true,
      events: execution.events.filter(({ log }) => isWanted(log.topics[0])).map(({ step }) => step),
      failures: failures ? execution.failures : [],
    }
  }

  /** The open frames, innermost first. */
  frames(): readonly FrameAt[] {
    return framesAround(this.#parts.steps, this.#step)
  }

  /** The open frames as they are shown. */
  stack(): readonly ShownFrame[] {
    return this.frames().map((at) => shownFrame(at, this.#parts.execution))
  }

  /** The variables of a frame, counted from the innermost one; `undefined` where they are not known. Reads the state, which may throw. */
  variables(frame: number, scope: ScopeName): readonly Value[] | undefined {
    const at = this.frames()[frame]
    if (at === undefined) return undefined
    if (scope === 'locals') return localValues(at, this.#sources)
    return scope === 'message' ? messageValues(at, this.#sources) : stateOf(at, this.#sources)
  }

  /** The value of an expression in a frame: variables, members, elements. Throws a `VariableError`. Reads the state, which may throw. */
  evaluate(frame: number, expression: string): Value {
    // An expression may have hundreds of keys that are variables.
    const read = new Map<ScopeName, readonly Value[] | undefined>()
    const scope: EvaluationScope = (name) => {
      for (const one of ['locals', 'message', 'state'] as const) {
        if (!read.has(one)) read.set(one, this.variables(frame, one))
        const found = read.get(one)?.findLast((value) => value.name === name)
        if (found !== undefined) return found
      }
      return undefined
    }
    return evaluate(expression, scope)
  }

  /** The machine's state of a frame, counted from the innermost one; `undefined` where it is not kept. */
  machine(frame: number): FrameState | undefined {
    const at = this.frames()[frame]
    return this.#framesNow()?.find(({ message }) => message.depth === at?.frame.message.depth)
  }

  /** The name of the opcode that a frame runs next; its two hex digits where it has none. */
  opcodeOf({ message, pc }: FrameState): string {
    const opcode = opcodeAt(message.code ?? new Uint8Array(0), pc)
    return CHAIN_RULES.opcodes[opcode]?.name ?? `0x${opcode.toString(16)}`
  }

  /** Gas left before the step; `undefined` where it is not kept. */
  get gas(): number | undefined {
    return this.#states.gas(this.#step)
  }

  /** The slots that the execution touches of the contract of a frame, with what they hold before the step. */
  storage(frame: number): ReadonlyMap<bigint, bigint> {
    const { execution } = this.#parts
    const at = this.frames()[frame]
    const address = at && execution.parties(at.frame.message)?.address
    if (address === undefined) return new Map()
    return new Map(
      execution.touchedSlots(address).map((slot) => [slot, execution.storage(address, slot, this.#step)]),
    )
  }

  #framesNow(): readonly FrameState[] | undefined {
    if (this.#computed?.step !== this.#step) {
      this.#computed = { step: this.#step, frames: this.#states.frames(this.#step) }
    }
    return this.#computed.frames
  }

  get #sources(): VariableSources {
    const { execution, steps } = this.#parts
    const framesAt = (step: number) => (step === this.#step ? this.#framesNow() : this.#states.frames(step))
    return { execution, steps, now: this.#step, framesAt }
  }
}
