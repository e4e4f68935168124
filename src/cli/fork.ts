/** `tandem fork`: the cache of forked chains: fetched ahead, moved to other machines, listed, removed. */

import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { isLocalNetwork } from '../chain/network.ts'
import { counted } from '../counted.ts'
import { type Hex, lowerCaseHex } from '../encoding/hex.ts'
import { createAccounts } from '../engine/wallet/accounts.ts'
import { NodeError } from '../errors.ts'
import { networkOf } from '../node/network-file.ts'
import { resolveNodeOptions } from '../options/options.ts'
import { exportCache, importCache } from '../state/remote/cache/archive.ts'
import { clearCache, listCache } from '../state/remote/cache/cache-directory.ts'
import type { RemoteChain, StateItem } from '../state/remote/model.ts'
import { openRemoteChain } from '../state/remote/remote-chain.ts'
import { systemDeps } from '../upstream/environment.ts'
import { defaultCacheDir, type RemoteSettings, remoteSettingsOf } from '../upstream/settings.ts'
import { importStateFile } from './fork-import-state.ts'
import { addSettingFlags, typedFlags } from './setting-flags.ts'
import { readSettings } from './settings.ts'
import type { Writers } from './start.ts'

/** Settings that decide what is fetched, and how. */
const FETCHING = [
  'fork',
  'forkBlock',
  'forkTransactionHash',
  'forkChainId',
  'forkHeader',
  'forkTimeoutMs',
  'forkRetries',
  'forkRate',
  'forkCallsPerDay',
  'forkCacheDir',
  'forkCacheSize',
  'forkVerify',
] as const
/** Settings that decide which accounts a start reads, to give them a balance. */
const ACCOUNTS = ['wallet', 'accounts', 'mnemonic', 'derivationPath'] as const
const KEEPING = ['forkChainId', 'forkCacheDir', 'forkCacheSize'] as const

function refused(message: string): NodeError {
  return new NodeError('invalid-options', message)
}

/** The settings of the flags, the environment and the configuration file; other settings found there are ignored. */
function optionsOf(command: Command) {
  return resolveNodeOptions(readSettings(typedFlags(command), process.env, new Map([['memory', true]])).node)
}

function placeOf(command: Command): { root: string; chainId: number | undefined; bytes: number } {
  const { forkCacheDir, forkChainId, forkCacheSize } = optionsOf(command)
  return {
    root: forkCacheDir ?? defaultCacheDir(process.env),
    chainId: forkChainId,
    bytes: forkCacheSize * 1024 * 1024,
  }
}

/** Something to fetch: state, a block by height, or the block of a transaction. */
type Wanted =
  | StateItem
  | { readonly kind: 'block'; readonly number: number }
  | { readonly kind: 'transaction'; readonly hash: Hex }

/** Reads an address, `address:slot`, a height, or the hash of a transaction. Throws `invalid-options`. */
export function wantedOf(text: string): Wanted {
  const [, address, slot] = /^(0x[0-9a-f]{40})(?::(0x[0-9a-f]{1,64}|\d{1,78}))?$/i.exec(text) ?? []
  if (address !== undefined) {
    const lower = lowerCaseHex(address)
    return slot === undefined
      ? { kind: 'account', address: lower }
      : { kind: 'cell', address: lower, slot: BigInt(slot) }
  }
  if (/^0x[0-9a-f]{64}$/i.test(text)) return { kind: 'transaction', hash: lowerCaseHex(text) }
  if (/^\d{1,15}$/.test(text)) return { kind: 'block', number: Number(text) }
  throw refused(`"${text}" is neither an address, address:slot, the hash of a transaction, nor a height.`)
}

