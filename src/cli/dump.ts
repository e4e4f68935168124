/** `tandem dump`: writes the state of a chain, and its blocks, to a file, whole or not at all. */
import type { Command } from 'commander'
import { z } from 'zod'
import { writeStateFile } from '../chain/state-file/write.ts'
import { fromHex } from '../encoding/hex.ts'
import { dumpStored } from '../engine/dev/state-dump.ts'
import { SourceStore } from '../engine/sources/source-store.ts'
import { NodeError } from '../errors.ts'
import { stateText } from '../rpc/wire/state-file.ts'
import { configOfStored } from '../store/identity.ts'
import { openStoreForReading } from '../store/level.ts'
import { addDirectoryFlags, addUrlFlag, dataDirectory, runningNode } from './chain-place.ts'
import { createRemote } from './remote.ts'
import type { Writers } from './start.ts'
import { writeStateText } from './state-files.ts'

const DumpAnswer = z.string().regex(/^0x([0-9a-f]{2})+$/)

async function dumpDirectory(dataDir: string, file: string, history: boolean): Promise<void> {
  const { identity, store } = await openStoreForReading(dataDir)
  try {
    const config = configOfStored(identity)
    const dump = await dumpStored(store, config, history)
    if (dump === undefined) throw new NodeError('database', `The database in ${dataDir} holds no chain.`)
    const sources = await new SourceStore(store).dump()
    await writeStateText(file, writeStateFile({ ...dump, sources }, config))
  } finally {
    await store.close()
  }
}

async function dumpRemote(url: string, file: string, history: boolean): Promise<void> {
  const answer = await createRemote(url).call('anvil_dumpState', [history], DumpAnswer)
  await writeStateText(file, [await stateText(fromHex(answer))])
}

/** Fills in the command. Its action throws `NodeError`. */
export function fillDumpCommand(command: Command, { output }: Writers): void {
  command.argument('<file>', 'state file to write, replaced whole; compressed where its name ends in .gz')
  addUrlFlag(command, 'to read')
  command.option('--history', 'blocks, receipts and the pool too, not only the state after the head')
  addDirectoryFlags(command)
  command
    .allowExcessArguments(false)
    .action(async (file: string, { history = false }: { history?: boolean }) => {
      const url = runningNode(command)
      if (url === undefined) await dumpDirectory(dataDirectory(command), file, history)
      else await dumpRemote(url, file, history)
      output.write(`Dumped ${history ? 'the chain' : 'the state after the head'} to ${file}.`)
    })
}
