/**
 * `npm run bench:fork`: a fork of Tandem beside one of Anvil, of the same upstream, which answers each HTTP request after
 * 50 ms. Every sample is a new process. Prints medians with their spread, requests and processor time; exits with 1 where
 * a limit does not hold: 10 requests for a call over lists, no row slower than Anvil, a suite on a warm cache within 10 %
 * of the same suite without a fork. Flags: --rounds <count>, --delay <ms>, --upstream tandem|anvil, --only <part of a row>
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createClient } from './client.mjs'
import { delayingProxy } from './delaying-proxy.mjs'
import { deployContracts, SUITE_SIZE, sendTransfer, suite, walkLists } from './fork-rows.mjs'
import { processorTime } from './measure.mjs'
import { CHAIN_ID, MNEMONIC } from './nodes.mjs'
import { freePort } from './start.mjs'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    delay: { type: 'string', default: '50' },
    upstream: { type: 'string', default: 'tandem' },
    only: { type: 'string', default: '' },
  },
})
const ROUNDS = Number(flags.rounds)
const MOST_REQUESTS = 10
/** How much longer than without a fork a suite may take on a warm cache. */
const MOST_OVERHEAD = 1.1

const path = (file) => fileURLToPath(new URL(file, import.meta.url))
const ANVIL = path('node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil')
const MAIN = path('../../dist/cli/main.js')
if (!existsSync(ANVIL)) throw new Error('Anvil is not installed: npm ci --prefix scripts/bench')

/** Command lines by node. `fork`: the URL of an upstream; `home`: where the cache is, none is kept without. */
const COMMANDS = {
  tandem: ({ port, fork, height, home }) => [
    process.execPath,
    ...[MAIN, 'start', '--port', port, '--quiet', '--log-level', 'error', '--mnemonic', MNEMONIC],
    ...(fork === undefined
      ? ['--memory', '--preset', 'anvil', '--chain-id', CHAIN_ID]
      : ['--fork', `${fork}@${height}`, ...(home === undefined ? ['--no-fork-cache'] : [])]),
  ],
  anvil: ({ port, fork, height, home }) => [
    ANVIL,
    ...['--port', port, '--silent', '--mnemonic', MNEMONIC, '--block-base-fee-per-gas', 0],
    ...['--chain-id', CHAIN_ID],
    ...(fork === undefined ? [] : ['--fork-url', fork, '--fork-block-number', height, '--no-rate-limit']),
    ...(fork === undefined || home !== undefined ? [] : ['--no-storage-caching']),
  ],
}

/** A process that answers. */
async function start(name, options = {}) {
  const port = await freePort()
  const [command, ...args] = COMMANDS[name]({ port, ...options }).map(String)
  const env = options.home === undefined ? {} : { HOME: options.home, XDG_CACHE_HOME: options.home }
  const began = performance.now()
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } })
  let complaint = ''
  child.stderr.on('data', (chunk) => {
    complaint += chunk
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const client = createClient(port)
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${complaint}`)
    try {
      await client.call('eth_blockNumber')
      break
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }
  return {
    url: `http://127.0.0.1:${port}`,
    client,
    startMs: performance.now() - began,
    cpuMs: processorTime(child.pid),
    async stop() {
      client.close()
      // Anvil writes its cache at an interrupt alone.
      child.kill('SIGINT')
      await exited
    },
  }
}

const upstream = await start(flags.upstream)
const contracts = await deployContracts(upstream.client)
const height = Number(await upstream.client.call('eth_blockNumber'))
/** The same chain for a node without a fork. */
const dump = await upstream.client.call('anvil_dumpState')
const proxy = await delayingProxy(upstream.url, Number(flags.delay))
const folders = []
function temporaryHome() {
  const home = mkdtempSync(join(tmpdir(), 'bench-fork-'))
  folders.push(home)
  return home
}

