/** Rows of processes: how fast they start and what memory they hold. */
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { measureRuns } from '../children.mjs'
import { measure } from '../measure.mjs'
import { HTTP_NODES } from '../nodes.mjs'
import { LONG_BLOCKS, SINK } from '../scenes.mjs'
import { start } from '../start.mjs'

const IMPORT = fileURLToPath(new URL('../import.mjs', import.meta.url))
/** Runs of a short program in a sample, whose processor time comes in ticks of 10 ms. */
const RUNS = 10
/** How long a node that has answered is left alone before its memory is read, ms. */
const IDLE_MS = 1000
const MANY_BLOCKS = 50_000

const nothing = () => measureRuns(process.execPath, ['-e', '0'], RUNS)

async function startToAnswer(name, options) {
  let node
  async function work() {
    node = await start(name, options)
  }
  const { disturbance, window } = await measure({ operations: 1, work }, () => node?.cpuMs() ?? 0)
  await node.stop()
  return { cpuMs: node.startCpuMs, wallMs: node.startMs, disturbance, window }
}

const starts = {
  name: 'start',
  title: 'start of the process to the first answer over HTTP',
  operation: 'start',
  nodes: [...HTTP_NODES, 'node'],
  limits: [{ most: 5, of: ['node'] }],
  sample: (name, options) => (name === 'node' ? nothing() : startToAnswer(name, options)),
}

const imports = {
  name: 'import',
  title: "start of a process that imports the package and has `createNode()`'s node, to its end",
  operation: 'start',
  nodes: ['tandem', 'node'],
  limits: [{ most: 6, of: ['node'] }],
  sample: (name) => (name === 'node' ? nothing() : measureRuns(process.execPath, [IMPORT], RUNS)),
}

/** The memory of a node that is started for it, after some work. */
async function memoryAfter(name, options, work) {
  const node = await start(name, options)
  try {
    await work(node)
    return { memoryMb: node.memoryMb() }
  } finally {
    await node.stop()
  }
}

const idle = {
  name: 'memory-idle',
  title: `resident memory ${IDLE_MS} ms after the first answer`,
  operation: 'process',
  unit: 'MB',
  figure: 'memoryMb',
  nodes: HTTP_NODES,
  limits: [{ most: 1, of: ['hardhat-3'] }],
  rounds: 3,
  sample: (name, options) => memoryAfter(name, options, () => setTimeout(IDLE_MS)),
}

/** Transfers from an account of the node, one in each block. */
async function transfers({ client }, count) {
  const [from] = await client.call('eth_accounts')
  const transaction = { from, to: SINK, value: '0x1', gas: '0x5208', gasPrice: '0xb2d05e00' }
  for (let i = 0; i < count; i++) await client.call('eth_sendTransaction', [transaction])
}

const blocks = (name, count, nodes, limits) => ({
  name,
  title: `resident memory after ${count.toLocaleString('en')} blocks with a transfer each`,
  operation: 'process',
  unit: 'MB',
  figure: 'memoryMb',
  nodes,
  limits,
  rounds: 1,
  sample: (node, options) => memoryAfter(node, options, (running) => transfers(running, count)),
})

/** How much more memory a chain on disk may take when it is ten times as long: flat, but for what a collector leaves. */
const FLAT = 1.2

export const PROCESS_ROWS = [
  starts,
  imports,
  idle,
  blocks('memory-5000', LONG_BLOCKS, HTTP_NODES, [{ most: 1, of: ['hardhat-3'] }]),
  blocks(
    'memory-50000',
    MANY_BLOCKS,
    // The others need a quarter of an hour and more.
    ['tandem', 'tandem-disk', 'hardhat-3'],
    [
      { most: 1, of: ['hardhat-3'] },
      { node: 'tandem-disk', most: FLAT, of: ['tandem-disk'], row: 'memory-5000' },
    ],
  ),
]
