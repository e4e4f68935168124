/** What the reference node's default tracer records: steps, storage, calls without code (docs/internals/protocol.md#9-traces). */
import type { Hex } from '../../encoding/hex.ts'
import { FAILURE } from '../failure.ts'
import { isCall } from '../opcodes/operation.ts'
import { CHAIN_RULES } from '../rules.ts'
import type { FrameFailure } from './call-frame.ts'
import { KnownSlots, type SlotWords } from './known-slots.ts'
import { CHARACTERS_PER_TICK, RunningStep } from './running-step.ts'
import type { StepSink } from './step.ts'
import type { FrameEnd, FrameStart, FrameView, TraceEnd, Tracer } from './tracer.ts'

/** Opcodes that the reference node names and refuses to run. */
const REFUSED_NAMES: Readonly<Record<number, string>> = {
  168: 'DUPN',
  169: 'SWAPN',
  170: 'TXINDEX',
  252: 'HEADER',
}

/** A transaction that ran code; its steps went to the sink. */
export interface ProgramTrace {
  readonly contract: Hex | undefined
  /** The contract's slots, before its first step and as known at its last one (`KnownSlots`). */
  readonly initialStorage: SlotWords
  readonly finalStorage: SlotWords
  readonly storageSize: number
  readonly output: Uint8Array
  /** Of the transaction, gas. */
  readonly gasLimit: bigint
  readonly failure: FrameFailure | undefined
}

/** A transaction that ran no code, and the calls inside it (REMASC pays with such). */
export interface TransferTrace {
  readonly transfer: FrameStart
  readonly calls: readonly FrameStart[]
}

interface OpenFrame {
  readonly frame: FrameView
  /** `undefined` where they are not wanted. */
  readonly slots: KnownSlots | undefined
}

const NO_SLOTS: SlotWords = new Map()
const NOWHERE = Number.POSITIVE_INFINITY

/**
 * Records one transaction. As on the reference node:
 * - Steps below a creation by a contract are not recorded.
 * - The cost of an opcode goes to the last step recorded when it ends: that of a call to the callee's last step if the
 *   callee ran code, and the call itself shows 0. The STOP behind the end of the code is no step; its cost of 0 goes to
 *   the step before. An opcode that fails shows 0.
 */
export class RskTracer implements Tracer {
  readonly #sink: StepSink
  readonly #listsStorage: boolean
  /** Frames whose steps are recorded, by depth. */
  readonly #frames: OpenFrame[] = []
  /** Cost of the last call opcode, by depth. */
  readonly #callCosts: number[] = []
  /** The last step; its cost may still change while `#isOpen`. */
  #step: RunningStep | undefined
  #isOpen = false
  /** Does the opcode that runs stand behind the end of the code? */
  #isBehindCode = false
  #initial = NO_SLOTS
  readonly #calls: FrameStart[] = []
  #top: FrameStart | undefined
  #failure: FrameFailure | undefined
  #end: TraceEnd | undefined
  #depth = 0
  /** Depth of the creation whose steps are not recorded. */
  #hiddenFrom = NOWHERE

  /** `listsStorage`: do the steps list slots? */
  constructor(sink: StepSink, listsStorage: boolean) {
    this.#sink = sink
    this.#listsStorage = listsStorage
  }

  /** Valid once the transaction is over. */
  get trace(): ProgramTrace | TransferTrace {
    const top = this.#top
    const end = this.#end
    if (top === undefined || end === undefined) throw new Error('nothing was traced')
    if (!top.runsCode) return { transfer: top, calls: this.#calls }
    const { frame, slots } = this.#frames[0] ?? {}
    return {
      contract: frame?.address,
      initialStorage: this.#initial,
      finalStorage: slots?.values ?? NO_SLOTS,
      storageSize: slots?.size ?? 0,
      output: end.output,
      gasLimit: end.gasLimit,
      failure: this.#failure,
    }
  }

  step(frame: FrameView, opcode: number): void {
    if (frame.depth >= this.#hiddenFrom) return
    this.#isBehindCode = frame.pc >= frame.code.length
    if (this.#isBehindCode) return
    this.#writeStep(frame.depth)
    this.#step ??= new RunningStep(frame)
    const step = this.#step
    const { slots } = this.#openFrame(frame)
    slots?.beforeStep(frame, opcode)
    step.begin(frame, opcode)
    step.name = CHAIN_RULES.opcodes[opcode]?.name ?? REFUSED_NAMES[opcode]
    step.slots = slots
    this.#sink.begin(step)
    this.#isOpen = true
  }

  stepped(frame: FrameView, cost: number, failure: string | undefined): void {
    const step = this.#step
    if (step === undefined || frame.depth >= this.#hiddenFrom) return
    if (failure === undefined || failure === FAILURE.REVERT) step.cost = this.#isBehindCode ? 0 : cost
    else if (!this.#isBehindCode) step.cost = 0
    const row = CHAIN_RULES.opcodes[step.opcode]
    if (row !== undefined && isCall(row)) this.#callCosts[frame.depth] = step.cost
  }

  enter(start: FrameStart): void {
    const depth = this.#depth++
    if (depth === 0) this.#top = start
    else if (this.#top?.runsCode === false) this.#calls.push(start)
    else if (start.to === undefined && depth < this.#hiddenFrom) this.#hiddenFrom = depth
  }

  exit({ failure }: FrameEnd): void {
    const depth = --this.#depth
    if (depth === 0) this.#failure = failure
    else if (depth === this.#hiddenFrom) this.#hiddenFrom = NOWHERE
    else if (depth < this.#hiddenFrom && this.#step !== undefined) {
      this.#step.cost = this.#callCosts[depth - 1] ?? 0
    }
  }

  finish(end: TraceEnd): void {
    this.#writeStep(0)
    this.#end = end
  }

  /** Passes the last step on; the next one is at `depth`. */
  #writeStep(depth: number): void {
    const step = this.#step
    if (step === undefined || !this.#isOpen) return
    if (step.frame.depth < depth) step.cost = 0
    this.#isOpen = false
    step.frame.countWork(this.#sink.end(step) / CHARACTERS_PER_TICK)
  }

  #openFrame(frame: FrameView): OpenFrame {
    const { depth } = frame
    const known = this.#frames[depth]
    if (known?.frame === frame) return known
    const slots = this.#listsStorage || depth === 0 ? new KnownSlots(frame) : undefined
    if (depth === 0 && slots !== undefined) this.#initial = new Map(slots.values)
    const opened = { frame, slots }
    this.#frames[depth] = opened
    this.#frames.length = depth + 1
    return opened
  }
}
