/**
 * The nodes under comparison: how to start each one with the same chain id, accounts, block gas limit and automining, and
 * whatever else makes it fast on this work. A record has
 * - `kind`: tandem, peer (what limits compare with) or floor (what any server or program in this runtime costs)
 * - `command`, `file`: the program, and the script that it runs
 * - `needs`: what has to be run where they are missing; `manifest`: of the package that they come from
 * - `settings`: what differs from the node's defaults and why, for the report
 * - `args(port, folder)`: its arguments; `folder` is new and its own
 */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createSocketClient } from './client.mjs'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const ROOT = join(HERE, '../..')

export const MNEMONIC = 'test test test test test test test test test test test junk'
export const ACCOUNTS = 100
export const CHAIN_ID = 33
export const BLOCK_GAS_LIMIT = 30_000_000

/** The bundled command of this package. */
export const TANDEM = join(ROOT, 'dist/cli/main.js')
const HARDHAT_2 = join(ROOT, 'scripts/tools/node_modules')
const HARDHAT_3 = join(ROOT, 'scripts/hardhat-3/node_modules')
const nodeBinary = (release) => join(ROOT, `scripts/node-versions/node_modules/node-${release}/bin/node`)
const NODE_22 = nodeBinary(22)
/** Releases of Node.js that Tandem runs on beside the one that runs the bench: 26 is the newest with long-term support. */
export const NODE_RELEASES = { 24: nodeBinary(24), 26: nodeBinary(26) }
const PEERS = join(HERE, 'node_modules')

const tandem = (port, ...storage) => [
  ...['start', '--port', port, '--quiet', '--log-level', 'error', ...storage],
  ...['--accounts', ACCOUNTS, '--mnemonic', MNEMONIC, '--block-gas-limit', BLOCK_GAS_LIMIT],
  ...['--call-gas-cap', BLOCK_GAS_LIMIT, '--rpc-timeout', 0],
  ...['--max-log-blocks', 0, '--max-logs', 0, '--max-trace-size', 2_000_000_000],
]
const TANDEM_SETTINGS =
  'preset rsk (the default), chain regtest, log level error, no limits of time, of log queries and of traces'

/**
 * A Hardhat project in a folder: a configuration, and a link to the packages. Blocks have no base fee, as those of
 * Tandem, and follow the rules of Cancun: later ones call system contracts in every block.
 */
function hardhatProject(folder, packages, { module, network }) {
  const settings = {
    chainId: CHAIN_ID,
    blockGasLimit: BLOCK_GAS_LIMIT,
    hardfork: 'cancun',
    initialBaseFeePerGas: 0,
    loggingEnabled: false,
    accounts: { mnemonic: MNEMONIC, count: ACCOUNTS },
  }
  const text = JSON.stringify({
    networks: { [network]: { ...settings, ...(module && { type: 'edr-simulated' }) } },
  })
  mkdirSync(folder, { recursive: true })
  symlinkSync(packages, join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify(module ? { type: 'module' } : {}))
  const config = join(folder, `hardhat.config.${module ? 'js' : 'cjs'}`)
  writeFileSync(config, `${module ? 'export default' : 'module.exports ='} ${text}\n`)
  return config
}

const HARDHAT_SETTINGS =
  'hardhat node, rules of Cancun, base fee 0, logging switched off by hardhat_setLoggingEnabled'