/** The items of the command line and of a file, one a line or more; `#` begins a comment. */
function itemsOf(words: readonly string[], file: string | undefined): Wanted[] {
  let text = ''
  try {
    if (file !== undefined) text = readFileSync(file, 'utf8')
  } catch (error) {
    throw refused(`Cannot read the list ${file}: ${error instanceof Error ? error.message : String(error)}.`)
  }
  const lines = text.replace(/#.*$/gm, '').split(/\s+/)
  return [...words, ...lines].filter((word) => word !== '').map(wantedOf)
}

async function fetchBlock(chain: RemoteChain, wanted: Exclude<Wanted, StateItem>): Promise<void> {
  if (wanted.kind === 'block') {
    if ((await chain.blockByNumber(wanted.number)) !== undefined) return
    throw new NodeError(
      'upstream',
      `Block ${wanted.number} is above the fork point, block ${chain.point.number}.`,
    )
  }
  const location = await chain.transactionLocation(wanted.hash)
  const block = location && (await chain.blockByHash(location.block.hash))
  if (block === undefined) {
    throw new NodeError(
      'upstream',
      `There is no transaction ${wanted.hash} up to the fork point, block ${chain.point.number}.`,
    )
  }
  await chain.headerByHash(block.block.header.parentHash)
}

async function warm(
  settings: RemoteSettings,
  local: readonly Hex[],
  items: readonly Wanted[],
  { output, errors }: Writers,
): Promise<void> {
  const chain = await openRemoteChain(
    settings,
    systemDeps((message) => errors.write(message)),
  )
  try {
    const state: StateItem[] = local.map((address) => ({ kind: 'account', address }))
    for (const item of items) {
      if (item.kind === 'account' || item.kind === 'cell') state.push(item)
      else await fetchBlock(chain, item)
    }
    await chain.stateAt(chain.point).fetch(state)
    const { number, hash, chainId } = chain.point
    const { requests, calls } = chain.usage()
    output.write(
      `Block ${number} (${hash}) of chain ${chainId} is cached with ${local.length} local accounts and ${items.length} further items: ${calls} calls in ${requests} requests.`,
    )
  } finally {
    await chain.close()
  }
}

function addWarm(fork: Command, writers: Writers): void {
  const command = fork
    .command('warm')
    .description('fetch a fork point and what is named, so that a later start finds it in the cache')
    .argument('[items...]', 'address, address:slot, hash of a transaction, height of a block')
    .option('--list <file>', 'file with further items, separated by white space; # begins a comment')
  addSettingFlags(command, [...FETCHING, ...ACCOUNTS])
  command.action(async (words: readonly string[], { list }: { readonly list?: string }) => {
    const options = optionsOf(command)
    const settings = remoteSettingsOf(options, process.env)
    if (settings === undefined) throw refused('Name the node to fetch from: --fork <url>.')
    const { wallet: enabled, chain, accounts: count, mnemonic, derivationPath } = options
    const isLocal = isLocalNetwork(networkOf(chain))
    const { toFund } = await createAccounts({ enabled, isLocal, count, mnemonic, derivationPath })
    await warm(settings, toFund, itemsOf(words, list), writers)
  })
}

function addList(fork: Command, { output }: Writers): void {
  const command = fork.command('list').description('list the blocks of the cache, the one used last first')
  addSettingFlags(command, KEEPING)
  command.allowExcessArguments(false).action(async () => {
    const { root, chainId } = placeOf(command)
    for (const { chainId: chain, block, scope, bytes } of await listCache(root, chainId)) {
      const format = scope === undefined ? ', of an older format, not read' : ''
      output.write(`${chain}  ${block.number}  ${block.hash}  ${bytes} bytes${format}`)
    }
  })
}

function addExport(fork: Command, { output }: Writers): void {
  const command = fork
    .command('export')
    .description('write the cache to a file, such as an artifact of a CI run')
    .argument('<file>', 'file to write')
  addSettingFlags(command, KEEPING)
  command.action(async (file: string) => {
    const { root, chainId } = placeOf(command)
    const { blocks, records } = await exportCache(root, file, chainId)
    output.write(`Exported ${counted(records, 'answer')} about ${counted(blocks, 'block')} to ${file}.`)
  })
}

function addImport(fork: Command, { output }: Writers): void {
  const command = fork
    .command('import')
    .description('add an exported file to the cache')
    .argument('<file>', 'file to read')
  addSettingFlags(command, KEEPING)
  command.action(async (file: string) => {
    const { root, bytes } = placeOf(command)
    const { blocks, records } = await importCache(root, file, bytes, Date.now())
    output.write(`Imported ${counted(records, 'new answer')} about ${counted(blocks, 'block')} into ${root}.`)
  })
}

function addImportState(fork: Command, writers: Writers): void {
  const command = fork
    .command('import-state')
    .description(
      'make a data directory of a fork whose whole state is in a file, as ExportState of RSKj writes it',
    )
    .argument('<file>', 'file to read; compressed where it ends in .gz')
  addSettingFlags(command, [...FETCHING, 'dataDir'])
  command.action(async (file: string) => {
    const options = optionsOf(command)
    const settings = remoteSettingsOf(options, process.env)
    if (settings === undefined) throw refused('Name the node that has the block: --fork <url>@<block>.')
    const { dataDir } = options
    if (dataDir === undefined) throw refused('Name the directory of the fork: --data-dir <dir>.')
    await importStateFile(settings, dataDir, file, writers)
  })
}

function addClear(fork: Command, { output }: Writers): void {
  const command = fork.command('clear').description('remove the cache, or only that of --fork-chain-id')
  addSettingFlags(command, KEEPING)
  command.allowExcessArguments(false).action(async () => {
    const { root, chainId } = placeOf(command)
    const { blocks, bytes } = await clearCache(root, chainId)
    output.write(`Removed ${counted(blocks, 'block')}, ${counted(bytes, 'byte')}, from ${root}.`)
  })
}

/** Fills in the command with those below it. Their actions throw `NodeError`. */
export function fillForkCommand(fork: Command, writers: Writers): void {
  fork.allowExcessArguments().action(() => {
    throw refused('Name a command: tandem fork warm, list, export, import, import-state or clear.')
  })
  for (const add of [addWarm, addList, addExport, addImport, addImportState, addClear]) add(fork, writers)
}