/** Milliseconds, requests and processor time of work on a node of its own. */
async function sample(name, { fork, home, work }) {
  const node = await start(name, fork ? { fork: proxy.url, height, home } : {})
  try {
    if (!fork) await node.client.call('anvil_loadState', [dump])
    const [requests, cpu, began] = [proxy.requests(), node.cpuMs(), performance.now()]
    await work(node.client, contracts)
    const ms = performance.now() - began
    return { ms, cpuMs: node.cpuMs() - cpu, requests: proxy.requests() - requests, startMs: node.startMs }
  } finally {
    await node.stop()
  }
}

const middle = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]
const median = (samples, key) => middle(samples.map((each) => each[key]))

/** Runs the contenders of a row interleaved, round by round, and prints them. */
async function row(title, contenders) {
  if (!title.includes(flags.only)) return undefined
  const samples = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, run] of Object.entries(contenders)) samples[name].push(await run())
  }
  console.log(title)
  for (const [name, list] of Object.entries(samples)) {
    const times = list.map(({ ms }) => ms)
    const cells = [
      `${median(list, 'ms').toFixed(0)} ms`,
      `${Math.min(...times).toFixed(0)}–${Math.max(...times).toFixed(0)}`,
      `${median(list, 'requests')} requests`,
      `CPU ${median(list, 'cpuMs').toFixed(0)} ms`,
      `start ${median(list, 'startMs').toFixed(0)} ms`,
    ]
    console.log(`  ${name.padEnd(24)} ${cells.map((cell) => cell.padEnd(14)).join('')}`.trimEnd())
  }
  return samples
}

const failures = []
function hold(condition, sentence) {
  if (!condition) failures.push(sentence)
}

/** A row of cold forks; Tandem's may not be slower. */
async function beside(title, work, mostRequests) {
  const samples = await row(title, {
    Tandem: () => sample('tandem', { fork: true, work }),
    Anvil: () => sample('anvil', { fork: true, work }),
  })
  if (samples === undefined) return
  hold(median(samples.Tandem, 'ms') <= median(samples.Anvil, 'ms'), `${title}: slower than Anvil`)
  if (mostRequests === undefined) return
  const requests = median(samples.Tandem, 'requests')
  hold(requests <= mostRequests, `${title}: ${requests} requests, and at most ${mostRequests} are allowed`)
}

try {
  console.log(
    `An upstream (${flags.upstream}) that answers each request after ${flags.delay} ms; medians of ${ROUNDS}`,
  )
  await beside('first ERC-20 transfer', sendTransfer)
  await beside('call over twelve lists of five slots', walkLists(12, 5), MOST_REQUESTS)
  await beside('call over one list of sixty slots', walkLists(1, 60), MOST_REQUESTS)
  await beside(`suite of ${SUITE_SIZE} transactions`, suite)

  const homes = { tandem: temporaryHome(), anvil: temporaryHome() }
  const warm = (name) => () => sample(name, { fork: true, home: homes[name], work: suite })
  // Fills the caches.
  for (const name of Object.keys(homes)) await warm(name)()
  const again = await row(`suite of ${SUITE_SIZE} transactions, warm cache`, {
    'Tandem, warm cache': warm('tandem'),
    'Tandem, no fork': () => sample('tandem', { fork: false, work: suite }),
    'Anvil, warm cache': warm('anvil'),
  })
  if (again !== undefined) {
    const [forked, local] = [again['Tandem, warm cache'], again['Tandem, no fork']]
    for (const key of ['ms', 'cpuMs']) {
      // Of interleaved pairs, so that other load on the machine affects both equally.
      const ratio = middle(forked.map((each, round) => each[key] / local[round][key]))
      console.log(`  warm cache to no fork, ${key === 'ms' ? 'time' : 'processor time'}: ${ratio.toFixed(2)}`)
      hold(ratio <= MOST_OVERHEAD, `a warm fork takes ${ratio.toFixed(2)} of a run without fork (${key})`)
    }
    const anvil = median(again['Anvil, warm cache'], 'ms')
    hold(median(forked, 'ms') <= anvil, 'suite on a warm cache: slower than Anvil')
  }
} finally {
  await proxy.close()
  await upstream.stop()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}
for (const failure of failures) console.log(`does not hold: ${failure}`)
process.exitCode = failures.length === 0 ? 0 : 1
