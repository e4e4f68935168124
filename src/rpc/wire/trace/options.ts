/** The options of `debug_trace*`: a tracer and its options (docs/rpc-reference.md#711-debug). */
import { z } from 'zod'
import { invalidParams } from '../../../errors.ts'
import { type Parameter, refuse } from '../../parameter.ts'
import { Flag } from '../scalars.ts'
import type { TraceOptions, TracerRecord } from './tracer-record.ts'

/** An option with the value that its absence stands for. */
export function absentAs<T>(parameter: Parameter<T>, value: T): Parameter<T> {
  return { ...parameter, absent: { wire: value, value } }
}

/** A switch that is off unless set. */
export const OFF: Parameter<boolean> = {
  ...absentAs(Flag, false),
  schema: z.union([z.boolean(), z.enum(['true', 'false'])]),
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

/** The wire form: unknown members are ignored, as the reference node does. */
function schemaOf(tracers: readonly TracerRecord[]): z.ZodType {
  const wire = (options: TracerRecord['options']) =>
    Object.fromEntries(Object.entries(options).map(([name, { schema }]) => [name, schema.optional()]))
  const all = wire(allOptions(tracers))
  const parts = tracers.map(({ name, options }) => [name, z.object(wire(options)).optional()] as const)
  return z.object({
    tracer: z
      .string()
      .optional()
      .describe(tracers.map(({ name, summary }) => `${name}: ${summary}`).join('; ')),
    ...all,
    tracerConfig: z
      .object({ ...all, ...Object.fromEntries(parts) })
      .optional()
      .describe('The same options; the tracers of a muxTracer, each with its own options'),
  })
}

function allOptions(tracers: readonly TracerRecord[]): TracerRecord['options'] {
  return Object.assign({}, ...tracers.map(({ options }) => options))
}

/** The options object over a list of tracers, of which the first is the default. */
export function traceOptionsObject(tracers: readonly TracerRecord[]): Parameter<TraceOptions> {
  const known = allOptions(tracers)
  const names = Object.keys(known)

  function tracerNamed(given: unknown, name: string): TracerRecord {
    const wanted = isAbsent(given) ? tracers[0]?.name : given
    if (typeof wanted !== 'string') refuse(name, 'the name of a tracer')
    const found = tracers.find((tracer) => tracer.name.toLowerCase() === wanted.toLowerCase())
    if (found !== undefined) return found
    const shown = wanted.length > 60 ? `${wanted.slice(0, 60)}...` : wanted
    const all = tracers.map((tracer) => tracer.name).join(', ')
    throw invalidParams(`Invalid ${name}: there is no tracer "${shown}"; there are ${all}.`)
  }

  /** `disable…` and `enable…` in any case, as on the reference node. A later source overrides an earlier one. */
  function membersOf(...sources: readonly Record<string, unknown>[]): Map<string, unknown> {
    const members = new Map<string, unknown>()
    for (const [key, value] of sources.flatMap((source) => Object.entries(source))) {
      const option = names.find((candidate) => candidate.toLowerCase() === key.toLowerCase())
      const isAnyCase = option !== undefined && /^(disable|enable)/.test(option)
      members.set(isAnyCase ? option : key, value)
    }
    return members
  }

  function readOptions(given: Record<string, unknown>, name: string): TraceOptions {
    const tracer = tracerNamed(given.tracer, `${name}.tracer`)
    const config = given.tracerConfig ?? {}
    if (!isObject(config)) refuse(`${name}.tracerConfig`, 'an object')
    const members = membersOf(given, config)
    const values: Record<string, unknown> = {}
    for (const [key, parameter] of Object.entries(known)) {
      const value = members.get(key)
      values[key] = isAbsent(value) ? parameter.absent?.value : parameter.read(value, `${name}.${key}`)
    }
    const setup = tracer.configure(values, {
      members: config,
      part: (part, tracerConfig) => readOptions({ tracer: part, tracerConfig }, `${name}.tracerConfig`),
      refuse(reason) {
        throw invalidParams(`Invalid ${name}.tracerConfig: ${reason}.`)
      },
    })
    return { tracer, setup }
  }

  return {
    schema: schemaOf(tracers),
    read(value, name) {
      return isObject(value) ? readOptions(value, name) : refuse(name, 'an object')
    },
  }
}
