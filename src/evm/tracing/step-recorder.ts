/** Passes the steps of a transaction to a sink while it runs, so that no list of them is built. */
import type { Hex } from '../../encoding/hex.ts'
import { CHAIN_RULES } from '../rules.ts'
import { opcodeDigits } from './frame-failure.ts'
import type { Step, StepSink, TouchedSlots } from './step.ts'
import type { FrameView, Tracer } from './tracer.ts'

const SLOAD = 0x54
const SSTORE = 0x55
/** Opcodes that write to memory; an expansion alone shows in the number of words. */
const WRITES_MEMORY: ReadonlySet<number> = new Set([
  0x37, 0x39, 0x3c, 0x3e, 0x52, 0x53, 0x5e, 0xf1, 0xf2, 0xf4, 0xfa,
])

/** Characters that take as long to write as a step takes to run; memory may be megabytes of text in every step. */
const CHARACTERS_PER_TICK = 4096

/** What a recorder needs. */
export interface StepRecorderOptions {
  readonly sink: StepSink
  /** Steps to record at most; later ones run unrecorded. 0 is no limit. */
  readonly limit?: number
  /** Called before a slot of the frame's contract is read or written. */
  onSlot?(frame: FrameView, slot: bigint): void
}

interface ContractSlots extends TouchedSlots {
  readonly values: Map<bigint, bigint>
  version: number
}

/** The running step; one object serves all. */
class RunningStep implements Step {
  frame: FrameView
  opcode = 0
  name = ''
  pc = 0
  gas = 0
  writesMemory = false
  cost = 0
  refund = 0
  failure: string | undefined
  slots: TouchedSlots | undefined
  /** The slot that it reads or writes, and the value. */
  slot: bigint | undefined
  value = 0n

  constructor(frame: FrameView) {
    this.frame = frame
  }
}

/** Records steps. */
export class StepRecorder implements Pick<Tracer, 'step' | 'stepped'> {
  readonly #options: StepRecorderOptions
  readonly #limit: number
  readonly #slots = new Map<Hex, ContractSlots>()
  #step: RunningStep | undefined
  #count = 0

  constructor(options: StepRecorderOptions) {
    this.#options = options
    this.#limit = options.limit || Number.POSITIVE_INFINITY
  }

  step(frame: FrameView, opcode: number): void {
    if (this.#count >= this.#limit) return
    this.#step ??= new RunningStep(frame)
    const step = this.#step
    step.frame = frame
    step.opcode = opcode
    step.pc = frame.pc
    step.gas = frame.gas
    step.writesMemory = WRITES_MEMORY.has(opcode)
    step.slot = undefined
    if (opcode === SLOAD || opcode === SSTORE) this.#readSlot(step)
    this.#options.sink.begin(step)
  }

  stepped(frame: FrameView, cost: number, failure: string | undefined): void {
    const step = this.#step
    if (step === undefined || this.#count >= this.#limit) return
    step.name = CHAIN_RULES.opcodes.names[step.opcode] ?? opcodeDigits(step.opcode)
    step.cost = cost
    step.refund = frame.refund
    step.failure = failure
    step.slots = step.slot === undefined ? undefined : this.#slotsAfter(step, step.slot)
    frame.countWork(this.#options.sink.end(step) / CHARACTERS_PER_TICK)
    this.#count++
  }

  #readSlot(step: RunningStep): void {
    const { frame, opcode } = step
    const { stack, sp } = frame
    if (sp < (opcode === SLOAD ? 1 : 2)) return
    const slot = stack[sp - 1] as bigint
    this.#options.onSlot?.(frame, slot)
    step.slot = slot
    step.value = opcode === SLOAD ? frame.storageAt(slot) : (stack[sp - 2] as bigint)
  }

  /** The contract's slots with the one that the step touched, unless the step failed. */
  #slotsAfter({ frame, value, failure }: RunningStep, slot: bigint): TouchedSlots {
    let known = this.#slots.get(frame.address)
    if (known === undefined) {
      known = { values: new Map(), version: 0 }
      this.#slots.set(frame.address, known)
    }
    if (failure === undefined && known.values.get(slot) !== value) {
      known.values.set(slot, value)
      known.version++
    }
    return known
  }
}
