/** What the reference node's default tracer records: steps, the top contract's storage, calls without code. */
import type { Hex } from '../../encoding/hex.ts'
import type { FrameFailure } from './call-frame.ts'
import type { StepSink } from './step.ts'
import { StepRecorder } from './step-recorder.ts'
import type { FrameEnd, FrameStart, FrameView, TraceEnd, Tracer } from './tracer.ts'

/** Slots of the result at most. */
const MOST_SLOTS = 10_000

/** A transaction that ran code; its steps went to the sink. */
export interface ProgramTrace {
  /** `undefined` when a creation failed before it had an address. */
  readonly contract: Hex | undefined
  /** The contract's touched slots that were not zero, before and after. */
  readonly initialStorage: readonly (readonly [slot: bigint, value: bigint])[]
  readonly finalStorage: readonly (readonly [slot: bigint, value: bigint])[]
  readonly output: Uint8Array
  readonly failure: FrameFailure | undefined
}

/** A transaction that ran no code, and the calls inside it (REMASC pays with such). */
export interface TransferTrace {
  readonly transfer: FrameStart
  readonly calls: readonly FrameStart[]
}

const isSet = ([, value]: readonly [slot: bigint, value: bigint]): boolean => value !== 0n

/** Records one transaction. Slots that were not touched cannot be listed. */
export class RskTracer implements Tracer {
  readonly #steps: StepRecorder
  /** Values of the contract's slots when first touched. */
  readonly #initial = new Map<bigint, bigint>()
  #final: ProgramTrace['finalStorage'] = []
  readonly #calls: FrameStart[] = []
  #top: FrameStart | undefined
  #contract: Hex | undefined
  #failure: FrameFailure | undefined
  #end: TraceEnd | undefined
  #depth = 0

  constructor(sink: StepSink) {
    this.#steps = new StepRecorder({ sink, onSlot: (frame, slot) => this.#touch(frame, slot) })
  }

  /** Valid once the transaction is over. */
  get trace(): ProgramTrace | TransferTrace {
    const top = this.#top
    const end = this.#end
    if (top === undefined || end === undefined) throw new Error('nothing was traced')
    if (!top.runsCode) return { transfer: top, calls: this.#calls }
    return {
      contract: this.#contract,
      initialStorage: [...this.#initial].slice(0, MOST_SLOTS).filter(isSet),
      finalStorage: this.#final,
      output: end.output,
      failure: this.#failure,
    }
  }

  step(frame: FrameView, opcode: number): void {
    this.#steps.step(frame, opcode)
  }

  stepped(frame: FrameView, cost: number, failure: string | undefined): void {
    this.#steps.stepped(frame, cost, failure)
  }

  enter(start: FrameStart): void {
    if (this.#depth === 0) {
      this.#top = start
      this.#contract = start.to
    } else if (this.#top?.runsCode === false) {
      this.#calls.push(start)
    }
    this.#depth++
  }

  exit({ created, failure }: FrameEnd): void {
    this.#depth--
    if (this.#depth > 0) return
    this.#contract ??= created
    this.#failure = failure
  }

  finish(end: TraceEnd): void {
    this.#end = end
    const contract = this.#contract
    if (contract === undefined) return
    // Read now: `after` is the block's state, which later transactions change.
    const slots = [...this.#initial.keys()].slice(0, MOST_SLOTS)
    this.#final = slots.map((slot) => [slot, end.after.storage(contract, slot)] as const).filter(isSet)
  }

  #touch(frame: FrameView, slot: bigint): void {
    // The address of a creation is known from its first frame on.
    this.#contract ??= frame.depth === 0 ? frame.address : undefined
    if (frame.address !== this.#contract || this.#initial.has(slot)) return
    this.#initial.set(slot, frame.storageAt(slot))
  }
}
