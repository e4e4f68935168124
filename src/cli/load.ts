/** `tandem load`: loads a state file into a running node or a data directory, whole or not at all. */
import type { Command } from 'commander'
import { z } from 'zod'
import { toHex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import { networkOf } from '../node/network-file.ts'
import { createNode } from '../node/node.ts'
import { configOf } from '../node/parts.ts'
import { type NodeOptions, resolveNodeOptions } from '../options/options.ts'
import { compressed } from '../rpc/wire/state-file.ts'
import { addChainFlags, addUrlFlag, chainOptions, runningNode } from './chain-place.ts'
import { createPassingLog } from './progress.ts'
import { createRemote } from './remote.ts'
import type { Writers } from './start.ts'
import { loadStateFile, readStateText, requireStateFor } from './state-files.ts'

/** The head as text. */
async function loadIntoDirectory(file: string, options: NodeOptions, isForced: boolean): Promise<string> {
  const resolved = resolveNodeOptions(options)
  // The chain of a fork is its upstream's, which is asked when the node starts.
  if (resolved.fork === undefined) {
    const config = configOf(networkOf(resolved.chain), resolved, undefined)
    await requireStateFor(file, config, isForced)
  }
  const { logger, clear } = createPassingLog(process.stderr)
  const node = await createNode({ ...options, mining: 'manual', logger })
  try {
    await loadStateFile(node, file, isForced)
    const { hash, block } = node.engine.queries.head()
    return `block ${block.header.number} (${hash})`
  } finally {
    await node.close()
    clear()
  }
}

const Head = z.object({ number: z.string().regex(/^0x[0-9a-f]+$/), hash: z.string() })

async function loadIntoRemote(file: string, url: string): Promise<string> {
  const remote = createRemote(url)
  const text = await readStateText(file)
  await remote.call('anvil_loadState', [toHex(await compressed([text]))], z.literal(true))
  const { number, hash } = await remote.call('eth_getBlockByNumber', ['latest', false], Head)
  return `block ${Number(number)} (${hash})`
}

/** Fills in the command. Its action throws `NodeError`. */
export function fillLoadCommand(command: Command, { output }: Writers): void {
  command.argument(
    '<file>',
    'state file of tandem dump or Anvil, accounts by address, or a genesis file of geth or the reference node',
  )
  addUrlFlag(command, 'to load into')
  addChainFlags(command)
  command.option('--force', 'load a state of another chain id into a data directory')
  command.allowExcessArguments(false).action(async (file: string, { force = false }: { force?: boolean }) => {
    const url = runningNode(command)
    if (force && url !== undefined) {
      throw new NodeError('invalid-options', '--force is for a data directory, not for --url.')
    }
    const head =
      url === undefined
        ? await loadIntoDirectory(file, await chainOptions(command), force)
        : await loadIntoRemote(file, url)
    output.write(`Loaded ${file}. The head is ${head}.`)
  })
}
