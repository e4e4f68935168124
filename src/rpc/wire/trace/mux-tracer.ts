/** Several tracers in one run: geth's `muxTracer`. */
import { z } from 'zod'
import { muxTracers } from '../../../evm/tracing/mux-tracer.ts'
import { jsonObject } from '../../raw-json.ts'
import type { CombinedTracer, TracerRecord } from './tracer-record.ts'

/** The `muxTracer` over others; the result has one member for each tracer in its `tracerConfig`. */
export function createMuxTracer(tracers: readonly TracerRecord[]): CombinedTracer {
  return {
    name: 'muxTracer',
    summary: 'an object with the result of each tracer that its tracerConfig names',
    options: {},
    result: z.lazy(() =>
      z
        .strictObject(Object.fromEntries(tracers.map(({ name, result }) => [name, result.optional()])))
        .meta({ id: 'MuxTrace', description: 'Results by tracer (muxTracer)' }),
    ),
    isBareInBlocks: false,
    combine(parts) {
      return {
        start(limits) {
          const runs = parts.map(({ tracer, setup }) => [tracer.name, setup.start(limits)] as const)
          return {
            tracer: muxTracers(runs.map(([, { tracer }]) => tracer)),
            result: (place) => jsonObject(runs.map(([name, run]) => [name, run.result(place)] as const)),
          }
        },
      }
    },
  }
}
