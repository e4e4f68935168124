/** Counts the work of the commands that open a data directory, against what is in it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { fillDumpCommand } from '../../../src/cli/dump.ts'
import { fillExportCommand } from '../../../src/cli/export.ts'
import { fillImportCommand } from '../../../src/cli/import.ts'
import { fillLoadCommand } from '../../../src/cli/load.ts'
import type { Writers } from '../../../src/cli/start.ts'
import { fillVerifyCommand } from '../../../src/cli/verify.ts'
import { MAX_SNAPSHOTS } from '../../../src/engine/dev/snapshots.ts'
import { createNode, type Node, type NodeOptions } from '../../../src/index.ts'
import { ask } from '../state-files.ts'
import { countWork } from '../work.ts'
import { accountAt, eachOf, endow, mineBlocks, POOL } from './holdings.ts'

const silent = { write: () => undefined, flush: async () => undefined }

type Fill = (command: Command, writers: Writers) => void

const run = (fill: Fill, args: readonly string[]) => {
  const command = new Command()
  fill(command, { output: silent, errors: silent })
  return command.parseAsync(args, { from: 'user' })
}

/** Something that a data directory holds, and the commands whose work grows with it, each with why. */
interface Stored {
  readonly options?: NodeOptions
  /** Most of it that is counted, and why. */
  readonly most?: readonly [count: number, reason: string]
  readonly whole: Readonly<Record<string, string>>
  readonly grow: (node: Node, size: number) => Promise<unknown>
}

const VERIFIED = 'checks every entry'

/** What each command does before it opens the database. Some steps of our code for each block of 4 kB, the bytes in WebAssembly. */
const CHECKED = 'checks the tables by their checksums, 64 MB at most'
const OPENED = {
  start: CHECKED,
  'export --from <head> file': CHECKED,
  'export file': CHECKED,
  'import <head>': CHECKED,
  dump: CHECKED,
  'dump --history': CHECKED,
  'load account': CHECKED,
}

const SLOW = 'with 100,000 the table takes more than 15 minutes'

/** What a data directory is brought to hold, by its name. */
export const STORED: Readonly<Record<string, Stored>> = {
  blocks: {
    most: [10_000, SLOW],
    whole: {
      ...OPENED,
      'export file': 'writes all of them',
      'dump --history': 'writes all of them',
      verify: 'executes all of them',
      'verify --from <head>': VERIFIED,
    },
    grow: mineBlocks,
  },
  accounts: {
    whole: {
      ...OPENED,
      dump: 'writes all of them',
      'dump --history': 'writes all of them',
      verify: VERIFIED,
      'verify --from <head>': VERIFIED,
    },
    grow: endow,
  },
  'snapshots that are kept': {
    most: [MAX_SNAPSHOTS, 'docs/operating.md#memory'],
    whole: {
      ...OPENED,
      start: 'reads all of them',
      'import <head>': 'reads all of them',
      'load account': 'reads all of them',
      verify: VERIFIED,
      'verify --from <head>': VERIFIED,
    },
    grow: (node, size) => eachOf(size, () => ask(node, 'evm_snapshot', null, { keep: true })),
  },
  'transactions in the pool': {
    options: { mining: 'manual' },
    most: [10_000, SLOW],
    whole: {
      ...OPENED,
      dump: 'writes the account of each sender',
      start: 'puts all of them into the pool again',
      'import <head>': 'puts all of them into the pool again',
      'load account': 'puts all of them into the pool again',
      'dump --history': 'writes all of them',
      verify: VERIFIED,
      'verify --from <head>': VERIFIED,
    },
    grow: (node, size) => POOL.grow(node, size, 0),
  },
}

/** A data directory, with the files that its commands read. */
interface Directory {
  readonly dataDir: string
  readonly head: number
  /** The block at the head, as bytes. */
  readonly block: string
  /** The balance of an account, to be loaded. */
  readonly account: string
}

/** The commands, in an order in which each leaves what the next one reads. */
const COMMANDS: Readonly<Record<string, (directory: Directory) => Promise<unknown>>> = {
  start: async ({ dataDir }) => (await createNode({ dataDir, mining: 'manual' })).close(),
  'export --from <head> file': (directory) => exportHead(directory),
  'export file': ({ dataDir }) => run(fillExportCommand, [join(dataDir, 'all.rlp'), '--data-dir', dataDir]),
  'import <head>': ({ dataDir, block }) => run(fillImportCommand, [block, '--data-dir', dataDir]),
  dump: ({ dataDir }) => run(fillDumpCommand, [join(dataDir, 'state.json'), '--data-dir', dataDir]),
  'dump --history': ({ dataDir }) =>
    run(fillDumpCommand, [join(dataDir, 'history.json'), '--history', '--data-dir', dataDir]),
  'verify --from <head>': ({ dataDir, head }) =>
    run(fillVerifyCommand, ['--from', `${head}`, '--data-dir', dataDir]),
  verify: ({ dataDir }) => run(fillVerifyCommand, ['--data-dir', dataDir]),
  'load account': ({ dataDir, account }) => run(fillLoadCommand, [account, '--data-dir', dataDir]),
}

const exportHead = ({ dataDir, head, block }: Directory) =>
  run(fillExportCommand, [block, '--from', `${head}`, '--data-dir', dataDir])

/** Makes a data directory that holds so much, with the files for its commands beside it. */
export async function directoryWith(folder: string, size: number, stored: Stored): Promise<Directory> {
  const dataDir = join(folder, 'data')
  const node = await createNode({ ...stored.options, dataDir, rpcTimeoutMs: 0 })
  await stored.grow(node, size)
  const head = Number(await ask(node, 'eth_blockNumber'))
  await node.close()
  const directory = { dataDir, head, block: join(folder, 'head.rlp'), account: join(folder, 'account.json') }
  writeFileSync(directory.account, JSON.stringify({ [accountAt(0)]: { balance: '0x7' } }))
  await exportHead(directory)
  return directory
}

/** The work of each command on a directory, whose content changes. Its first start is not counted. */
export async function workOfCommands(directory: Directory): Promise<[string, number][]> {
  await COMMANDS.start?.(directory)
  const counted = await countWork(Object.values(COMMANDS).map((command) => () => command(directory)))
  return Object.keys(COMMANDS).map((name, at) => [name, counted[at] ?? 0])
}
