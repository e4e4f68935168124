/** The command line of `tandem start`: its flags and their help texts. */
import { type Command, Option } from 'commander'
import { PRESET_DEFAULTS } from '../options/presets.ts'
import { addConfigFlag, addSettingFlag, typedFlags } from './setting-flags.ts'
import { flagName, readSettings, SETTINGS } from './settings.ts'
import type { NodeWriters } from './start.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** The exit codes of shells for a process that one of the signals ended. */
const END = { SIGINT: () => process.exit(130), SIGTERM: () => process.exit(143) } as const

/**
 * Ends a node that is starting at a signal, at once: whatever it does then, a kill loses nothing. The system does that by
 * itself, also while JavaScript runs, except to the first process of a container, which gets no signal that it does not
 * listen to.
 */
export function endAtSignal(): void {
  if (process.pid === 1) for (const name of SIGNALS) process.on(name, END[name])
}

/** Undoes `endAtSignal`, for a node that runs. */
export function outliveSignals(): void {
  for (const name of SIGNALS) process.off(name, END[name])
}

/** Resolves at the first signal from now on; the second ends the process at once. */
export function untilSignal(): Promise<void> {
  outliveSignals()
  return new Promise((resolve) => {
    let count = 0
    const onSignal = () => {
      count++
      if (count > 1) process.exit(1)
      resolve()
    }
    for (const name of SIGNALS) process.on(name, onSignal)
  })
}

/** Is this a flag without an argument that a preset sets? */
function isSwitchOfPreset(key: string): boolean {
  return Object.values(PRESET_DEFAULTS).some((values) => values[key] === true)
}

/** Adds the flags of all settings and that of the configuration file. */
export function addStartFlags(command: Command): void {
  addConfigFlag(command)
  for (const [key, setting] of Object.entries(SETTINGS)) {
    addSettingFlag(command, setting)
    if (setting.flag.startsWith('--no-') && setting.hosted === false) {
      const name = flagName(setting.flag).slice('no-'.length)
      command.addOption(new Option(`--${name}`, `the opposite of --no-${name}, for the hosted profile`))
    }
    if (isSwitchOfPreset(key)) {
      const name = flagName(setting.flag)
      command.addOption(new Option(`--no-${name}`, `leave --${name} off where the preset sets it`))
    }
  }
}

/** Fills in the command. Its action throws `NodeError` and `ListenError`. */
export function fillStartCommand(command: Command, writers: NodeWriters): void {
  addStartFlags(command)
  command.allowExcessArguments(false).action(async () => {
    endAtSignal()
    const settings = readSettings(typedFlags(command), process.env)
    // Loaded last, so that --help and a misspelt flag do not wait for the node's code.
    const { start } = await import('./start.ts')
    await start(settings, writers, untilSignal)
  })
}
