/** The options of `debug_trace*`: which tracer, and its switches (docs/rpc-reference.md#711-debug). */
import { z } from 'zod'
import { invalidParams } from '../../../errors.ts'
import { type Parameter, refuse } from '../../parameter.ts'
import { Flag, wholeNumber } from '../scalars.ts'

/** The tracers by name; the first is that of the chain's node and the default. */
export const TRACER_NAMES = [
  'rskTracer',
  'structLogger',
  'callTracer',
  'prestateTracer',
  '4byteTracer',
  'noopTracer',
  'muxTracer',
] as const

/** One of them. */
export type TracerName = (typeof TRACER_NAMES)[number]

/** The switches, whoever reads them. */
const FLAGS = [
  'disableMemory',
  'disableStack',
  'disableStorage',
  'enableMemory',
  'enableReturnData',
  'onlyTopCall',
  'withLog',
  'diffMode',
  'disableCode',
] as const

/** A tracer and how it is set. */
export interface TraceOptions {
  readonly tracer: TracerName
  readonly flags: Readonly<Record<(typeof FLAGS)[number], boolean>>
  /** Steps to write at most; 0 is no limit. */
  readonly limit: number
  /** The tracers of a `muxTracer`. */
  readonly parts: readonly TraceOptions[]
}

const Limit = wholeNumber('Steps', Number.MAX_SAFE_INTEGER)

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function tracerNamed(given: unknown, name: string): TracerName {
  if (given === undefined || given === null) return TRACER_NAMES[0]
  if (typeof given !== 'string') refuse(name, 'the name of a tracer')
  const found = TRACER_NAMES.find((known) => known.toLowerCase() === given.toLowerCase())
  if (found !== undefined) return found
  const shown = given.length > 60 ? `${given.slice(0, 60)}...` : given
  throw invalidParams(`Invalid ${name}: there is no tracer "${shown}"; there are ${TRACER_NAMES.join(', ')}.`)
}

/** Members by name; `disable…` and `enable…` in any case, as the node has it. What both have, the configuration decides. */
function switchesOf(...sources: readonly Record<string, unknown>[]): Map<string, unknown> {
  const found = new Map<string, unknown>()
  for (const [key, value] of sources.flatMap((source) => Object.entries(source))) {
    const flag = FLAGS.find((known) => known.toLowerCase() === key.toLowerCase())
    const anyCase = flag?.startsWith('disable') === true || flag?.startsWith('enable') === true
    found.set(anyCase && flag !== undefined ? flag : key, value)
  }
  return found
}

function readOptions(given: Record<string, unknown>, name: string): TraceOptions {
  const { tracer: wanted, tracerConfig = {} } = given
  const tracer = tracerNamed(wanted, `${name}.tracer`)
  const config = tracerConfig ?? {}
  if (!isObject(config)) refuse(`${name}.tracerConfig`, 'an object')
  const switches = switchesOf(given, config)
  const flag = (key: string): boolean => {
    const value = switches.get(key)
    return value === undefined || value === null ? false : Flag.read(value, `${name}.${key}`)
  }
  const limit = switches.get('limit')
  return {
    tracer,
    flags: {
      disableMemory: flag('disableMemory'),
      disableStack: flag('disableStack'),
      disableStorage: flag('disableStorage'),
      enableMemory: flag('enableMemory'),
      enableReturnData: flag('enableReturnData'),
      onlyTopCall: flag('onlyTopCall'),
      withLog: flag('withLog'),
      diffMode: flag('diffMode'),
      disableCode: flag('disableCode'),
    },
    limit: limit === undefined || limit === null ? 0 : Limit.read(limit, `${name}.limit`),
    parts: tracer === 'muxTracer' ? readParts(config, `${name}.tracerConfig`) : [],
  }
}

function readParts(config: Record<string, unknown>, name: string): readonly TraceOptions[] {
  return Object.entries(config).map(([tracer, tracerConfig]) => {
    if (tracerNamed(tracer, name) === 'muxTracer')
      throw invalidParams(`Invalid ${name}: muxTracer holds no muxTracer.`)
    return readOptions({ tracer, tracerConfig }, name)
  })
}

const flagSchema = z.union([z.boolean(), z.string()]).optional()

/** The options object; unknown members are ignored, as the node does. */
export const TraceOptionsObject: Parameter<TraceOptions> = {
  schema: z.object({
    tracer: z.string().optional().describe(TRACER_NAMES.join(', ')),
    disableMemory: flagSchema,
    disableStack: flagSchema,
    disableStorage: flagSchema,
    enableMemory: flagSchema,
    enableReturnData: flagSchema,
    limit: z.union([z.int(), z.string()]).optional(),
    tracerConfig: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('onlyTopCall, withLog, diffMode, disableCode, disableStorage; the tracers of a muxTracer'),
  }),
  read(value, name) {
    return isObject(value) ? readOptions(value, name) : refuse(name, 'an object')
  },
}
