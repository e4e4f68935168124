/**
 * `npm run bench -- --suite <folder>`: the tests of somebody's project against each node in turn, over RPC. A node is
 * started anew for each run, with its own defaults, on the port of Hardhat's network `localhost`. Measured are wall time of
 * the tests, processor time and greatest memory of the node; one more run goes through a proxy that counts the requests.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { childrenTime } from './children.mjs'
import { countingProxy } from './counting-proxy.mjs'
import { measure } from './measure.mjs'
import { NODE_RELEASES, NODES, TANDEM } from './nodes.mjs'
import { prepareProfile, profileLines } from './profile.mjs'
import { freePort, start } from './start.mjs'
import { summarize } from './statistics.mjs'
import { countsIn } from './test-counts.mjs'

const PORT = 8545
/** What the tests printed, by suite and node. */
const OUTPUTS = fileURLToPath(new URL('../../.build/suites/', import.meta.url))
/** How often a node's memory is read, ms. */
const MEMORY_MS = 250
/** Rows of the table of requests. */
const MOST_METHODS = 20

/** The nodes, as their users start them. A project with Hardhat is run on its own version of it. */
function nodesOf(folder) {
  const { anvil } = NODES
  const tandem = {
    command: process.execPath,
    file: TANDEM,
    // Plugins such as hardhat-viem recognise a development network by this chain id.
    args: (port) => [
      ...['start', '--preset', 'hardhat', '--chain-id', 31337, '--memory', '--port', port],
      ...['--quiet', '--log-level', 'error'],
    ],
  }
  const onReleases = Object.entries(NODE_RELEASES).map(([release, command]) => [
    `tandem-node-${release}`,
    { ...tandem, command },
  ])
  const nodes = {
    tandem,
    ...Object.fromEntries(onReleases.filter(([, { command }]) => existsSync(command))),
    anvil: {
      command: anvil.command,
      needs: anvil.needs,
      args: (port) => ['--port', port, '--silent', '--hardfork', 'cancun', '--disable-code-size-limit'],
    },
  }
  const hardhat = join(folder, 'node_modules/hardhat/package.json')
  if (!existsSync(hardhat)) return nodes
  const { version, bin } = JSON.parse(readFileSync(hardhat, 'utf8'))
  const file = join(folder, 'node_modules/hardhat', typeof bin === 'string' ? bin : bin.hardhat)
  // hardhat-deploy would run the deployments that the tests make themselves.
  const deploys = existsSync(join(folder, 'node_modules/hardhat-deploy'))
  const args = (port) => [
    ...['node', '--port', port, '--hostname', '127.0.0.1'],
    ...(deploys ? ['--no-deploy'] : []),
  ]
  const { env, ready } = NODES['hardhat-2']
  return {
    ...nodes,
    [`hardhat-${version}`]: { command: process.execPath, file, args, cwd: folder, env, ready },
  }
}

/** What runs the tests of a project, and what prepares them. */
function commandsOf(folder) {
  const hasHardhat = ['js', 'cjs', 'mjs', 'ts', 'cts', 'mts'].some((end) =>
    existsSync(join(folder, `hardhat.config.${end}`)),
  )
  return hasHardhat
    ? { prepare: 'npx hardhat compile', command: 'npx hardhat test --network localhost' }
    : { command: 'npm test' }
}

/** Runs a command in a folder, with the node's address as `RPC_URL`; what it printed. */
async function runCommand(command, folder) {
  const env = { ...process.env, RPC_URL: `http://127.0.0.1:${PORT}`, NO_COLOR: '1', FORCE_COLOR: '0' }
  const child = spawn('bash', ['-c', command], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  const add = (chunk) => {
    text += chunk
  }
  child.stdout.on('data', add)
  child.stderr.on('data', add)
  const [code] = await once(child, 'close')
  return { code, text }
}

/** One run of the tests on a new node; through the proxy, with the requests by method. */
async function runOn(name, node, { folder, command, counted, nodeFlags }) {
  const port = counted ? await freePort() : PORT
  const running = await start(name, { node, port, nodeFlags })
  const proxy = counted ? await countingProxy(PORT, port) : undefined
  let memoryMb = 0
  const reading = setInterval(() => {
    memoryMb = Math.max(memoryMb, running.memoryMb())
  }, MEMORY_MS)
  try {
    let outcome
    const work = async () => {
      outcome = await runCommand(command, folder)
    }
    const figures = await measure({ operations: 1, work }, running.cpuMs, childrenTime)
    mkdirSync(OUTPUTS, { recursive: true })
    writeFileSync(join(OUTPUTS, `${basename(folder)}-${name}.log`), outcome.text)
    return { ...figures, memoryMb, ...countsIn(outcome.text), methods: proxy?.methods }
  } finally {
    clearInterval(reading)
    await proxy?.close()
    await running.stop()
  }
}

const seconds = (ms) => (ms / 1000).toFixed(1)
const spread = ({ median, least, most }) =>
  least === most ? seconds(median) : `${seconds(median)} (${seconds(least)}-${seconds(most)})`

function rowOf(name, samples) {
  const { cpuMs, wallMs, memoryMb, disturbance } = summarize(samples)
  const { passed, failed } = samples.at(-1)
  const others = `${(100 * disturbance).toFixed(0)} %`
  return [name, spread(wallMs), spread(cpuMs), memoryMb.most.toFixed(0), passed, failed, others]
}

function lines(rows) {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => String(row[i]).length)))
  const cell = (value, i) => (i === 0 ? String(value).padEnd(widths[i]) : String(value).padStart(widths[i]))
  return rows.map((row) => row.map(cell).join('  '))
}

