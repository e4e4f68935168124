/** The definition of a setting, and the check of values against a table of settings. */
import { inspect } from 'node:util'
import { NodeError } from '../errors.ts'
import type { Kind } from './kinds.ts'
import { PRESET_DEFAULTS, type Preset } from './presets.ts'

/** One setting. Its property name is its key in code and in the configuration file. */
export interface Setting<Value, Input = Value, Fallback extends Value | undefined = Value | undefined>
  extends Kind<Value, Input> {
  /** As typed, with its argument; a name starting with `no-` turns off a setting that is on by default. */
  readonly flag: `--${string}`
  readonly help: string
  readonly fallback: Fallback
  /** The default in the hosted profile, where it differs. */
  readonly hosted?: Value
  /** Error messages omit the value. */
  readonly secret?: true
  /** The flag may be given several times: what its texts are joined with. */
  readonly repeatable?: string
  /** A description of the default, where the value alone does not explain it. */
  readonly fallbackText?: string
  /** The reference node's configuration keys for the same setting, each with the translation of its value. */
  readonly rskjKeys?: Readonly<Record<string, (value: unknown) => unknown>>
  /** For a setting that is an object: the member that a key of the configuration file, dots included, sets. */
  readonly memberKey?: (key: string) => string | undefined
}

/** Combines a kind of value with the definition of one setting. */
export function setting<Value, Input, const Fallback extends Value | undefined>(
  kind: Kind<Value, Input>,
  rest: Omit<Setting<Value, Input, Fallback>, keyof Kind<Value, Input>>,
): Setting<Value, Input, Fallback> {
  return { ...kind, ...rest }
}

/** The default of a setting for help texts: that of the node profile, and of the hosted one where it differs. */
export function describeDefault({ fallback, fallbackText, hosted }: Setting<unknown, unknown>): string {
  const text = fallbackText ?? String(fallback)
  return hosted === undefined ? text : `${text}; hosted ${hosted}`
}

/** Settings by key. */
export type Table = Readonly<Record<string, Setting<unknown, unknown>>>
/** Checked values of a table, with its defaults. */
export type Values<Settings> = {
  readonly [K in keyof Settings]: Settings[K] extends Setting<infer Value, infer _Input, infer Fallback>
    ? Value | Fallback
    : never
}
/** Input values for a table, all optional. */
export type Inputs<Settings> = {
  readonly [K in keyof Settings]?:
    | (Settings[K] extends Setting<infer _Value, infer Input, infer _Fallback> ? Input : never)
    | undefined
}

function shown(value: unknown): string {
  return typeof value === 'string'
    ? JSON.stringify(value)
    : inspect(value, { breakLength: Infinity, depth: 1 })
}

/** Checks one value; `source` names it in the error message (a flag, a variable, a key). Throws `invalid-options`. */
export function checkSetting(definition: Setting<unknown, unknown>, value: unknown, source: string): unknown {
  const outcome = definition.schema().safeParse(value)
  if (outcome.success) return outcome.data
  if (definition.secret) throw new NodeError('invalid-options', `${source} expects ${definition.expects}.`)
  const message = `${source} expects ${definition.expects}, not ${shown(value)}.`
  throw new NodeError('invalid-options', message)
}

/** What decides about defaults beside the setting itself. */
export interface DefaultsOf {
  readonly profile?: 'node' | 'hosted' | undefined
  readonly preset?: Preset | undefined
}

/**
 * Checks given options against a table and fills in its defaults, which profile and preset may change. `parts` are keys
 * that are not settings. Throws `invalid-options` naming the option.
 */
export function resolve(
  table: Table,
  given: object,
  { profile, preset = 'rsk' }: DefaultsOf = {},
  parts: readonly string[] = [],
): object {
  const presetDefaults = PRESET_DEFAULTS[preset]
  const values = new Map<string, unknown>(Object.entries(given))
  for (const key of values.keys()) {
    if (!Object.hasOwn(table, key) && !parts.includes(key)) {
      throw new NodeError('invalid-options', `There is no option "${key}".`)
    }
  }
  return Object.fromEntries(
    Object.entries(table).map(([key, definition]) => {
      const value = values.get(key)
      if (value !== undefined) return [key, checkSetting(definition, value, `Option "${key}"`)]
      const hosted = profile === 'hosted' ? definition.hosted : undefined
      return [key, hosted ?? presetDefaults?.[key] ?? definition.fallback]
    }),
  )
}
