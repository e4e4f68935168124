/** Flags of settings on a command: read as text, since settings from every source are checked in one place. */
import { type Command, Option } from 'commander'
import { describeDefault, type Setting } from '../options/setting.ts'
import { hidden } from './secrets.ts'
import { CONFIG_FLAG, flagName, SETTINGS, type TypedFlags, variableOf } from './settings.ts'

function helpOf(setting: Setting<unknown, unknown>): string {
  const { help, fallback, fallbackText, flag } = setting
  const showsDefault = fallbackText !== undefined || typeof fallback !== 'boolean'
  const text = showsDefault ? `${help} (default: ${describeDefault(setting)})` : help
  return `${text} [${variableOf(flag)}]`
}

/** Adds the flag of the configuration file. */
export function addConfigFlag(command: Command): void {
  command.option(CONFIG_FLAG.flag, `${CONFIG_FLAG.help} [${variableOf(CONFIG_FLAG.flag)}]`)
}

/** Adds the flag of a setting. */
export function addSettingFlag(command: Command, setting: Setting<unknown, unknown>): void {
  const option = new Option(setting.flag, helpOf(setting))
  const { repeatable } = setting
  if (repeatable !== undefined) {
    option.argParser((text, before: string | undefined) =>
      before === undefined ? text : `${before}${repeatable}${text}`,
    )
  }
  command.addOption(setting.secret ? hidden(option) : option)
}

/** Adds the flag of the configuration file, and those of the settings with these keys. */
export function addSettingFlags(command: Command, keys: readonly string[]): void {
  addConfigFlag(command)
  for (const key of keys) addSettingFlag(command, SETTINGS[key] as Setting<unknown, unknown>)
}

/** The flags that were typed. */
export function typedFlags(command: Command): TypedFlags {
  const flags = new Map<string, string | true>()
  for (const option of command.options) {
    const name = option.attributeName()
    if (command.getOptionValueSource(name) !== 'cli') continue
    const value: unknown = command.getOptionValue(name)
    if (option.negate !== (value === false)) continue
    flags.set(flagName(option.long ?? ''), typeof value === 'string' ? value : true)
  }
  return flags
}
