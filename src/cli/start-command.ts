/** The command line of `tandem start`: its flags and their help texts. */
import { type Command, Option } from 'commander'
import { PRESET_DEFAULTS } from '../options/presets.ts'
import { describeDefault, type Setting } from '../options/setting.ts'
import { CONFIG_FLAG, flagName, readSettings, SETTINGS, type TypedFlags, variableOf } from './settings.ts'
import type { NodeWriters } from './start.ts'

/** Resolves at the first signal; the second ends the process at once. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let count = 0
    const onSignal = () => {
      count++
      if (count > 1) process.exit(1)
      resolve()
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
}

function helpOf(setting: Setting<unknown, unknown>): string {
  const { help, fallback, fallbackText, flag } = setting
  const showsDefault = fallbackText !== undefined || typeof fallback !== 'boolean'
  const text = showsDefault ? `${help} (default: ${describeDefault(setting)})` : help
  return `${text} [${variableOf(flag)}]`
}

function typedFlags(command: Command): TypedFlags {
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

/** Is this a flag without an argument that a preset sets? */
function isSwitchOfPreset(key: string): boolean {
  return Object.values(PRESET_DEFAULTS).some((values) => values[key] === true)
}

/**
 * Fills in the command. Its flags are read as text, since settings from every source are checked in one place. The
 * action throws `NodeError` and `ListenError`.
 */
export function fillStartCommand(command: Command, writers: NodeWriters): void {
  command.option(CONFIG_FLAG.flag, `${CONFIG_FLAG.help} [${variableOf(CONFIG_FLAG.flag)}]`)
  for (const [key, setting] of Object.entries(SETTINGS)) {
    command.addOption(new Option(setting.flag, helpOf(setting)))
    if (isSwitchOfPreset(key)) {
      const name = flagName(setting.flag)
      command.addOption(new Option(`--no-${name}`, `leave --${name} off where the preset sets it`))
    }
  }
  command.allowExcessArguments(false).action(async () => {
    const stopped = untilSignal()
    const settings = readSettings(typedFlags(command), process.env)
    // Loaded last, so that --help and a misspelt flag do not wait for the node's code.
    const { start } = await import('./start.ts')
    await start(settings, writers, stopped)
  })
}
