/** How often the instructions of one code ran. */

/** Instructions from the start of code that there is room for at first: of init code only the constructor runs. */
const FIRST_ROOM = 1024
/** Bytes of both counts of an instruction. */
const COUNT_BYTES = 8

/** Counts by program counter. */
export class InstructionCounts {
  #runs: Uint32Array
  #jumps: Uint32Array
  readonly #most: number
  readonly #onGrowth: (() => void) | undefined

  /** `length`: bytes of the code. `onGrowth` is called when `size` has grown. */
  constructor(length: number, onGrowth?: () => void) {
    this.#onGrowth = onGrowth
    // Behind the code is a STOP.
    this.#most = length + 1
    const room = Math.min(this.#most, FIRST_ROOM)
    this.#runs = new Uint32Array(room)
    this.#jumps = new Uint32Array(room)
  }

  /** Runs by pc, as far as any instruction ran; those behind are 0. */
  get runs(): Uint32Array {
    return this.#runs
  }

  /** How often the JUMPI at a pc jumped, as far as any instruction ran. */
  get jumps(): Uint32Array {
    return this.#jumps
  }

  /** Memory that the counts take, bytes. */
  get size(): number {
    return COUNT_BYTES * this.#runs.length
  }

  /** Makes room for a pc behind the end of `runs`; returns the new `runs`. */
  reach(pc: number): Uint32Array {
    const room = Math.min(this.#most, Math.max(2 * this.#runs.length, pc + 1))
    if (room > this.#runs.length) {
      this.#runs = grown(this.#runs, room)
      this.#jumps = grown(this.#jumps, room)
      this.#onGrowth?.()
    }
    return this.#runs
  }
}

function grown(counts: Uint32Array, length: number): Uint32Array {
  const more = new Uint32Array(length)
  more.set(counts)
  return more
}
