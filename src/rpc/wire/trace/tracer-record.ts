/** A tracer of `debug_trace*`: one record with its options, its result and how it starts. */
import type { z } from 'zod'
import type { Hex } from '../../../encoding/hex.ts'
import type { CallFrame } from '../../../evm/tracing/call-frame.ts'
import type { TraceBudget } from '../../../evm/tracing/trace-budget.ts'
import type { Tracer } from '../../../evm/tracing/tracer.ts'
import type { LayoutAt } from '../../../execution/variables.ts'
import type { Parameter } from '../../parameter.ts'
import type { RawJson } from '../../raw-json.ts'
import type { ErrorTexts } from './frame-error.ts'
import type { ReplySize } from './reply-size.ts'

/** Where the traced transaction stands; `NOWHERE` for a simulated call. */
export interface TracePlace {
  readonly transactionHash: Hex
  /** Number of the block's logs before those of this transaction. */
  readonly firstLogIndex: number
}

/** The place of a simulated call. */
export const NOWHERE: TracePlace = { transactionHash: '0x', firstLogIndex: 0 }

/** What the transactions of one request share: limits, error texts, and the layouts that the node knows. */
export interface TraceLimits {
  /** Memory of the traces while they are recorded. */
  readonly budget: TraceBudget
  /** Size of the results in the reply. */
  readonly size: ReplySize
  readonly errorTexts: ErrorTexts
  readonly layoutAt: LayoutAt
}

/** Those that apply when a result is made. */
export type ReplyLimits = Pick<TraceLimits, 'size' | 'errorTexts'>

/** The trace of one transaction. */
export interface TraceRun<R = object> {
  readonly tracer: Tracer
  /** The result, once the transaction is over: a value, or its JSON text. */
  result(place: TracePlace): R | RawJson
}

/** A tracer with its options. */
export interface TraceSetup<R = object> {
  /** Starts the trace of one transaction. */
  start(limits: TraceLimits): TraceRun<R>
  /** Makes the result from a call tree; a tracer that has this uses the cached trees instead of a new run. */
  readonly ofCallTree?: (root: CallFrame, place: TracePlace, limits: ReplyLimits) => R
}

/** The tracer's entry in the OpenRPC document. */
export interface TracerDescription {
  readonly name: string
  /** Options by name; all of them optional. */
  readonly options: Readonly<Record<string, Parameter<unknown>>>
  /** One sentence for the document. */
  readonly summary: string
  /** The wire form of its result. */
  readonly result: z.ZodType<object>
  /** Traces of a block are an array of results; for other tracers an array of `{ txHash, result }`. */
  readonly isBareInBlocks: boolean
}

/** One tracer of the registry. */
export interface TracerRecord extends TracerDescription {
  /** `values` holds a value for each of its options. */
  configure(values: Readonly<Record<string, unknown>>): TraceSetup
}

/** A tracer that runs others; its `tracerConfig` holds their options by name. */
export interface CombinedTracer extends TracerDescription {
  combine(parts: readonly TraceOptions[]): TraceSetup
}

/** The tracer that a request names, with its options. */
export interface TraceOptions {
  readonly tracer: TracerDescription
  readonly setup: TraceSetup
  /** The options of a request that names no tracer, for the default of a dialect. */
  readonly unnamed?: Readonly<Record<string, unknown>>
}

/** The definition that `tracer` takes; the compiler checks `start` against the options and the result. */
export interface TracerDefinition<O extends object, R extends object> {
  readonly name: string
  readonly summary: string
  readonly options: { readonly [K in keyof O]: Parameter<O[K]> }
  readonly result: z.ZodType<R>
  readonly isBareInBlocks?: true
  start(options: O, limits: TraceLimits): TraceRun<NoInfer<R>>
  /** See `TraceSetup`. */
  ofCallTree?(root: CallFrame, options: O, place: TracePlace, limits: ReplyLimits): NoInfer<R>
}

/** Makes a record of a tracer. */
export function tracer<O extends object, R extends object>(definition: TracerDefinition<O, R>): TracerRecord {
  const { name, summary, options, result, isBareInBlocks = false, start, ofCallTree } = definition
  return {
    name,
    summary,
    options: options as TracerRecord['options'],
    result,
    isBareInBlocks,
    configure(values) {
      const given = values as O
      return {
        start: (limits) => start(given, limits),
        ...(ofCallTree && { ofCallTree: (root, place, limits) => ofCallTree(root, given, place, limits) }),
      }
    },
  }
}
