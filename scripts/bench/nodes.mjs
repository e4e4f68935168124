/** The nodes under comparison: how to start each one with the same chain id, accounts, gas limit and automining. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from './client.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const root = join(here, '../..')

export const MNEMONIC = 'test test test test test test test test test test test junk'
export const ACCOUNTS = 100
export const CHAIN_ID = 33
const GAS_LIMIT = 30_000_000

const NODES = {
  tandem: {
    command: process.execPath,
    file: join(root, 'dist/cli/main.js'),
    args: (port, dir) => [
      ...['start', '--port', port, '--quiet', '--log-level', 'error', '--data-dir', dir],
      ...['--accounts', ACCOUNTS, '--mnemonic', MNEMONIC, '--block-gas-limit', GAS_LIMIT],
      ...['--call-gas-cap', GAS_LIMIT],
    ],
    automine: (client, on) => client.call('evm_setAutomine', [on]),
    tracing: ['--max-trace-size', 2_000_000_000, '--rpc-timeout', 60_000],
  },
  anvil: {
    command: join(here, 'node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil'),
    args: (port, dir) => [
      ...['--port', port, '--chain-id', CHAIN_ID, '--silent', '--state', join(dir, 'state.json')],
      ...['--accounts', ACCOUNTS, '--mnemonic', MNEMONIC, '--gas-limit', GAS_LIMIT],
      ...['--block-base-fee-per-gas', 0],
    ],
    tracing: ['--steps-tracing'],
    automine: (client, on) => client.call('evm_setAutomine', [on]),
  },
  ganache: {
    command: process.execPath,
    file: join(here, 'node_modules/ganache/dist/node/cli.js'),
    args: (port, dir) => [
      ...['--server.port', port, '--chain.chainId', CHAIN_ID, '--logging.quiet', '--database.dbPath', dir],
      ...[
        '--wallet.totalAccounts',
        ACCOUNTS,
        '--wallet.mnemonic',
        MNEMONIC,
        '--wallet.defaultBalance',
        10000,
      ],
      ...['--miner.blockGasLimit', GAS_LIMIT, '--miner.callGasLimit', GAS_LIMIT],
    ],
    automine: (client, on) => client.call(on ? 'miner_start' : 'miner_stop'),
  },
}

/** Names of the nodes that can be started here. */
export function available() {
  return Object.keys(NODES).filter((name) => existsSync(NODES[name].file ?? NODES[name].command))
}

/** A TCP port that nobody listens on. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

/** Processor time of all threads of a process so far, user and system, in milliseconds. */
export function processorMs(pid) {
  const tasks = `/proc/${pid}/task`
  const nanoseconds = readdirSync(tasks).map((task) => {
    return Number(readFileSync(join(tasks, task, 'schedstat'), 'utf8').split(' ')[0])
  })
  return nanoseconds.reduce((sum, time) => sum + time, 0) / 1e6
}

/**
 * Starts a node and waits for its first answer. `dir` continues an earlier node's database; `traces`: it will be asked
 * for struct logs.
 */
export async function start(
  name,
  dir = mkdtempSync(join(tmpdir(), `bench-${name}-`)),
  { traces = false } = {},
) {
  const node = NODES[name]
  const port = await freePort()
  const args = [...node.args(port, dir), ...(traces ? (node.tracing ?? []) : [])].map(String)
  const began = performance.now()
  const child = spawn(node.command, node.file ? [node.file, ...args] : args, { stdio: 'ignore' })
  let dead
  child.on('exit', (code) => {
    dead = code ?? 'signal'
  })
  const client = createClient(port)
  for (;;) {
    if (dead !== undefined) throw new Error(`${name} ended with ${dead}`)
    try {
      await client.call('eth_blockNumber')
      break
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }
  return {
    name,
    dir,
    client,
    startMs: performance.now() - began,
    automine: (on) => node.automine(client, on),
    /** Processor time of all its threads so far, in milliseconds. */
    cpuMs: () => processorMs(child.pid),
    /** Resident memory in MB. */
    memory() {
      const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
      return Number(kilobytes) / 1024
    },
    async stop({ keep = false } = {}) {
      client.close()
      if (dead === undefined) {
        child.kill('SIGTERM')
        await new Promise((resolve) => child.once('exit', resolve))
      }
      if (!keep) rmSync(dir, { recursive: true, force: true })
    },
  }
}
