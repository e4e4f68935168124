/**
 * `npm run bench:memory`: mines 50,000 blocks with a transfer in every tenth, prints the memory of the process and the
 * processor time of a block at ten points, then opens the directory again and prints how long that takes.
 *
 * - `--blocks <count>`, and `--memory` for a chain in memory instead of a directory
 * - `--live` collects garbage at each point and prints what stays on the heap; fails when that grows after the fourth point
 * - `--snapshots <dir>` writes a heap snapshot at each point
 * - `--cycles 100000` does so many cycles of a snapshot, 20 transactions and a revert on a chain in memory instead, and
 *   fails when what is live on the heap and beside it grows
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { writeHeapSnapshot } from 'node:v8'
import { createNode } from '../../dist/index.js'

const { values: flags } = parseArgs({
  options: {
    blocks: { type: 'string', default: '50000' },
    memory: { type: 'boolean', default: false },
    live: { type: 'boolean', default: false },
    snapshots: { type: 'string' },
    cycles: { type: 'string' },
  },
})

const POINTS = 10
/** At this point caches are full. */
const FULL_POINT = 4
/** By how much the live heap may grow from there on, bytes. */
const MOST_GROWTH = 20e6
const blocks = Number(flags.blocks)
const folder =
  flags.memory || flags.cycles !== undefined ? undefined : mkdtempSync(join(tmpdir(), 'tandem-memory-'))
const megabytes = (bytes) => String(Math.round(bytes / 1e6))
const row = (...cells) => console.log(`| ${cells.join(' | ')} |`)

function open() {
  return createNode({ mining: 'manual', ...(folder !== undefined && { dataDir: join(folder, 'data') }) })
}

/** Bytes on the heap after two full collections, with a pause between them in which finalizers run. */
async function liveHeap() {
  globalThis.gc()
  await setTimeout(50)
  globalThis.gc()
  return process.memoryUsage().heapUsed
}

/** Mines the chain; returns the live heap at each point. */
async function mine() {
  const node = await open()
  const call = (method, ...params) => node.request({ method, params })
  const [from] = await call('eth_accounts')
  row('blocks', 'resident, MB', 'heap, MB', 'outside the heap, MB', 'live heap, MB', 'ms a block')
  row('---:', '---:', '---:', '---:', '---:', '---:')
  const live = []
  const step = Math.max(1, Math.floor(blocks / POINTS))
  let before = process.cpuUsage()
  for (let block = 1; block <= blocks; block++) {
    if (block % 10 === 0) {
      const to = `0x${(10_000 + block).toString(16).padStart(40, '0')}`
      await call('eth_sendTransaction', { from, to, value: '0x1', gas: '0x5208', gasPrice: '0x0' })
    }
    await call('evm_mine')
    if (block % step !== 0) continue
    const { user, system } = process.cpuUsage(before)
    const { rss, heapUsed, external } = process.memoryUsage()
    if (flags.live) live.push(await liveHeap())
    const cells = [...[rss, heapUsed, external].map(megabytes), live.length > 0 ? megabytes(live.at(-1)) : '']
    row(block, ...cells, ((user + system) / 1000 / step).toFixed(2))
    if (flags.snapshots !== undefined) writeHeapSnapshot(join(flags.snapshots, `${block}.heapsnapshot`))
    before = process.cpuUsage()
  }
  await node.close()
  return live
}

async function restart() {
  const started = performance.now()
  const node = await open()
  const height = Number(await node.request({ method: 'eth_blockNumber', params: [] }))
  console.log(`\nA restart at height ${height} takes ${Math.round(performance.now() - started)} ms.`)
  await node.close()
}

const TRANSACTIONS = 20

/** Does the cycles; returns the live bytes at each point. */
async function revert(cycles) {
  const node = await createNode({ mining: 'manual' })
  const call = (method, ...params) => node.request({ method, params })
  // Placeholder signatures: the time goes to chain and state.
  const senders = [1, 2, 3, 4].map((digit) => `0x${`5${digit}`.repeat(20)}`)
  for (const from of senders) {
    await call('hardhat_impersonateAccount', from)
    await call('hardhat_setBalance', from, `0x${(10n ** 24n).toString(16)}`)
  }
  row(
    'cycles',
    'resident, MB',
    'live heap, MB',
    'live beside the heap, MB',
    'ms a cycle',
    'longest cycle, ms',
  )
  row('---:', '---:', '---:', '---:', '---:', '---:')
  const live = []
  const step = Math.max(1, Math.floor(cycles / POINTS))
  let before = process.cpuUsage()
  let longest = 0
  for (let cycle = 1; cycle <= cycles; cycle++) {
    const { user: began } = process.cpuUsage()
    const id = await call('evm_snapshot')
    for (let index = 0; index < TRANSACTIONS; index++) {
      const from = senders[index % senders.length]
      const to = `0x${(10_000 + cycle * TRANSACTIONS + index).toString(16).padStart(40, '0')}`
      await call('eth_sendTransaction', { from, to, value: '0x1', gas: '0x5208', gasPrice: '0x0' })
    }
    await call('evm_mine')
    await call('evm_revert', id)
    longest = Math.max(longest, process.cpuUsage().user - began)
    if (cycle % step !== 0) continue
    const { user, system } = process.cpuUsage(before)
    const { rss } = process.memoryUsage()
    const heap = await liveHeap()
    const { arrayBuffers } = process.memoryUsage()
    live.push(heap + arrayBuffers)
    const time = ((user + system) / 1000 / step).toFixed(2)
    row(cycle, ...[rss, heap, arrayBuffers].map(megabytes), time, Math.round(longest / 1000))
    before = process.cpuUsage()
    longest = 0
  }
  await node.close()
  return live
}

function checkGrowth(live, unit) {
  const growth = Math.max(...live.slice(FULL_POINT)) - live[FULL_POINT - 1]
  if (growth <= MOST_GROWTH) return
  console.error(`What is live grew by ${megabytes(growth)} MB after ${unit * FULL_POINT}.`)
  process.exitCode = 1
}

try {
  if (flags.cycles !== undefined) {
    checkGrowth(await revert(Number(flags.cycles)), Number(flags.cycles) / POINTS)
  } else {
    const live = await mine()
    if (folder !== undefined) {
      await restart()
      checkGrowth(live, blocks / POINTS)
    }
  }
} finally {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
}
