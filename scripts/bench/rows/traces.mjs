/**
 * Rows of traces: mined transactions of arithmetic, of which those for calls and for `trace_transaction` are each traced for
 * the first time. Anvil records calls, and on request every step, at the first execution.
 */
import { TRACED_GAS } from '../scenes.mjs'

const CALL_TRACER = {
  title: 'callTracer',
  work: ({ client }, hash) => client.call('debug_traceTransaction', [hash, { tracer: 'callTracer' }]),
}
const PARITY = {
  title: 'trace_transaction',
  work: ({ client }, hash) => client.call('trace_transaction', [hash]),
}
const STRUCT_LOGS = {
  title: 'struct logs without memory, read to the end,',
  async work({ client, node }, hash) {
    const options = node.name.startsWith('tandem') ? { tracer: 'structLogger' } : { disableMemory: true }
    const bytes = await client.size('debug_traceTransaction', [hash, options])
    if (bytes < 10_000_000) throw new Error(`${node.name} gave ${bytes} bytes`)
  },
}

/** `operations` traces in a sample; the transactions of a size are taken in turn. */
const trace = (name, size, nodes, { title, work }, operations = 1) => ({
  name: `trace-${name}-${size}`,
  title: `${title} of a transaction of ${TRACED_GAS[size]} gas`,
  operation: 'trace',
  chain: name === 'steps' ? 'stepped' : 'traced',
  nodes,
  limits: [{ most: 1 }],
  rounds: 3,
  async sample(scene) {
    const hashes = scene.traced[size]
    scene.kept[size] ??= 0
    return {
      operations,
      async work() {
        for (let n = 0; n < operations; n++) await work(scene, hashes[scene.kept[size]++ % hashes.length])
      },
    }
  },
})

const ALL = ['tandem', 'tandem-node-26', 'anvil', 'hardhat-3', 'hardhat-2']
/** The others take minutes for struct logs of ten million gas, and have no trace_transaction. */
const FAST = ['tandem', 'tandem-node-26', 'anvil']

export const TRACE_ROWS = [
  trace('calls', '1m', ALL, CALL_TRACER, 6),
  trace('calls', '10m', FAST, CALL_TRACER),
  trace('parity', '1m', FAST, PARITY, 6),
  trace('steps', '1m', ALL, STRUCT_LOGS),
  trace('steps', '10m', FAST, STRUCT_LOGS),
]