/** Requests and milliseconds by method, those that took longest first. */
function requestLines(counted) {
  const names = Object.keys(counted)
  const total = (method) => names.reduce((sum, name) => sum + (counted[name].get(method)?.ms ?? 0), 0)
  const methods = [...new Set(names.flatMap((name) => [...counted[name].keys()]))]
  methods.sort((a, b) => total(b) - total(a))
  const cells = (name, method) => {
    const { requests, ms } = counted[name].get(method) ?? { requests: 0, ms: 0 }
    return `${requests} / ${ms.toFixed(0)} ms`
  }
  return lines([
    ['requests', ...names],
    ...methods.slice(0, MOST_METHODS).map((method) => [method, ...names.map((name) => cells(name, method))]),
  ])
}

/** Compiles a Hardhat project unless its command is given; the folder and the command that runs its tests. */
async function prepared(given, command, onProgress) {
  const folder = resolve(given)
  const usual = commandsOf(folder)
  if (command === undefined && usual.prepare !== undefined) {
    onProgress(usual.prepare)
    const { code, text } = await runCommand(usual.prepare, folder)
    if (code !== 0) throw new Error(`${usual.prepare} ended with ${code}:\n${text.slice(-2000)}`)
  }
  return { folder, command: command ?? usual.command }
}

/** Runs the tests of a folder once on Tandem; prints where its processor time went, by module. */
export async function profileSuite(given, name, { command, onProgress }) {
  const tests = await prepared(given, command, onProgress)
  const node = nodesOf(tests.folder)[name]
  if (node?.file !== TANDEM) throw new Error('--profile takes the name of a Tandem in a suite')
  const { folder, nodeFlags } = await prepareProfile(basename(tests.folder))
  onProgress(`profile: ${name}`)
  const { cpuMs, passed, failed, window } = await runOn(name, node, { ...tests, nodeFlags })
  onProgress('')
  console.log(
    `${seconds(cpuMs)} s of processor time, ${passed} passed, ${failed} failed; profile in ${folder}`,
  )
  console.log(profileLines(folder, [window]).join('\n'))
}

/**
 * Runs the tests of a folder on the nodes and prints the tables.
 * @param {string} given the folder
 * @param {object} options
 * @param {string} [options.command] that runs the tests, in a shell
 * @param {string[]} [options.names] of the nodes
 * @param {number} options.rounds
 * @param {(text: string) => void} options.onProgress
 */
export async function compareSuite(given, { command, names, rounds, onProgress }) {
  const known = nodesOf(resolve(given))
  const chosen = names ?? Object.keys(known).filter((name) => !name.startsWith('tandem-node-'))
  for (const name of chosen) {
    if (known[name] === undefined)
      throw new Error(`no node is named ${name}; there are ${Object.keys(known)}`)
  }
  const tests = await prepared(given, command, onProgress)
  const samples = Object.fromEntries(chosen.map((name) => [name, []]))
  const counted = {}
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? chosen : chosen.toReversed()) {
      onProgress(`round ${round + 1}: ${name}`)
      const sample = await runOn(name, known[name], tests)
      samples[name].push(sample)
      onProgress('')
      // A suite takes up to an hour on a node: what is known must not be lost with a later run.
      console.log(`round ${round + 1}: ${rowOf(name, [sample]).join('  ')}`)
    }
  }
  onProgress('')
  const head = ['node', 'wall s', 'node CPU s', 'peak MB', 'passed', 'failed', 'others']
  console.log(`${basename(tests.folder)}: ${tests.command}; Node ${process.version}, ${rounds} rounds`)
  console.log(lines([head, ...chosen.map((name) => rowOf(name, samples[name]))]).join('\n'))
  for (const name of chosen) {
    onProgress(`requests: ${name}`)
    counted[name] = (await runOn(name, known[name], { ...tests, counted: true })).methods
  }
  onProgress('')
  console.log(`\n${requestLines(counted).join('\n')}`)
}
