/**
 * `npm run bench`: Tandem beside the peers, in one run, interleaved, cold rows beside warm ones. Prints for each node the
 * median with its spread and the processor time of one operation, and how disturbed the machine was; judges nothing.
 * Flags: --quick (fewer rounds, shorter chains), --only <part of a row's name>, --nodes a,b; --skip traces leaves out the
 * rows of traces, which take one of the peers a quarter of an hour
 */
import { createHash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { available, start } from './nodes.mjs'
import * as rows from './rows.mjs'
import * as traces from './trace-rows.mjs'

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    only: { type: 'string' },
    nodes: { type: 'string' },
    skip: { type: 'string' },
  },
})
const names = flags.nodes?.split(',') ?? available()
const ROUNDS = flags.quick ? 2 : 5
const LONG = flags.quick ? 500 : 2000
const LONGEST = flags.quick ? 1000 : 5000

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]

const short = (figure) => figure.toFixed(figure >= 100 ? 0 : figure >= 10 ? 1 : 2)

/** Megabytes that the yardstick hashes: about 20 ms. */
const YARDSTICK = Buffer.alloc(16 << 20)

/** How much longer a fixed piece of work takes than its processor time, in percent: the share that others took. */
function disturbance() {
  const began = performance.now()
  const before = process.cpuUsage()
  createHash('sha256').update(YARDSTICK).digest()
  const { user, system } = process.cpuUsage(before)
  return Math.max(0, ((performance.now() - began) / ((user + system) / 1000) - 1) * 100)
}

function print(name, unit, samples, disturbances, lessIsBetter) {
  const own = samples.tandem?.length > 0 ? median(samples.tandem.map(({ figure }) => figure)) : undefined
  const worst = Math.max(...disturbances)
  console.log(
    `${name}, ${unit}; machine disturbed ${short(median(disturbances))} %, at worst ${short(worst)} %`,
  )
  for (const [node, list] of Object.entries(samples)) {
    if (list.length === 0) continue
    const figures = list.map(({ figure }) => figure)
    const middle = median(figures)
    const ratio =
      node === 'tandem' || own === undefined ? undefined : lessIsBetter ? middle / own : own / middle
    const times = list.flatMap(({ cpuMs }) => cpuMs ?? [])
    const cells = [
      short(middle),
      `${short(Math.min(...figures))}–${short(Math.max(...figures))}`,
      times.length === 0 ? '' : `CPU ${short(median(times))} ms`,
      ratio === undefined ? '' : `(${ratio.toFixed(1)}x)`,
    ]
    console.log(`  ${node.padEnd(10)} ${cells.map((cell) => cell.padEnd(16)).join('')}`.trimEnd())
  }
}

/** Runs a row on every node, interleaved round by round. */
async function compare(name, unit, scenes, work, { rounds = ROUNDS, lessIsBetter = false, group } = {}) {
  if (flags.only && flags.only !== group && !name.includes(flags.only)) return
  const samples = Object.fromEntries(names.map((node) => [node, []]))
  const disturbances = []
  for (let round = 0; round < rounds; round++) {
    for (const node of names) {
      disturbances.push(disturbance())
      try {
        samples[node].push(await work(scenes[node]))
      } catch (error) {
        if (round === 0) console.error(`  ${node}: ${error.message}`)
      }
    }
  }
  print(name, unit, samples, disturbances, lessIsBetter)
}

console.log(
  `${ROUNDS} rounds: median, spread, processor time of the node for one operation; in brackets how many times better Tandem is. Rows are warm unless marked cold: every node has run the same transactions before.\n`,
)

/** Rows that start a node of their own get its name as their scene. */
const starts = Object.fromEntries(names.map((name) => [name, name]))
await compare(
  'cold: start to first answer',
  'ms',
  starts,
  async (name) => {
    const node = await start(name)
    const cpuMs = node.cpuMs()
    await node.stop()
    return { figure: node.startMs, cpuMs }
  },
  { lessIsBetter: true },
)

/** A row on a node that has just started and has run nothing but the deployments. */
const cold = (work) => async (name) => {
  const scene = await rows.prepare(await start(name), { warm: false })
  try {
    return await work(scene)
  } finally {
    await scene.node.stop()
  }
}
await compare('cold: the first 100 transfers with receipt', 'per s', starts, cold(rows.sequentialTransfers))
await compare('cold: the first 300 eth_call balanceOf', 'per s', starts, cold(rows.calls))

const scenes = {}
for (const name of names) scenes[name] = await rows.prepare(await start(name))

await compare('transfers one by one with receipt, fresh chain', 'per s', scenes, rows.sequentialTransfers)
await compare('ERC-20 transfers one by one with receipt, fresh chain', 'per s', scenes, rows.sequentialTokens)
await compare('eth_call balanceOf', 'per s', scenes, rows.calls)
await compare('snapshot + 20 transactions + revert, fresh chain', 'per s', scenes, rows.snapshots)
for (const name of rows.HEAVY_NAMES) await compare(`EVM ${name}`, 'Mgas/s', scenes, rows.heavy(name))
await compare('1,000 transfers into one block', 'per s', scenes, rows.bigBlock, { rounds: 3 })
await compare('eth_getBlockByNumber of 1,000 full transactions', 'per s', scenes, rows.fullBlocks)

