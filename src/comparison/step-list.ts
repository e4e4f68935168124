/** The opcodes that a transaction ran, kept in few bytes each. */
import { NodeError } from '../errors.ts'

/** Most steps that are kept; they take 14 bytes each. */
const MOST_STEPS = 4_194_304

/** One opcode as it ran. Gas in gas, without the gas passed to a call. */
export interface Step {
  readonly opcode: number
  readonly pc: number
  /** 0 is the transaction's own frame. */
  readonly depth: number
  readonly cost: number
  /** Did the frame fail on it? The cost is then as far as it was computed. */
  readonly failed: boolean
}

/** A list to write once and read by index. */
export class StepList {
  #opcodes = new Uint8Array(1024)
  #depths = new Uint16Array(1024)
  #pcs = new Uint32Array(1024)
  /** Of a failed step less than 0: -1 - cost. */
  #costs = new Float64Array(1024)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Throws `limit-exceeded` when the list is full. */
  push({ opcode, pc, depth, cost, failed }: Step): void {
    const at = this.#length++
    if (at === this.#opcodes.length) this.#grow()
    this.#opcodes[at] = opcode
    this.#depths[at] = depth
    this.#pcs[at] = pc
    this.#costs[at] = failed ? -1 - cost : cost
  }

  at(index: number): Step | undefined {
    if (index >= this.#length) return undefined
    const cost = this.#costs[index] as number
    return {
      opcode: this.#opcodes[index] as number,
      pc: this.#pcs[index] as number,
      depth: this.#depths[index] as number,
      cost: cost < 0 ? -1 - cost : cost,
      failed: cost < 0,
    }
  }

  #grow(): void {
    const size = this.#opcodes.length * 2
    if (size > MOST_STEPS) {
      throw new NodeError('limit-exceeded', `Transactions of more than ${MOST_STEPS} steps are not compared`)
    }
    const larger = <T extends { set(from: T): void }>(from: T, to: T): T => {
      to.set(from)
      return to
    }
    this.#opcodes = larger(this.#opcodes, new Uint8Array(size))
    this.#depths = larger(this.#depths, new Uint16Array(size))
    this.#pcs = larger(this.#pcs, new Uint32Array(size))
    this.#costs = larger(this.#costs, new Float64Array(size))
  }
}
