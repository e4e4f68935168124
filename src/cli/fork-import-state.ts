/** `tandem fork import-state`: the whole state of a fork's block, from a file of the reference node, into a data directory. */

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { NodeError } from '../errors.ts'
import { type ImportedState, importState } from '../state/fork/exported-state.ts'
import type { RemoteChain } from '../state/remote/model.ts'
import { openRemoteChain } from '../state/remote/remote-chain.ts'
import { BlockStore } from '../store/block-store.ts'
import { identityOf } from '../store/identity.ts'
import { openStore } from '../store/level.ts'
import { systemDeps } from '../upstream/environment.ts'
import type { RemoteSettings } from '../upstream/settings.ts'
import type { Writers } from './start.ts'

/** The lines of a file, compressed where its name ends in `.gz`. Throws `invalid-options` when it cannot be read. */
async function* linesOf(file: string): AsyncGenerator<string> {
  const bytes = createReadStream(file)
  const input = file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes
  // A pipe does not pass errors on.
  bytes.on('error', (error) => input.destroy(error))
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) yield line
    if (input.errored) throw input.errored
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new NodeError('invalid-options', `The file ${file} cannot be read: ${reason}.`)
  } finally {
    bytes.destroy()
  }
}

async function importInto(dataDir: string, file: string, chain: RemoteChain): Promise<ImportedState> {
  const { point, head, config, upstream } = chain
  if (!upstream.isSameFamily) {
    throw new NodeError(
      'upstream',
      `The upstream ${upstream.origin} (${upstream.client}) is of another family of nodes, whose states have another format.`,
    )
  }
  const store = await openStore({ dataDir, ...identityOf(config, point) })
  try {
    if ((await BlockStore.open(store, config)).head() !== undefined) {
      throw new NodeError(
        'database',
        `The database in ${dataDir} has blocks already, whose states have no true roots. Choose another directory.`,
      )
    }
    return await importState(store, linesOf(file), head.block.header.stateRoot)
  } finally {
    await store.close()
  }
}

/** Imports the state of the block that the settings name, checked against the state root of its header. */
export async function importStateFile(
  settings: RemoteSettings,
  dataDir: string,
  file: string,
  { output, errors }: Writers,
): Promise<void> {
  const chain = await openRemoteChain(
    settings,
    systemDeps((message) => errors.write(message)),
  )
  try {
    const { nodes, values } = await importInto(dataDir, file, chain)
    const { number, hash } = chain.point
    output.write(
      `The state of block ${number} (${hash}) is in ${dataDir}: ${nodes} trie nodes and ${values} long values, proven by its state root ${chain.head.block.header.stateRoot}.`,
    )
  } finally {
    await chain.close()
  }
}
