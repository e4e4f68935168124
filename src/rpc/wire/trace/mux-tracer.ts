/** Several tracers in one run: geth's `muxTracer`. */
import { z } from 'zod'
import { muxTracers } from '../../../evm/tracing/mux-tracer.ts'
import { jsonObject } from '../../raw-json.ts'
import type { TracerRecord } from './tracer-record.ts'

const NAME = 'muxTracer'

/** The `muxTracer` over others; the result holds one member per tracer of its `tracerConfig`. */
export function createMuxTracer(tracers: readonly TracerRecord[]): TracerRecord {
  return {
    name: NAME,
    summary: 'an object with the result of each tracer that its tracerConfig names',
    options: {},
    result: z
      .strictObject(Object.fromEntries(tracers.map(({ name, result }) => [name, result.optional()])))
      .meta({ id: 'MuxTrace', description: 'Results by tracer (muxTracer)' }),
    isBareInBlocks: false,
    configure(_, config) {
      const parts = Object.entries(config.members).map(([name, tracerConfig]) => {
        if (name.toLowerCase() === NAME.toLowerCase()) config.refuse(`${NAME} holds no ${NAME}`)
        return config.part(name, tracerConfig)
      })
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
