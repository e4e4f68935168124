/** Every executed opcode with its effect, frames within the opcodes that made them: OpenEthereum's `vmTrace`. */

import { EMPTY } from '../../encoding/bytes.ts'
import { FAILURE } from '../failure.ts'
import { SSTORE } from '../opcodes/storage.ts'
import { CHAIN_RULES } from '../rules.ts'
import { opcodeDigits } from './frame-failure.ts'
import { CHARACTERS_PER_TICK } from './running-step.ts'
import type { FrameEnd, FrameStart, FrameView, Tracer } from './tracer.ts'

/** An executed opcode. One object serves all of a frame. */
export interface VmOperation {
  readonly pc: number
  /** The opcode's name on this chain, or its two hex digits. */
  readonly name: string
  /** Gas, with that passed to a callee. */
  readonly cost: number
}

/** What an opcode did. Valid during the sink's call only. */
export interface VmEffect {
  /** Gas left behind it, and behind the frame that it made. */
  readonly gasLeft: number
  /** Words that it left on the stack, the top one last. */
  readonly pushed: readonly bigint[]
  /** The memory that it wrote or read. */
  readonly memory: { readonly offset: number; readonly bytes: Uint8Array } | undefined
  readonly stored: { readonly slot: bigint; readonly value: bigint } | undefined
}

/** Receives frames and opcodes. What it throws ends the run. The frame that an opcode makes is between its begin and its end. */
export interface VmSink {
  beginFrame(code: Uint8Array): void
  endFrame(): void
  beginOperation(operation: VmOperation): void
  /** Without an effect when it failed. Returns the number of characters written: long texts count as running time. */
  endOperation(effect: VmEffect | undefined): number
}

/** A frame with its running opcode. */
class OpenFrame implements VmOperation {
  /** Has the sink got it? */
  begun = false
  /** Has the opcode not ended yet? */
  runs = false
  /** Has the sink got the opcode? */
  shown = false
  opcode = 0
  pc = 0
  name = ''
  cost = 0
  memoryOffset = 0
  memoryLength = 0
  stored: VmEffect['stored']
  /** Of a frame that runs no code. */
  readonly code: Uint8Array
  /** No opcode made it: a payment of the REMASC transaction. */
  readonly isHidden: boolean

  constructor(code: Uint8Array, isHidden: boolean) {
    this.code = code
    this.isHidden = isHidden
  }
}

/** Passes frames and opcodes to a sink. */
export class VmTracer implements Tracer {
  readonly #sink: VmSink
  readonly #open: OpenFrame[] = []

  constructor(sink: VmSink) {
    this.#sink = sink
  }

  enter({ kind, gas, input }: FrameStart): void {
    const creates = kind === 'create' || kind === 'create2'
    const parent = this.#open.at(-1)
    // The cost of a CALL has the gas of its callee in it already.
    if (creates && parent?.runs) parent.cost += Number(gas)
    this.#open.push(new OpenFrame(creates ? input : EMPTY, parent?.runs === false))
  }

  exit({ failure }: FrameEnd): void {
    const frame = this.#open.pop()
    if (frame === undefined) throw new Error('no frame is open')
    if (failure?.kind === 'refused' || frame.isHidden) return
    this.#begin(frame, this.#open.at(-1), frame.code)
    if (frame.runs) this.#end(frame, undefined)
    this.#sink.endFrame()
  }

  step(view: FrameView, opcode: number): void {
    const frame = this.#current()
    this.#begin(frame, this.#open.at(-2), view.code)
    if (frame.runs) view.countWork(this.#end(frame, view) / CHARACTERS_PER_TICK)
    const { stack, sp } = view
    const operand = (position: number) => (position < sp ? (stack[sp - 1 - position] as bigint) : 0n)
    frame.opcode = opcode
    frame.pc = view.pc
    frame.stored = opcode === SSTORE.code && sp > 1 ? { slot: operand(0), value: operand(1) } : undefined
    const memory = CHAIN_RULES.opcodes[opcode]?.memory
    frame.memoryLength = 0
    if (memory === undefined) return
    const { offset, length } = memory
    frame.memoryOffset = Number(operand(offset))
    frame.memoryLength = typeof length === 'number' ? Number(operand(length)) : length.bytes
  }

  stepped(view: FrameView, cost: number, failure: string | undefined): void {
    const frame = this.#current()
    frame.name = CHAIN_RULES.opcodes[frame.opcode]?.name ?? opcodeDigits(frame.opcode)
    frame.cost = cost
    frame.runs = true
    frame.shown = false
    if (failure !== undefined && failure !== FAILURE.REVERT) this.#end(frame, undefined)
    else if (CHAIN_RULES.opcodes[frame.opcode]?.requests === undefined)
      view.countWork(this.#end(frame, view) / CHARACTERS_PER_TICK)
  }

  #current(): OpenFrame {
    const frame = this.#open.at(-1)
    if (frame === undefined) throw new Error('no frame is open')
    return frame
  }

  #begin(frame: OpenFrame, parent: OpenFrame | undefined, code: Uint8Array): void {
    if (frame.begun) return
    frame.begun = true
    if (parent !== undefined) this.#show(parent)
    this.#sink.beginFrame(code)
  }

  #show(frame: OpenFrame): void {
    if (!frame.shown) this.#sink.beginOperation(frame)
    frame.shown = true
  }

  /** Ends the running opcode; without a view it failed. */
  #end(frame: OpenFrame, view: FrameView | undefined): number {
    this.#show(frame)
    frame.runs = false
    return this.#sink.endOperation(view && effectOf(frame, view))
  }
}

function effectOf({ opcode, memoryOffset, memoryLength, stored }: OpenFrame, view: FrameView): VmEffect {
  const { stack, sp, gas, memory } = view
  const pushes = CHAIN_RULES.opcodes[opcode]?.pushes ?? 0
  return {
    gasLeft: gas,
    pushed: stack.slice(Math.max(0, sp - pushes), sp),
    memory:
      memoryLength > 0
        ? { offset: memoryOffset, bytes: memory.subarray(memoryOffset, memoryOffset + memoryLength) }
        : undefined,
    stored,
  }
}
