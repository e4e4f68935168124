#!/usr/bin/env node
/** The `tandem` command: parses its arguments, runs, and ends with an exit code and an error message if it failed. */
import { Command, CommanderError } from 'commander'
import { NodeError } from '../errors.ts'
import { packageVersion } from '../store/package-files.ts'
import { ListenError } from '../transport/listen.ts'
import { useCompileCache } from './compile-cache.ts'
import { StreamLineWriter } from './line-writer.ts'
import { beginningOf, shownCommandLine } from './secrets.ts'
import type { NodeWriters } from './start.ts'

/** Success, failure at the start or later, wrong usage. */
const EXIT = { done: 0, failed: 1, misused: 2 } as const

const output = new StreamLineWriter(process.stdout)
const errors = new StreamLineWriter(process.stderr)

async function end(code: number): Promise<never> {
  await Promise.all([output.flush(), errors.flush()])
  process.exit(code)
}

/** Prints one line on standard error and ends. */
function fail(message: string, code: number): Promise<never> {
  errors.write(`tandem: ${message.replace(/\s*\n\s*/g, ' ')}`)
  return end(code)
}

/** Adds flags and an action to a command; `fillOthers` does so to all other commands. */
type Filling = (command: Command, writers: NodeWriters, fillOthers: () => Promise<void>) => void

/** The commands: name, description, and the import of the rest, which only the requested command needs. */
const COMMANDS: readonly (readonly [string, string, () => Promise<Filling>])[] = [
  [
    'start',
    'start a node and serve it over HTTP and WebSocket',
    () => import('./start-command.ts').then(({ fillStartCommand }) => fillStartCommand),
  ],
  [
    'exec',
    'run a command, such as npm test, beside a node that starts and ends with it',
    () => import('./exec.ts').then(({ fillExecCommand }) => fillExecCommand),
  ],
  [
    'coverage',
    'run a command beside a node, and report which code of contracts it ran',
    () => import('./coverage.ts').then(({ fillCoverageCommand }) => fillCoverageCommand),
  ],
  [
    'gas',
    'run a command beside a node, and report where its transactions spent gas',
    () => import('./gas.ts').then(({ fillGasCommand }) => fillGasCommand),
  ],
  [
    'anvil',
    "start a node by Anvil's flags, with its defaults and output",
    () => import('./anvil/command.ts').then(({ fillAnvilCommand }) => fillAnvilCommand),
  ],
  [
    'import',
    'validate, execute and store raw blocks',
    () => import('./import.ts').then(({ fillImportCommand }) => fillImportCommand),
  ],
  [
    'export',
    'write the blocks of a chain as raw bytes',
    () => import('./export.ts').then(({ fillExportCommand }) => fillExportCommand),
  ],
  [
    'dump',
    'write the state of a chain, and with --history its blocks, to a file',
    () => import('./dump.ts').then(({ fillDumpCommand }) => fillDumpCommand),
  ],
  [
    'load',
    'load a state file, a dump of Anvil, or the accounts of a genesis file',
    () => import('./load.ts').then(({ fillLoadCommand }) => fillLoadCommand),
  ],
  [
    'verify',
    'check a data directory, and execute its chain again',
    () => import('./verify.ts').then(({ fillVerifyCommand }) => fillVerifyCommand),
  ],
  [
    'fork',
    'fetch, list, export, import or remove what is kept of forked chains',
    () => import('./fork.ts').then(({ fillForkCommand }) => fillForkCommand),
  ],
  [
    'keys',
    'make, list, rotate and revoke API keys',
    () => import('./keys.ts').then(({ fillKeysCommand }) => fillKeysCommand),
  ],
  [
    'cluster',
    'print the nodes of a cluster and its leader',
    () => import('./cluster.ts').then(({ fillClusterCommand }) => fillClusterCommand),
  ],
  [
    'peg',
    'move coins between the chain and the Bitcoin chain of a running node',
    () => import('./peg.ts').then(({ fillPegCommand }) => fillPegCommand),
  ],
  [
    'init',
    'add Tandem to a project of Hardhat, Foundry, viem or ethers',
    () => import('./init.ts').then(({ fillInitCommand }) => fillInitCommand),
  ],
  [
    'doctor',
    'check what a start needs: ports, disk, permissions, the data directory, Node.js, Docker',
    () => import('./doctor.ts').then(({ fillDoctorCommand }) => fillDoctorCommand),
  ],
  [
    'completion',
    'print the script with which bash, zsh or fish completes commands, flags and values',
    () => import('./completion.ts').then(({ fillCompletionCommand }) => fillCompletionCommand),
  ],
  [
    'methods',
    'list the JSON-RPC methods',
    () => import('./methods.ts').then(({ fillMethodsCommand }) => fillMethodsCommand),
  ],
  [
    'trace',
    'print the calls, events and state changes of a transaction of a running node',
    () => import('./trace.ts').then(({ fillTraceCommand }) => fillTraceCommand),
  ],
  [
    'dap',
    'debug transactions, failures and simulations of a running node in an editor',
    () => import('./dap.ts').then(({ fillDapCommand }) => fillDapCommand),
  ],
  [
    'mcp',
    'serve tools for agents (Model Context Protocol) over standard input and output',
    () => import('./mcp.ts').then(({ fillMcpCommand }) => fillMcpCommand),
  ],
  [
    'replay',
    'repeat a recorded session, and name what differs',
    () => import('./replay.ts').then(({ fillReplayCommand }) => fillReplayCommand),
  ],
  [
    'drift',
    "execute transactions under Ethereum's rules, or under other rules of this chain, and compare",
    () => import('./compare-rules.ts').then(({ fillCompareCommand }) => fillCompareCommand),
  ],
]

