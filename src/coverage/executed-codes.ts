/** Counts of instructions by code: what coverage is computed from. */
import { keccakHex } from '../encoding/hash.ts'
import type { FrameKind } from '../evm/tracing/call-frame.ts'
import { InstructionCounts } from '../evm/tracing/instruction-counts.ts'
import type { Tracer } from '../evm/tracing/tracer.ts'

/** Bytes of codes with their counts; what ran beyond them is not counted. */
const MOST_BYTES = 512 << 20

const JUMPI = 0x57

/** A code with the counts of its instructions. */
export interface ExecutedCode {
  /** Init code, with the arguments of a constructor, or the code of a contract. */
  readonly code: Uint8Array
  readonly isCreation: boolean
  readonly counts: InstructionCounts
}

/** Is it a creation? Its code is init code. */
export function creates(kind: FrameKind): boolean {
  return kind === 'create' || kind === 'create2'
}

/** Codes that ran, each once, whichever contracts have it. */
export class ExecutedCodes {
  readonly #mostBytes: number
  readonly #byHash = new Map<string, ExecutedCode>()
  /** The code of a contract is the same array each time that it is read from a cache. */
  #byArray = new WeakMap<Uint8Array, ExecutedCode>()
  #bytes = 0
  #dropped = 0

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes
  }

  /** All of them, in the order of their first run. */
  get all(): readonly ExecutedCode[] {
    return [...this.#byHash.values()]
  }

  /** Codes for which there was no room. */
  get dropped(): number {
    return this.#dropped
  }

  /** Forgets all counts. */
  clear(): void {
    this.#byHash.clear()
    this.#byArray = new WeakMap()
    this.#bytes = 0
    this.#dropped = 0
  }

  /** Counts the instructions of one run. */
  tracer(): Tracer {
    const open: { readonly isCreation: boolean; counts?: InstructionCounts }[] = []
    return {
      enter: ({ kind }) => void open.push({ isCreation: creates(kind) }),
      exit: () => void open.pop(),
      countsOf: (code) => {
        const message = open.at(-1)
        if (message === undefined) throw new Error('no message is open')
        message.counts ??= this.#countsOf(code, message.isCreation)
        return message.counts
      },
    }
  }

  /** The same as a tracer of steps, for use beside another one that needs them. */
  stepTracer(): Tracer {
    const { enter, exit, countsOf } = this.tracer()
    let jumpIf: { readonly pc: number; readonly counts: InstructionCounts } | undefined
    return {
      ...(enter && { enter }),
      ...(exit && { exit }),
      step({ code, pc }, opcode) {
        const counts = countsOf?.(code)
        if (counts === undefined) return
        const runs = pc >= counts.runs.length ? counts.reach(pc) : counts.runs
        runs[pc] = (runs[pc] ?? 0) + 1
        jumpIf = opcode === JUMPI ? { pc, counts } : undefined
      },
      stepped({ pc }, _cost, failure) {
        // A jump leaves the pc in front of its destination.
        if (jumpIf === undefined || failure !== undefined || pc === jumpIf.pc) return
        const { jumps } = jumpIf.counts
        jumps[jumpIf.pc] = (jumps[jumpIf.pc] ?? 0) + 1
      },
    }
  }

  #countsOf(code: Uint8Array, isCreation: boolean): InstructionCounts {
    const known = this.#byArray.get(code)
    if (known?.isCreation === isCreation) return known.counts
    const key = `${isCreation} ${keccakHex(code)}`
    const executed = this.#byHash.get(key) ?? this.#add(key, { code, isCreation })
    this.#byArray.set(code, executed)
    return executed.counts
  }

  #add(key: string, { code, isCreation }: Omit<ExecutedCode, 'counts'>): ExecutedCode {
    let bytes = 0
    const noteSize = () => {
      if (this.#byHash.get(key) !== executed) return
      const size = code.length + executed.counts.size
      this.#bytes += size - bytes
      bytes = size
      if (this.#bytes <= this.#mostBytes) return
      this.#bytes -= size
      this.#byHash.delete(key)
      this.#dropped++
    }
    const executed: ExecutedCode = { code, isCreation, counts: new InstructionCounts(code.length, noteSize) }
    this.#byHash.set(key, executed)
    noteSize()
    return executed
  }
}
