/** Records the calls of a transaction while the chain itself runs it, so that no replay is needed to trace it. */
import type { CallFrame } from './call-frame.ts'
import { CallTracer } from './call-tracer.ts'
import { TraceBudget } from './trace-budget.ts'

/** Bytes of one call tree; a transaction that needs more goes on without. */
const MOST_BYTES = 64 << 10

/** A call tracer that stops by itself, and never throws. */
export class CallRecorder extends CallTracer {
  readonly #budget: TraceBudget

  constructor() {
    const budget = new TraceBudget(Number.POSITIVE_INFINITY)
    super(budget)
    this.#budget = budget
  }

  /** Is the tree too large? */
  get isDone(): boolean {
    return this.bytes > MOST_BYTES
  }

  /** Memory of the tree, bytes. */
  get bytes(): number {
    return this.#budget.used
  }

  /** The call tree of a transaction that is over; `undefined` where it was too large, or another tracer watched the run. */
  get recorded(): CallFrame | undefined {
    return this.isDone || this.bytes === 0 ? undefined : this.root
  }
}