const HARDHAT_ENV = { HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true', DO_NOT_TRACK: '1' }

/** `hardhat node` switches the log of requests on, whatever the configuration states. */
const quietHardhat = (client) => client.call('hardhat_setLoggingEnabled', [false])

const setAutomine = (client, on) => client.call('evm_setAutomine', [on])

/** Mines empty blocks by as few requests as the node allows. */
async function mineBy(client, count, most, mine) {
  for (let left = count; left > 0; left -= most) await mine(client, Math.min(left, most))
}
const oneByOne = (client, count) => mineBy(client, count, 1, () => client.call('evm_mine'))
const quantity = (number) => `0x${number.toString(16)}`
const hardhatMine = (client, count) =>
  mineBy(client, count, 1000, (_, part) => client.call('hardhat_mine', [quantity(part)]))

const IN_MEMORY = {
  kind: 'tandem',
  settings: `in memory; ${TANDEM_SETTINGS}`,
  command: process.execPath,
  file: TANDEM,
  args: (port) => tandem(port, '--memory'),
  automine: setAutomine,
  mine: hardhatMine,
}

/** Tandem on another release of Node.js. */
const onRelease = (release) => ({
  ...IN_MEMORY,
  settings: `as tandem, on Node.js ${release}`,
  command: NODE_RELEASES[release],
  needs: 'npm ci --prefix scripts/node-versions',
})

export const NODES = {
  tandem: IN_MEMORY,
  'tandem-node-24': onRelease(24),
  'tandem-node-26': onRelease(26),
  'tandem-disk': {
    kind: 'tandem',
    settings: `on LevelDB, without --fsync; ${TANDEM_SETTINGS}`,
    command: process.execPath,
    file: TANDEM,
    args: (port, folder) => tandem(port, '--data-dir', folder),
    automine: setAutomine,
    mine: hardhatMine,
  },
  'tandem-coverage': {
    kind: 'tandem',
    settings: 'as tandem, with the coverage of all runs recorded (--coverage)',
    command: process.execPath,
    file: TANDEM,
    args: (port) => [...tandem(port, '--memory'), '--coverage', 'transactions,calls,estimates'],
    automine: setAutomine,
    mine: hardhatMine,
  },
  'tandem-ws': {
    kind: 'tandem',
    settings: `as tandem, over WebSockets`,
    command: process.execPath,
    file: TANDEM,
    args: (port) => tandem(port, '--memory'),
    automine: setAutomine,
    mine: hardhatMine,
    client: createSocketClient,
  },
  'tandem-btc': {
    kind: 'tandem',
    settings: `as tandem, with --bitcoin`,
    command: process.execPath,
    file: TANDEM,
    args: (port) => tandem(port, '--memory', '--bitcoin'),
    automine: setAutomine,
    mine: hardhatMine,
  },
  anvil: {
    kind: 'peer',
    settings: 'release binary, rules of Cancun, base fee 0, no output, no CORS, all states kept',
    manifest: join(PEERS, '@foundry-rs/anvil-linux-amd64/package.json'),
    command: join(PEERS, '@foundry-rs/anvil-linux-amd64/bin/anvil'),
    needs: 'npm ci --prefix scripts/bench',
    args: (port) => [
      ...['--port', port, '--chain-id', CHAIN_ID, '--silent', '--no-cors', '--hardfork', 'cancun'],
      ...['--accounts', ACCOUNTS, '--mnemonic', MNEMONIC, '--gas-limit', BLOCK_GAS_LIMIT],
      ...['--block-base-fee-per-gas', 0],
    ],
    tracing: ['--steps-tracing'],
    automine: setAutomine,
    mine: (client, count) =>
      mineBy(client, count, 1000, (_, part) => client.call('anvil_mine', [quantity(part)])),
  },
  'hardhat-3': {
    kind: 'peer',
    settings: HARDHAT_SETTINGS,
    command: NODE_22,
    manifest: join(HARDHAT_3, 'hardhat/package.json'),
    file: join(HARDHAT_3, 'hardhat/dist/src/cli.js'),
    needs:
      'npm ci --prefix scripts/node-versions; npm install --prefix scripts/hardhat-3 with its Node.js 22 first in PATH',
    args: (port, folder) => {
      const config = hardhatProject(folder, HARDHAT_3, { module: true, network: 'node' })
      return ['--config', config, 'node', '--port', port, '--hostname', '127.0.0.1']
    },
    env: HARDHAT_ENV,
    ready: quietHardhat,
    automine: setAutomine,
    mine: oneByOne,
  },
  'hardhat-2': {
    kind: 'peer',
    settings: HARDHAT_SETTINGS,
    command: process.execPath,
    manifest: join(HARDHAT_2, 'hardhat/package.json'),
    file: join(HARDHAT_2, 'hardhat/internal/cli/bootstrap.js'),
    needs: 'npm ci --prefix scripts/tools',
    args: (port, folder) => {
      const config = hardhatProject(folder, HARDHAT_2, { module: false, network: 'hardhat' })
      return ['--config', config, 'node', '--port', port, '--hostname', '127.0.0.1']
    },
    env: HARDHAT_ENV,
    ready: quietHardhat,
    automine: setAutomine,
    mine: oneByOne,
  },
  ganache: {
    kind: 'peer',
    settings: 'in memory, no output',
    command: process.execPath,
    manifest: join(PEERS, 'ganache/package.json'),
    file: join(PEERS, 'ganache/dist/node/cli.js'),
    needs: 'npm ci --prefix scripts/bench',
    args: (port) => [
      ...['--server.port', port, '--chain.chainId', CHAIN_ID, '--logging.quiet'],
      ...[
        '--wallet.totalAccounts',
        ACCOUNTS,
        '--wallet.mnemonic',
        MNEMONIC,
        '--wallet.defaultBalance',
        10000,
      ],
      ...['--miner.blockGasLimit', BLOCK_GAS_LIMIT, '--miner.callGasLimit', BLOCK_GAS_LIMIT],
    ],
    automine: (client, on) => client.call(on ? 'miner_start' : 'miner_stop'),
    mine: (client, count) => mineBy(client, count, 500, (_, blocks) => client.call('evm_mine', [{ blocks }])),
  },
  http: {
    kind: 'floor',
    settings: 'a node:http server that reads a request to its end and writes a fixed reply',
    command: process.execPath,
    file: join(HERE, 'bare-server.mjs'),
    args: (port) => [port],
  },
  ws: {
    kind: 'floor',
    settings: 'a server of the package ws that writes a fixed reply to each message',
    command: process.execPath,
    file: join(HERE, 'bare-socket-server.mjs'),
    args: (port) => [port],
    client: createSocketClient,
  },
  node: {
    kind: 'floor',
    settings: 'node -e 0: the runtime of Tandem, which starts and ends',
    command: process.execPath,
  },
}

/** Nodes with a chain behind HTTP: those that most rows run on. */
export const HTTP_NODES = [
  'tandem',
  'tandem-node-26',
  'tandem-disk',
  'anvil',
  'hardhat-3',
  'hardhat-2',
  'ganache',
]

/** Programs and scripts that a node lacks here. */
const lacks = ({ command, file }) => [command, file].filter((path) => path !== undefined && !existsSync(path))

/** Names of the nodes that can be started here. */
export const available = () => Object.keys(NODES).filter((name) => lacks(NODES[name]).length === 0)

/** The nodes that cannot, each with the commands that install it. */
export const missing = () =>
  Object.entries(NODES)
    .filter(([, node]) => lacks(node).length > 0)
    .map(([name, { needs }]) => ({ name, needs: needs ?? 'npm run build' }))

/** The version of the package that a node comes from. */
export function versionOf({ kind, manifest = join(ROOT, 'package.json') }) {
  if (kind === 'floor') return process.version
  return JSON.parse(readFileSync(manifest, 'utf8')).version
}
