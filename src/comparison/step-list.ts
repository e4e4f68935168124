/** The opcodes that a transaction ran, kept in few bytes each. */
import { NodeError } from '../errors.ts'

/** Bytes of a step: opcode (at 0), depth (2), pc (4) and cost (8), which is -1 - cost of a failed one. */
const STEP_BYTES = 16

/** Most steps that are kept. */
const MOST_STEPS = 4_194_304

/** One opcode as it ran. Gas in gas, without the gas passed to a call. */
export interface Step {
  readonly opcode: number
  readonly pc: number
  /** 0 is the transaction's own frame. */
  readonly depth: number
  readonly cost: number
  /** Did the frame fail on it? The cost is then what was computed up to the failure. */
  readonly failed: boolean
}

/** A list to write once and read by index. */
export class StepList {
  #steps = new DataView(new ArrayBuffer(1024 * STEP_BYTES))
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Throws `limit-exceeded` when the list is full. */
  push({ opcode, pc, depth, cost, failed }: Step): void {
    const at = this.#length++ * STEP_BYTES
    if (at === this.#steps.byteLength) this.#grow()
    this.#steps.setUint8(at, opcode)
    this.#steps.setUint16(at + 2, depth)
    this.#steps.setUint32(at + 4, pc)
    this.#steps.setFloat64(at + 8, failed ? -1 - cost : cost)
  }

  at(index: number): Step | undefined {
    if (index >= this.#length) return undefined
    const at = index * STEP_BYTES
    const cost = this.#steps.getFloat64(at + 8)
    return {
      opcode: this.#steps.getUint8(at),
      pc: this.#steps.getUint32(at + 4),
      depth: this.#steps.getUint16(at + 2),
      cost: cost < 0 ? -1 - cost : cost,
      failed: cost < 0,
    }
  }

  #grow(): void {
    const size = this.#steps.byteLength * 2
    if (size > MOST_STEPS * STEP_BYTES) {
      throw new NodeError('limit-exceeded', `Transactions of more than ${MOST_STEPS} steps are not compared`)
    }
    const larger = new Uint8Array(size)
    larger.set(new Uint8Array(this.#steps.buffer))
    this.#steps = new DataView(larger.buffer)
  }
}
