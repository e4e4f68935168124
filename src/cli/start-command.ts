/** The command line of `tandem start`: its flags and their help texts. */
import { type Command, Option } from 'commander'
import { OPTION_GROUPS } from '../options/groups.ts'
import { PRESET_DEFAULTS } from '../options/presets.ts'
import { writeCompileCache } from './compile-cache.ts'
import { addConfigFlag, addSettingFlag, typedFlags } from './setting-flags.ts'
import { flagName, readSettings, SETTINGS } from './settings.ts'
import type { NodeWriters, start } from './start.ts'
import { delayOptimization } from './v8-settings.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** The exit codes of shells for a process that one of the signals ended. */
const END = { SIGINT: () => process.exit(130), SIGTERM: () => process.exit(143) } as const

/**
 * Ends a starting node at the first signal, which loses nothing. The system does so by default, even while JavaScript
 * runs, except for the first process of a container, which gets only the signals that it listens to.
 */
export function endAtSignal(): void {
  if (process.pid === 1) for (const name of SIGNALS) process.on(name, END[name])
}

/** Undoes `endAtSignal` once the node runs. */
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

/** Loads the node's code, as late as possible, so that --help and a misspelt flag do not wait for it. */
export async function loadStart(): Promise<typeof start> {
  const loaded = await import('./start.ts')
  return (settings, writers, untilStopped, style) => {
    const onceOpen = () => {
      writeCompileCache()
      delayOptimization()
      return untilStopped()
    }
    return loaded.start(settings, writers, onceOpen, style)
  }
}

/** Is this a flag without an argument that a preset sets? */
function isSwitchOfPreset(key: string): boolean {
  return Object.values(PRESET_DEFAULTS).some((values) => values[key] === true)
}

/** Adds the flag of one setting, and the flag that undoes it where a profile or preset may have set it. */
function addStartFlag(command: Command, key: string): void {
  const setting = SETTINGS[key]
  if (setting === undefined) throw new Error(`There is no setting ${key}.`)
  addSettingFlag(command, setting)
  const name = flagName(setting.flag)
  if (name.startsWith('no-') && setting.hosted === false) {
    const opposite = name.slice('no-'.length)
    command.addOption(new Option(`--${opposite}`, `the opposite of --${name}, for the hosted profile`))
  }
  if (isSwitchOfPreset(key)) {
    command.addOption(new Option(`--no-${name}`, `leave --${name} off where the preset sets it`))
  }
}

/** Adds the flags of all settings, in their groups, and that of the configuration file. */
export function addStartFlags(command: Command): void {
  for (const { title, keys } of OPTION_GROUPS) {
    command.optionsGroup(`${title}:`)
    for (const key of keys) addStartFlag(command, key)
  }
  command.optionsGroup('Other:')
  addConfigFlag(command)
}

const EXAMPLES = `
Examples:
  tandem start                             a local chain in .tandem/regtest
  tandem start --memory --port 8545        nothing on disk, another port
  tandem start --mining 5 --accounts 20    a block every five seconds
  tandem start --preset hardhat            accounts and defaults of Hardhat
  tandem start --fork https://node.example --fork-block 7000000
  tandem start --profile hosted --api-keys keys.json --host 0.0.0.0`

/** Fills in the command. Its action throws `NodeError` and `ListenError`. */
export function fillStartCommand(command: Command, writers: NodeWriters): void {
  addStartFlags(command)
  command.addHelpText('after', EXAMPLES)
  command.allowExcessArguments(false).action(async () => {
    endAtSignal()
    const settings = readSettings(typedFlags(command), process.env)
    const start = await loadStart()
    await start(settings, writers, untilSignal)
  })
}
