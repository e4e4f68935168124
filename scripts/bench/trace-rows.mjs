/** Rows about traces: transactions of a million and of ten million gas looked into again, and one account sought in a long chain. */
import { elapsed, grow, heavyTransaction } from './rows.mjs'

const hex = (value) => `0x${value.toString(16)}`
/** Rounds of the probe's arithmetic that take about so much gas by this chain's rules. */
const ROUNDS = { '1M': 10_750, '10M': 110_700 }
/** Nobody else ever sends to it. */
const RARE = '0x00000000000000000000000000000000000b0b1e'

/** Mines the transactions that are looked into. */
export async function prepareTraces(scene) {
  scene.traced = {}
  for (const [size, rounds] of Object.entries(ROUNDS)) {
    scene.traced[size] = await heavyTransaction(scene, rounds)
  }
}

/** Call frames of a transaction; milliseconds. */
export const callTrace = (size) => (scene) =>
  elapsed(scene, 1, () =>
    scene.client.call('debug_traceTransaction', [scene.traced[size], { tracer: 'callTracer' }]),
  )

/** Struct logs in geth's shape without memory, read to the end; milliseconds. */
export const structLog = (size) => (scene) =>
  elapsed(scene, 1, async () => {
    const options = scene.node.name === 'tandem' ? { tracer: 'structLogger' } : { disableMemory: true }
    const bytes = await scene.client.size('debug_traceTransaction', [scene.traced[size], options])
    if (bytes < 10_000_000) throw new Error(`${scene.node.name} gave ${bytes} bytes`)
  })

/** A chain of so many blocks in which one account got something three times. */
export async function prepareFilter(scene, blocks) {
  for (const part of [0.1, 0.5, 0.4]) {
    await grow(scene, Math.floor(blocks * part))
    await grow(scene, 1, RARE)
  }
}

/** The traces of that account's transactions in the whole chain; milliseconds. */
export const filterRare = (scene) =>
  elapsed(scene, 1, async () => {
    const filter = { fromBlock: '0x0', toBlock: 'latest', toAddress: [RARE] }
    const found = await scene.client.call('trace_filter', [filter])
    if (found.length < 3) throw new Error(`${scene.node.name} found ${found.length}`)
  })

/** Every block of the chain run again, one after another; milliseconds. */
export const replayAll = (scene) =>
  elapsed(scene, 1, async () => {
    const head = Number(await scene.client.call('eth_blockNumber'))
    for (let height = 1; height <= head; height++) {
      await scene.client.call('debug_traceBlockByNumber', [hex(height), { tracer: 'noopTracer' }])
    }
  })
