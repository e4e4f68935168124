/** The tracers of `debug_trace*`. A new one is a file in `evm/tracing`, a record beside this file, and its entry in `SINGLE`. */
import { z } from 'zod'
import type { Dialect } from '../../dialects.ts'
import { HashText } from '../scalars.ts'
import { callTracer } from './call-tracer.ts'
import { anvilLogger, hardhatLogger } from './dialect-loggers.ts'
import { erc7562Tracer } from './erc7562-tracer.ts'
import { fourByteTracer } from './four-byte-tracer.ts'
import { createMuxTracer } from './mux-tracer.ts'
import { noopTracer } from './noop-tracer.ts'
import { configured, traceOptionsObject } from './options.ts'
import { prestateTracer } from './prestate-tracer.ts'
import { rskTracer } from './rsk-tracer.ts'
import { structLogger } from './struct-logger.ts'
import type { TraceOptions, TracerDescription, TracerRecord } from './tracer-record.ts'

const SINGLE: readonly [TracerRecord, ...TracerRecord[]] = [
  rskTracer,
  structLogger,
  callTracer,
  prestateTracer,
  fourByteTracer,
  noopTracer,
  erc7562Tracer,
]

const mux = createMuxTracer(SINGLE)

/** All tracers; the first is the default, as on the reference node. */
export const TRACERS: readonly TracerDescription[] = [...SINGLE, mux]

const RESULTS: readonly TracerDescription[] = [...TRACERS, anvilLogger, hardhatLogger]

/** The options object of a request. */
export const TraceOptionsObject = traceOptionsObject(SINGLE, mux)

const DEFAULTS = { hardhat: hardhatLogger, anvil: anvilLogger } as const

/** Those options; where no tracer is named, with the default of a dialect. */
export function traceOptionsIn(dialect: Dialect, options: TraceOptions): TraceOptions {
  if (dialect === 'rsk' || options.unnamed === undefined) return options
  return configured(DEFAULTS[dialect], options.unnamed)
}

/** The result of any tracer, and of the defaults of the dialects. */
export const TraceResult: z.ZodType<object> = z.lazy(() => z.union(RESULTS.map(({ result }) => result)))

/** The traces of a block, by any tracer. */
export const BlockTraces: z.ZodType<object> = z.lazy(() =>
  z.union(
    RESULTS.map(({ result, isBareInBlocks }) =>
      z.array(isBareInBlocks ? result : z.strictObject({ txHash: HashText, result })),
    ),
  ),
)
