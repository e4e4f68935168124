/** Reads checked settings from flags, environment and configuration file, in this order of precedence. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { NodeError } from '../errors.ts'
import { FILE_SETTINGS } from '../options/file-settings.ts'
import {
  NODE_SETTINGS,
  type NodeOptions,
  resolveNodeOptions,
  resolveServeOptions,
  resolveTerminalOptions,
  type ServeOptions,
  type TerminalOptions,
} from '../options/options.ts'
import { SERVE_SETTINGS } from '../options/serve-settings.ts'
import { checkSetting, type Inputs, type Setting } from '../options/setting.ts'
import { TERMINAL_SETTINGS } from '../options/terminal-settings.ts'
import type { StateFiles } from './state-files.ts'

/** What `tandem start` runs with. */
export interface Settings {
  readonly node: NodeOptions
  readonly serve: ServeOptions
  readonly terminal: TerminalOptions
  readonly files: {
    /** A genesis file. */
    readonly init?: string | undefined
    readonly state?: StateFiles
  }
}

/** Flags as typed: name without dashes (`no-wallet` too) and argument; `true` for a flag without one. */
export type TypedFlags = ReadonlyMap<string, string | true>

type Values = ReadonlyMap<string, unknown>

/** All settings of the command, by key. */
export const SETTINGS: Readonly<Record<string, Setting<unknown, unknown>>> = {
  ...NODE_SETTINGS,
  ...SERVE_SETTINGS,
  ...FILE_SETTINGS,
  ...TERMINAL_SETTINGS,
}

/** The flag that names a configuration file; it has no key of its own. */
export const CONFIG_FLAG = { flag: '--config <file>', help: 'JSON file with settings' } as const

/** The name of a flag, without dashes and argument. */
export function flagName(flag: string): string {
  return flag.replace(/^--/, '').replace(/ .*$/, '')
}

/** The environment variable of a flag. */
export function variableOf(flag: string): string {
  return `TANDEM_${flagName(flag).toUpperCase().replaceAll('-', '_')}`
}

const isNegated = (flag: string): boolean => flagName(flag).startsWith('no-')

function refused(message: string): NodeError {
  return new NodeError('invalid-options', message)
}

/** Text of a flag or variable to a checked value; `--no-x` negates x. */
function fromText(setting: Setting<unknown, unknown>, text: string, source: string): unknown {
  const value = checkSetting(setting, setting.fromText(text), source)
  return isNegated(setting.flag) ? value !== true : value
}

function fromFlags(flags: TypedFlags): Values {
  const values = new Map<string, unknown>()
  for (const [key, setting] of Object.entries(SETTINGS)) {
    const typed = flags.get(flagName(setting.flag))
    if (typed === undefined) {
      if (flags.has(`no-${flagName(setting.flag)}`)) values.set(key, false)
      else if (isNegated(setting.flag) && flags.has(flagName(setting.flag).slice('no-'.length))) {
        values.set(key, true)
      }
      continue
    }
    const source = `--${flagName(setting.flag)}`
    values.set(key, fromText(setting, typed === true ? 'true' : typed, source))
  }
  return values
}

/** The variable that `tandem exec` sets for its command, which may be another node; not a setting. */
export const URL_VARIABLE = 'TANDEM_URL'

/** An empty variable counts as not set: compose files pass missing values on as empty ones. */
function fromEnvironment(env: Readonly<Record<string, string | undefined>>): Values {
  const keys = new Map(Object.entries(SETTINGS).map(([key, { flag }]) => [variableOf(flag), key]))
  const values = new Map<string, unknown>()
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith('TANDEM_') || name === variableOf(CONFIG_FLAG.flag) || name === URL_VARIABLE)
      continue
    const key = keys.get(name)
    if (key === undefined) throw refused(`There is no setting for the environment variable ${name}.`)
    if (text !== undefined && text !== '') {
      values.set(key, fromText(SETTINGS[key] as Setting<unknown, unknown>, text, name))
    }
  }
  return values
}

/** Nested objects to keys with dots: the reference node accepts both forms. */
function flatten(value: unknown, prefix: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[prefix, value]]
  return Object.entries(value).flatMap(([key, member]) =>
    flatten(member, prefix === '' ? key : `${prefix}.${key}`),
  )
}

