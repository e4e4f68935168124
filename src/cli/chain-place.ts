/** Where the chain of a command is: in a data directory, which its flags name and describe, or at a running node. */
import { type Command, Option } from 'commander'
import { NodeError } from '../errors.ts'
import type { NodeOptions } from '../options/options.ts'
import { hidden } from './secrets.ts'
import { addSettingFlags, typedFlags } from './setting-flags.ts'
import { readSettings } from './settings.ts'
import { withGenesisFile } from './state-files.ts'

/** The settings that decide which chain a new directory holds, and how it is written. */
const CHAIN_SETTINGS = [
  'chain',
  'chainId',
  'dataDir',
  'preset',
  'init',
  'genesisTime',
  'accounts',
  'accountBalance',
  'mnemonic',
  'wallet',
  'blockGasLimit',
  'minGasPrice',
  'difficulty',
  'fsync',
]

/** Adds the flags that name a data directory. */
export function addDirectoryFlags(command: Command): void {
  addSettingFlags(command, ['chain', 'dataDir'])
}

/** Adds the flags that name a data directory and describe the chain that begins in a new one. */
export function addChainFlags(command: Command): void {
  addSettingFlags(command, CHAIN_SETTINGS)
}

/** Adds the flag that names a running node; `action` is what is done there: "to read". */
export function addUrlFlag(command: Command, action: string): void {
  command.addOption(
    hidden(new Option('--url <url>', `a running node ${action}, in place of a data directory`)),
  )
}

/** The running node that the flags name, or `undefined`. Throws `invalid-options` when they name a directory as well. */
export function runningNode(command: Command): string | undefined {
  const url: string | undefined = command.getOptionValue('url')
  if (url === undefined || !typedFlags(command).has('data-dir')) return url
  throw new NodeError('invalid-options', 'The chain is in --data-dir or at --url, not in both.')
}

function required(dataDir: string | undefined): string {
  if (dataDir !== undefined) return dataDir
  throw new NodeError('invalid-options', 'The chain is in memory: name a data directory with --data-dir.')
}

/** The data directory that the flags, the environment or the configuration file name. Throws `invalid-options` when there is none. */
export function dataDirectory(command: Command): string {
  return required(readSettings(typedFlags(command), process.env).node.dataDir)
}

/** The options of a node on the data directory, with the genesis file read. Throws `invalid-options` as `dataDirectory` does. */
export async function chainOptions(command: Command): Promise<NodeOptions> {
  const { node, files } = readSettings(typedFlags(command), process.env)
  required(node.dataDir)
  return withGenesisFile(node, files.init)
}
