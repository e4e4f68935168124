/** Function selectors and their counts: geth's `4byteTracer`. */
import { z } from 'zod'
import { FourByteTracer } from '../../../evm/tracing/four-byte-tracer.ts'
import { tracer } from './tracer-record.ts'

/** The `4byteTracer`. */
export const fourByteTracer = tracer({
  name: '4byteTracer',
  summary: 'counts of calls by selector and argument length',
  options: {},
  result: z.lazy(() =>
    z
      .record(z.string().regex(/^0x[0-9a-f]{8}-\d+$/), z.int().positive())
      .meta({ id: 'SelectorCounts', description: 'Counts by `selector-bytes` (4byteTracer)' }),
  ),
  start() {
    const selectors = new FourByteTracer()
    return { tracer: selectors, result: () => Object.fromEntries(selectors.counts) }
  },
})
