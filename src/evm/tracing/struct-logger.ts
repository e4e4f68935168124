/** Steps and the outcome of a transaction. */
import type { StepSink } from './step.ts'
import { StepRecorder } from './step-recorder.ts'
import type { FrameView, TraceEnd, Tracer } from './tracer.ts'

/** Passes steps to a sink; `end` is the outcome. */
export class StructLogger implements Tracer {
  readonly #steps: StepRecorder
  #end: TraceEnd | undefined

  /** Records `limit` steps at most; 0 is no limit. */
  constructor(sink: StepSink, limit: number) {
    this.#steps = new StepRecorder({ sink, limit })
  }

  /** The transaction's outcome; throws before it is over. */
  get end(): TraceEnd {
    if (this.#end === undefined) throw new Error('nothing was traced')
    return this.#end
  }

  step(frame: FrameView, opcode: number): void {
    this.#steps.step(frame, opcode)
  }

  stepped(frame: FrameView, cost: number, failure: string | undefined): void {
    this.#steps.stepped(frame, cost, failure)
  }

  finish(end: TraceEnd): void {
    this.#end = end
  }
}