/** The setting of each key of a file, and the translation of its value: our keys, and the reference node's. */
function fileKeys(): Map<string, { key: string; translate: (value: unknown) => unknown }> {
  const keys = new Map<string, { key: string; translate: (value: unknown) => unknown }>()
  for (const [key, { rskjKeys }] of Object.entries(SETTINGS)) {
    keys.set(key, { key, translate: (value) => value })
    for (const [name, translate] of Object.entries(rskjKeys ?? {})) keys.set(name, { key, translate })
  }
  return keys
}

/** Keys that are members of a setting which is an object become one key with that object. */
function gatherMembers(entries: readonly [string, unknown][]): [string, unknown][] {
  const gathered = new Map<string, [string, unknown][]>()
  const rest = entries.filter(([name, value]) => {
    for (const [key, { memberKey }] of Object.entries(SETTINGS)) {
      const member = memberKey?.(name)
      if (member === undefined) continue
      gathered.set(key, [...(gathered.get(key) ?? []), [member, value]])
      return false
    }
    return true
  })
  return [...rest, ...[...gathered].map(([key, own]): [string, unknown] => [key, Object.fromEntries(own)])]
}

function readJson(file: string): unknown {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : String(error)
    throw refused(`Cannot read the configuration file ${file}: ${why}.`)
  }
  try {
    return JSON.parse(text)
  } catch {
    throw refused(`The configuration file ${file} is not JSON.`)
  }
}

function fromFile(file: string): Values {
  const content = readJson(file)
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw refused(`The configuration file ${file} does not hold a JSON object.`)
  }
  const known = fileKeys()
  const values = new Map<string, unknown>()
  const members = Object.entries(content).flatMap(([key, member]) => flatten(member, key))
  for (const [name, value] of gatherMembers(members)) {
    const match = known.get(name)
    if (match === undefined) throw refused(`There is no setting "${name}", which ${file} names.`)
    if (values.has(match.key))
      throw refused(`${file} gives the setting "${match.key}" twice, again as "${name}".`)
    const setting = SETTINGS[match.key] as Setting<unknown, unknown>
    values.set(match.key, checkSetting(setting, match.translate(value), `"${name}" in ${file}`))
  }
  return values
}

/** Overrides values of lower precedence. Memory and a directory exclude each other: the higher precedence decides. */
function override(lower: Values, higher: Values): Values {
  const merged = new Map(lower)
  if (higher.get('memory') === true) merged.delete('dataDir')
  if (higher.has('dataDir')) merged.delete('memory')
  for (const [key, value] of higher) merged.set(key, value)
  return merged
}

function pick(values: Values, table: object): object {
  return Object.fromEntries(Object.keys(table).map((key) => [key, values.get(key)]))
}

/**
 * Reads all settings; `defaults` have the lowest precedence. Without `memory` and `dataDir` the database is in
 * `.tandem/<chain>`.
 * Throws `invalid-options` naming the flag, variable or key that is unknown or malformed.
 */
export function readSettings(
  flags: TypedFlags,
  env: Readonly<Record<string, string | undefined>>,
  defaults: Values = new Map(),
): Settings {
  const typedFile = flags.get(flagName(CONFIG_FLAG.flag)) ?? env[variableOf(CONFIG_FLAG.flag)]
  const file = typeof typedFile === 'string' && typedFile !== '' ? fromFile(typedFile) : new Map()
  const values = [file, fromEnvironment(env), fromFlags(flags)].reduce(override, defaults)
  const given: NodeOptions = pick(values, NODE_SETTINGS)
  const { chain, memory, dataDir, profile, preset, fork } = resolveNodeOptions(given)
  const serve: ServeOptions = pick(values, SERVE_SETTINGS)
  resolveServeOptions(serve, { profile, preset })
  const { init, state }: Inputs<typeof FILE_SETTINGS> = pick(values, FILE_SETTINGS)
  if (state !== undefined && dataDir !== undefined) {
    throw refused(
      'Settings "state" and "dataDir" contradict each other: a state file is for a chain in memory.',
    )
  }
  // A fork is kept on disk only on request: the default directory is for a local chain.
  const inMemory = memory === true || state !== undefined || (fork !== undefined && dataDir === undefined)
  return {
    node: inMemory ? given : { ...given, dataDir: dataDir ?? join('.tandem', basename(chain, '.json')) },
    serve,
    terminal: resolveTerminalOptions(pick(values, TERMINAL_SETTINGS)),
    files: {
      init,
      ...(state !== undefined && { state: { load: { path: state, mayBeMissing: true }, dump: state } }),
    },
  }
}
