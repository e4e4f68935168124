/** What the traces of one request share. */
import { TraceBudget } from '../evm/tracing/trace-budget.ts'
import type { Context } from './method.ts'
import { layoutsOf } from './simulation-options.ts'
import { errorTextsOf } from './wire/trace/frame-error.ts'
import { replySize } from './wire/trace/reply-size.ts'
import type { TraceLimits } from './wire/trace/tracer-record.ts'

/** The limits of a request's traces, with the node's layouts and the error texts of its dialect. */
export function traceLimits(context: Context): TraceLimits {
  const { maxTraceBytes, maxTraceAnswer, dialect } = context.options
  return {
    budget: new TraceBudget(maxTraceBytes, maxTraceAnswer),
    size: replySize(context),
    errorTexts: errorTextsOf(dialect),
    layoutAt: layoutsOf(context.engine),
  }
}
