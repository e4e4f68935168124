/** The options of `debug_trace*`: a tracer and its options (docs/internals/rpc-reference.md#711-debug). */
import { isObject } from '../../../encoding/json-object.ts'
import { anyOf, literals, text } from '../../json-forms.ts'
import { either, expected, mapped, object, orNull, type Parameter, scalar } from '../../parameter.ts'
import { Flag } from '../scalars.ts'
import type { CombinedTracer, TraceOptions, TracerDescription, TracerRecord } from './tracer-record.ts'

/** An option with its default value. */
export function absentAs<T>(parameter: Parameter<T>, value: T): Parameter<T> {
  return { ...parameter, absent: { wire: value, value } }
}

/** A switch that is off unless set. */
export const OFF: Parameter<boolean> = absentAs(Flag, false)

type Options = TracerRecord['options']
type Values = Readonly<Record<string, unknown>>

function isSameName(given: unknown, name: string): boolean {
  return typeof given === 'string' && given.toLowerCase() === name.toLowerCase()
}

/** `disable…` and `enable…` options written in another case, as on the reference node: on for boolean or text `true`, else off. */
function switchesInAnyCase(given: unknown, options: Options): Values {
  const names = Object.keys(options).filter((name) => /^(disable|enable)/.test(name))
  const found: Record<string, boolean> = {}
  for (const [key, value] of Object.entries(isObject(given) ? given : {})) {
    const name = names.find((candidate) => candidate !== key && isSameName(key, candidate))
    if (name !== undefined) found[name] = value === true || isSameName(value, 'true')
  }
  return found
}

/** An object of options, all of which may be absent or null, and of other members; unknown members are ignored. */
function optionsObject(options: Options, others: Options = {}): Parameter<Values> {
  const members = object(
    Object.fromEntries(
      Object.entries({ ...others, ...options }).map(([name, one]) => [name, orNull(one, undefined)] as const),
    ),
  )
  return {
    schema: members.schema,
    read: (value, name) => ({ ...switchesInAnyCase(value, options), ...members.read(value, name) }),
  }
}

/** A tracer with the options of a request. */
export function configured(tracer: TracerRecord, given: Values): TraceOptions {
  const values = Object.entries(tracer.options).map(
    ([name, { absent }]) => [name, given[name] ?? absent?.value] as const,
  )
  return { tracer, setup: tracer.configure(Object.fromEntries(values)) }
}

/** One of the tracers by its name, in any case. */
function nameOf<T extends TracerDescription>(tracers: readonly T[], all: readonly string[]): Parameter<T> {
  const names = tracers.map(({ name }) => name)
  return scalar({
    form: anyOf(literals(...names), text(new RegExp(`^(${names.join('|')})$`, 'i'))),
    description: tracers.map(({ name, summary }) => `${name}: ${summary}`).join('; '),
    decode: (given) => tracers.find(({ name }) => isSameName(given, name)) as T,
    refusal(given, name) {
      if (typeof given !== 'string') return expected(name, 'the name of a tracer')
      const shown = given.length > 60 ? `${given.slice(0, 60)}...` : given
      return `Invalid ${name}: there is no tracer "${shown}"; there are ${all.join(', ')}.`
    },
  })
}

/** The options object for these tracers, the first of which is the default, and for the one that runs several. */
export function traceOptionsObject(
  tracers: readonly [TracerRecord, ...TracerRecord[]],
  combined: CombinedTracer,
): Parameter<TraceOptions> {
  const all = [...tracers, combined].map(({ name }) => name)
  const options: Options = Object.assign({}, ...tracers.map((tracer) => tracer.options))
  const single = mapped(
    optionsObject(options, { tracer: nameOf(tracers, all), tracerConfig: optionsObject(options) }),
    ({ tracer, tracerConfig, ...given }) => {
      const values = { ...given, ...(tracerConfig as Values) }
      if (tracer !== undefined) return configured(tracer as TracerRecord, values)
      return { ...configured(tracers[0], values), unnamed: values }
    },
  )

  const parts = tracers.map((tracer) => {
    const part = mapped(optionsObject(tracer.options), (given) => configured(tracer, given))
    return [tracer.name, orNull(part, configured(tracer, {}))] as const
  })
  const several = mapped(
    object(
      {
        tracer: nameOf([combined], all),
        tracerConfig: orNull(object(Object.fromEntries(parts), { closed: true }), undefined),
      },
      { required: ['tracer'] },
    ),
    ({ tracerConfig = {} }): TraceOptions => ({
      tracer: combined,
      setup: combined.combine(Object.values(tracerConfig)),
    }),
  )

  const wantsSeveral = (value: unknown): boolean => isObject(value) && isSameName(value.tracer, combined.name)
  return either(wantsSeveral, several, single)
}
