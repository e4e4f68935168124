/** Passes the steps of a transaction to a sink while it runs, so that no list of them is built. */
import type { Hex } from '../../encoding/hex.ts'
import { SLOAD, SSTORE } from '../opcodes/storage.ts'
import { CHAIN_RULES } from '../rules.ts'
import { CHARACTERS_PER_TICK, RunningStep } from './running-step.ts'
import type { ListedSlots, StepSink } from './step.ts'
import type { FrameView, Tracer } from './tracer.ts'

/** What a recorder needs. */
export interface StepRecorderOptions {
  readonly sink: StepSink
  /** Steps to record at most; later ones run unrecorded. 0 is no limit. */
  readonly limit?: number
}

interface ContractSlots extends ListedSlots {
  readonly values: Map<bigint, bigint>
  version: number
}

/** Records steps; SLOAD and SSTORE list the slots that the transaction has touched. */
export class StepRecorder implements Pick<Tracer, 'step' | 'stepped'> {
  readonly #options: StepRecorderOptions
  readonly #limit: number
  readonly #slots = new Map<Hex, ContractSlots>()
  #step: RunningStep | undefined
  #count = 0
  /** The slot that the step reads or writes, and the value. */
  #slot: bigint | undefined
  #value = 0n

  constructor(options: StepRecorderOptions) {
    this.#options = options
    this.#limit = options.limit || Number.POSITIVE_INFINITY
  }

  step(frame: FrameView, opcode: number): void {
    if (this.#count >= this.#limit) return
    this.#step ??= new RunningStep(frame)
    this.#step.begin(frame, opcode)
    this.#slot = undefined
    if (opcode === SLOAD.code || opcode === SSTORE.code) this.#readSlot(frame, opcode)
    this.#options.sink.begin(this.#step)
  }

  stepped(frame: FrameView, cost: number, failure: string | undefined): void {
    const step = this.#step
    if (step === undefined || this.#count >= this.#limit) return
    step.name = CHAIN_RULES.opcodes[step.opcode]?.name
    step.cost = cost
    step.refund = frame.refund
    step.failure = failure
    step.slots = this.#slot === undefined ? undefined : this.#slotsAfter(step, this.#slot)
    frame.countWork(this.#options.sink.end(step) / CHARACTERS_PER_TICK)
    this.#count++
  }

  #readSlot(frame: FrameView, opcode: number): void {
    const { stack, sp } = frame
    if (sp < (opcode === SLOAD.code ? 1 : 2)) return
    const slot = stack[sp - 1] as bigint
    this.#slot = slot
    this.#value = opcode === SLOAD.code ? frame.storageAt(slot) : (stack[sp - 2] as bigint)
  }

  /** The contract's slots with the one that the step touched, unless the step failed. */
  #slotsAfter({ frame, failure }: RunningStep, slot: bigint): ListedSlots {
    let known = this.#slots.get(frame.address)
    if (known === undefined) {
      known = { values: new Map(), version: 0 }
      this.#slots.set(frame.address, known)
    }
    if (failure === undefined && known.values.get(slot) !== this.#value) {
      known.values.set(slot, this.#value)
      known.version++
    }
    return known
  }
}