function program(): Command {
  const command = new Command('tandem')
    .description('A whole node of a merge-mined, EVM-compatible chain in one process')
    .version(packageVersion())
    .exitOverride()
    // `fail` prints the error instead of commander, in one line.
    .configureOutput({ writeErr: () => {} })
  const loaders = new Map<Command, () => Promise<Filling>>()
  for (const [name, description, load] of COMMANDS) {
    loaders.set(command.command(name).description(description), load)
  }
  const fillIn = async (one: Command): Promise<void> => {
    const fill = await loaders.get(one)?.()
    loaders.delete(one)
    fill?.(one, { output, errors }, async () => {
      for (const other of [...loaders.keys()]) await fillIn(other)
    })
  }
  command.hook('preSubcommand', async (_command, asked) => {
    useCompileCache()
    await fillIn(asked)
    process.title = shownCommandLine(process.argv, asked)
  })
  // Commander's own help would show the command without its flags.
  command
    .command('help')
    .description('display help for a command')
    .argument('[command]')
    .action(async (name?: string) => {
      if (name !== undefined && !COMMANDS.some(([known]) => known === name)) {
        throw new NodeError('invalid-options', `There is no command "${name}".`)
      }
      await command.parseAsync([...(name === undefined ? [] : [name]), '--help'], { from: 'user' })
    })
  return command
}

process.on('uncaughtException', (error) => {
  void fail(`unexpected failure: ${error instanceof Error ? error.message : String(error)}`, EXIT.failed)
})

// Which of the flags have secrets is known when the command is loaded.
process.title = beginningOf(process.argv)

try {
  await program().parseAsync()
  await end(Number(process.exitCode ?? EXIT.done))
} catch (error) {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) await end(EXIT.done)
    const message = error.code === 'commander.help' ? 'Name a command, such as tandem start.' : error.message
    await fail(message.replace(/^error: /, ''), EXIT.misused)
  }
  if (error instanceof NodeError) {
    await fail(error.message, error.kind === 'invalid-options' ? EXIT.misused : EXIT.failed)
  }
  const message = error instanceof Error ? error.message : String(error)
  await fail(error instanceof ListenError ? message : `cannot start: ${message}`, EXIT.failed)
}
