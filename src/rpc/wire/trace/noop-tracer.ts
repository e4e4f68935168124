/** No trace: geth's `noopTracer`, for measuring the cost of execution without tracing. */
import { z } from 'zod'
import { tracer } from './tracer-record.ts'

/** The `noopTracer`. */
export const noopTracer = tracer({
  name: 'noopTracer',
  summary: 'an empty object',
  options: {},
  result: z.lazy(() => z.strictObject({}).meta({ id: 'EmptyTrace', description: 'Nothing (noopTracer)' })),
  start: () => ({ tracer: {}, result: () => ({}) }),
})
