/** The tracers of `debug_trace*` by name: each listens to one transaction and then says what it heard. */
import { CallTree } from '../../../execution/trace/call-tree.ts'
import { PrestateTracer } from '../../../execution/trace/prestate.ts'
import { SelectorTracer } from '../../../execution/trace/selectors.ts'
import { together } from '../../../execution/trace/together.ts'
import type { TraceBudget } from '../../../execution/trace/trace-budget.ts'
import type { Tracer } from '../../../execution/trace/tracer.ts'
import { jsonObject } from '../../raw-json.ts'
import { type TracePlace, toRpcCallTree } from './call-tracer.ts'
import { NodeTrace } from './node-trace.ts'
import type { TraceOptions } from './options.ts'
import { toRpcPrestate } from './prestate.ts'
import type { ReplyRoom } from './reply-room.ts'
import { StructLogger } from './struct-logger.ts'

/** One transaction as it is traced. */
export interface TraceRun {
  readonly tracer: Tracer
  /** What callers get, once the transaction is over; its struct logs are raw JSON. */
  result(place: TracePlace): unknown
}

/** Starts a trace of one transaction. What it keeps counts towards the budget, what it says takes room of the reply. */
export function startTrace(options: TraceOptions, budget: TraceBudget, room: ReplyRoom): TraceRun {
  const { tracer: name, flags } = options
  switch (name) {
    case 'rskTracer': {
      const tracer = new NodeTrace(options, budget)
      return { tracer, result: (place) => tracer.result(place) }
    }
    case 'structLogger': {
      const tracer = new StructLogger(options, budget)
      return { tracer, result: () => tracer.result() }
    }
    case 'callTracer': {
      const tracer = new CallTree(budget)
      return { tracer, result: (place) => toRpcCallTree(tracer.root, flags, place, room) }
    }
    case 'prestateTracer': {
      const tracer = new PrestateTracer()
      return { tracer, result: () => toRpcPrestate(tracer.touched, flags, room) }
    }
    case '4byteTracer': {
      const tracer = new SelectorTracer()
      return { tracer, result: () => Object.fromEntries(tracer.counts) }
    }
    case 'noopTracer':
      return { tracer: {}, result: () => ({}) }
    case 'muxTracer': {
      const parts = options.parts.map((part) => [part.tracer, startTrace(part, budget, room)] as const)
      return {
        tracer: together(parts.map(([, { tracer }]) => tracer)),
        result: (place) => jsonObject(parts.map(([part, run]) => [part, run.result(place)] as const)),
      }
    }
  }
}
