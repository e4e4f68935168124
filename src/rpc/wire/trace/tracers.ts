/** The tracers of `debug_trace*` by name: each listens to one transaction and then says what it heard. */
import { CallTracer } from '../../../evm/tracing/call-tracer.ts'
import { FourByteTracer } from '../../../evm/tracing/four-byte-tracer.ts'
import { muxTracers } from '../../../evm/tracing/mux-tracer.ts'
import { PrestateTracer } from '../../../evm/tracing/prestate-tracer.ts'
import type { TraceBudget } from '../../../evm/tracing/trace-budget.ts'
import type { Tracer } from '../../../evm/tracing/tracer.ts'
import { jsonObject } from '../../raw-json.ts'
import { type TracePlace, toRpcCallTree } from './call-tracer.ts'
import { RskTracer } from './node-trace.ts'
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
      const tracer = new RskTracer(options, budget)
      return { tracer, result: (place) => tracer.result(place) }
    }
    case 'structLogger': {
      const tracer = new StructLogger(options, budget)
      return { tracer, result: () => tracer.result() }
    }
    case 'callTracer': {
      const tracer = new CallTracer(budget)
      return { tracer, result: (place) => toRpcCallTree(tracer.root, flags, place, room) }
    }
    case 'prestateTracer': {
      const tracer = new PrestateTracer()
      return { tracer, result: () => toRpcPrestate(tracer.touched, flags, room) }
    }
    case '4byteTracer': {
      const tracer = new FourByteTracer()
      return { tracer, result: () => Object.fromEntries(tracer.counts) }
    }
    case 'noopTracer':
      return { tracer: {}, result: () => ({}) }
    case 'muxTracer': {
      const parts = options.parts.map((part) => [part.tracer, startTrace(part, budget, room)] as const)
      return {
        tracer: muxTracers(parts.map(([, { tracer }]) => tracer)),
        result: (place) => jsonObject(parts.map(([part, run]) => [part, run.result(place)] as const)),
      }
    }
  }
}