// Nodes of their own again: one of the peers has to note every step while it first runs.
if (flags.skip !== 'traces' && (!flags.only || 'callTracer struct logs trace'.includes(flags.only))) {
  const tracing = {}
  for (const name of names) {
    tracing[name] = await rows.prepare(await start(name, undefined, { traces: true }), { warm: false })
    await traces.prepareTraces(tracing[name])
  }
  const less = { rounds: 3, lessIsBetter: true }
  for (const size of ['1M', '10M']) {
    await compare(`callTracer of ${size} gas`, 'ms', tracing, traces.callTrace(size), less)
    await compare(`struct logs of ${size} gas`, 'ms', tracing, traces.structLog(size), less)
  }
  for (const name of names) await tracing[name].node.stop()
}

// A long chain on nodes of their own: what was done and undone above would count against some of them.
for (const name of names) {
  await scenes[name].node.stop()
  scenes[name] = await rows.prepare(await start(name), { warm: false })
  await rows.grow(scenes[name], LONG)
}
await compare(
  `transfers one by one with receipt, after ${LONG} blocks`,
  'per s',
  scenes,
  rows.sequentialTransfers,
)
await compare(
  `ERC-20 transfers one by one with receipt, after ${LONG} blocks`,
  'per s',
  scenes,
  rows.sequentialTokens,
)
await compare(`snapshot + 20 transactions + revert, after ${LONG} blocks`, 'per s', scenes, rows.snapshots)
await compare('eth_getLogs over 1,000 blocks', 'per s', scenes, rows.logs)

if (!flags.only || flags.only === 'long') {
  // Flatness of our own: time and memory per block early and late, on one chain.
  const { tandem } = scenes
  for (const [name, scene] of Object.entries(scenes)) {
    const head = Number(await scene.client.call('eth_blockNumber'))
    if (head < LONGEST) await rows.grow(scene, LONGEST - head)
    if (name === 'tandem')
      console.log(`\nmemory of tandem at block ${LONGEST}: ${tandem.node.memory().toFixed(0)} MB`)
  }
  await compare(
    `resident memory after ${LONGEST} blocks`,
    'MB',
    scenes,
    async (scene) => ({ figure: scene.node.memory() }),
    { rounds: 1, lessIsBetter: true, group: 'long' },
  )
  await compare(
    `restart on ${LONGEST} blocks`,
    'ms',
    scenes,
    async (scene) => {
      await scene.node.stop({ keep: true })
      scene.node = await start(scene.node.name, scene.node.dir)
      return { figure: scene.node.startMs, cpuMs: scene.node.cpuMs() }
    },
    { rounds: 1, lessIsBetter: true, group: 'long' },
  )
}

if (names.includes('tandem') && !flags.only) {
  const scene = await rows.prepare(await start('tandem'))
  console.log('\nFlatness: transfers one by one with receipt and resident memory along one chain')
  for (const height of [500, 1000, 2000, 3500, 5000].filter((height) => height <= LONGEST)) {
    await rows.grow(scene, height - Number(await scene.client.call('eth_blockNumber')))
    const samples = []
    for (let round = 0; round < 3; round++) samples.push(await rows.sequentialTransfers(scene))
    const rate = median(samples.map(({ figure }) => figure))
    const cpu = median(samples.map(({ cpuMs }) => cpuMs))
    const memory = scene.node.memory().toFixed(0)
    console.log(`  block ${height}: ${rate.toFixed(0)} per s, CPU ${short(cpu)} ms each, ${memory} MB`)
  }
  await scene.node.stop()
}

if (names.includes('tandem') && !flags.only) {
  const own = await rows.prepare(await start('tandem'))
  console.log('\nWhat the peers do not have')
  await rows.bigBlock(own)
  for (const [name, work] of [
    ['work template with 1,000 pooled transactions', rows.workTemplate],
    ['reorganisation of 10 blocks with 100 transactions each', rows.reorganisation],
    ['proof of one receipt in 1,000', rows.receiptProof],
  ]) {
    const samples = []
    for (let round = 0; round < ROUNDS; round++) samples.push(await work(own))
    const cpu = median(samples.map(({ cpuMs }) => cpuMs))
    console.log(`  ${name}: ${short(median(samples.map(({ figure }) => figure)))} ms, CPU ${short(cpu)} ms`)
  }
  await own.node.stop()
}

if (names.includes('tandem') && (!flags.only || 'trace_filter'.includes(flags.only))) {
  const own = await rows.prepare(await start('tandem'), { warm: false })
  await traces.prepareFilter(own, LONGEST)
  const { figure: all } = await traces.replayAll(own)
  const samples = []
  for (let round = 0; round < ROUNDS; round++) samples.push(await traces.filterRare(own))
  const rare = median(samples.map(({ figure }) => figure))
  console.log(
    `\ntrace_filter of one account in ${LONGEST} blocks: ${rare.toFixed(1)} ms; running all of them again: ${all.toFixed(0)} ms (${(all / rare).toFixed(0)}x)`,
  )
  await own.node.stop()
}

for (const name of names) await scenes[name].node.stop()
