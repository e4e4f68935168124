/** The tracers of `debug_trace*`. A new one is a file in `evm/tracing`, a record beside this file, and its entry in `SINGLE`. */
import { z } from 'zod'
import { HashText } from '../scalars.ts'
import { callTracer } from './call-tracer.ts'
import { fourByteTracer } from './four-byte-tracer.ts'
import { createMuxTracer } from './mux-tracer.ts'
import { noopTracer } from './noop-tracer.ts'
import { traceOptionsObject } from './options.ts'
import { prestateTracer } from './prestate-tracer.ts'
import { rskTracer } from './rsk-tracer.ts'
import { structLogger } from './struct-logger.ts'
import type { TracerDescription, TracerRecord } from './tracer-record.ts'

const SINGLE: readonly [TracerRecord, ...TracerRecord[]] = [
  rskTracer,
  structLogger,
  callTracer,
  prestateTracer,
  fourByteTracer,
  noopTracer,
]

const mux = createMuxTracer(SINGLE)

/** All tracers; the first is the default, as on the reference node. */
export const TRACERS: readonly TracerDescription[] = [...SINGLE, mux]

/** The options object of a request. */
export const TraceOptionsObject = traceOptionsObject(SINGLE, mux)

/** The result of any tracer. */
export const TraceResult: z.ZodType<object> = z.lazy(() => z.union(TRACERS.map(({ result }) => result)))

/** The traces of a block, by any tracer. */
export const BlockTraces: z.ZodType<object> = z.lazy(() =>
  z.union(
    TRACERS.map(({ result, isBareInBlocks }) =>
      z.array(isBareInBlocks ? result : z.strictObject({ txHash: HashText, result })),
    ),
  ),
)
