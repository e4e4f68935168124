/** Records the tree of calls of one transaction; does nothing per opcode. */
import type { Log } from '../../chain/receipt.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { CallFrame, FrameFailure, FrameLog } from './call-frame.ts'
import type { TraceBudget } from './trace-budget.ts'
import type { FrameEnd, FrameStart, TraceEnd, Tracer } from './tracer.ts'

/** Estimated memory of a frame beside its payloads, bytes. */
const FRAME_BYTES = 512

interface OpenLog extends FrameLog {
  index?: number
}

interface OpenFrame extends Omit<CallFrame, 'logs' | 'calls'> {
  to: Hex | undefined
  gas: bigint
  gasUsed: bigint
  output: Uint8Array
  failure?: FrameFailure
  readonly logs: OpenLog[]
  readonly calls: OpenFrame[]
}

/** Records calls; `root` is complete once the transaction is over. Throws `limit-exceeded` beyond its budget. */
export class CallTracer implements Tracer {
  readonly #budget: TraceBudget
  readonly #open: OpenFrame[] = []
  /** Logs that no failure has discarded so far, in the order of emission. */
  readonly #logs: OpenLog[] = []
  /** Length of that list at the start of each open frame. */
  readonly #marks: number[] = []
  #root: OpenFrame | undefined

  constructor(budget: TraceBudget) {
    this.#budget = budget
  }

  /** The transaction's own frame. */
  get root(): CallFrame {
    if (this.#root === undefined) throw new Error('nothing was traced')
    return this.#root
  }

  enter(start: FrameStart): void {
    this.#budget.take(FRAME_BYTES + start.input.length)
    const { kind, depth, from, to, value, gas, input, isPrecompile, runsCode } = start
    this.#begin({
      kind,
      depth,
      from,
      to,
      value,
      gas,
      gasUsed: 0n,
      input,
      output: EMPTY,
      isPrecompile,
      ranCode: runsCode,
      logs: [],
      calls: [],
    })
    this.#marks.push(this.#logs.length)
  }

  exit(end: FrameEnd): void {
    const frame = this.#open.pop()
    const mark = this.#marks.pop()
    if (frame === undefined || mark === undefined) throw new Error('no frame is open')
    this.#budget.take(end.output.length)
    frame.gasUsed = end.gasUsed
    frame.output = end.output
    if (end.created !== undefined) frame.to = end.created
    if (end.failure !== undefined) {
      frame.failure = end.failure
      this.#logs.length = mark
    }
  }

  selfDestruct(contract: Hex, beneficiary: Hex, balance: bigint): void {
    this.#budget.take(FRAME_BYTES)
    this.#begin({
      kind: 'selfdestruct',
      depth: this.#open.length,
      from: contract,
      to: beneficiary,
      value: balance,
      gas: 0n,
      gasUsed: 0n,
      input: EMPTY,
      output: EMPTY,
      isPrecompile: false,
      ranCode: false,
      logs: [],
      calls: [],
    })
    this.#open.pop()
  }

  log(log: Log): void {
    const frame = this.#open.at(-1)
    if (frame === undefined) throw new Error('no frame is open')
    this.#budget.take(FRAME_BYTES + log.data.length)
    const entry: OpenLog = { log, position: frame.calls.length }
    frame.logs.push(entry)
    this.#logs.push(entry)
  }

  /** Sets the gas of the whole transaction on its own frame, and the receipt's index on the remaining logs. */
  finish({ gasUsed, gasLimit }: TraceEnd): void {
    if (this.#root === undefined) return
    this.#root.gas = gasLimit
    this.#root.gasUsed = gasUsed
    for (const [index, entry] of this.#logs.entries()) entry.index = index
  }

  #begin(frame: OpenFrame): void {
    const parent = this.#open.at(-1)
    if (parent === undefined) this.#root ??= frame
    else parent.calls.push(frame)
    this.#open.push(frame)
  }
}
