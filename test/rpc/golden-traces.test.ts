/** Traces of small situations, kept in `fixtures/traces`: rows, call frames and steps as they were once judged right. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/index.ts'
import { fixture } from '../support/fixture.ts'
import { play, type Stage, TRACE_CASES } from '../support/trace-cases.ts'

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
/** Steps and rows of long traces that are kept, from the end. */
const KEPT = 6

let node: Node
const call = (method: string, ...params: unknown[]) => node.request({ method, params }) as Promise<never>
beforeAll(async () => {
  node = await createNode({ minedReverts: 'hash' })
})
afterAll(() => node.close())

const stage: Stage = {
  async send(transaction) {
    const hash = (await call('eth_sendTransaction', { from: A, gasPrice: '0x0', ...transaction })) as Hex
    const { contractAddress } = (await call('eth_getTransactionReceipt', hash)) as {
      contractAddress: Hex | null
    }
    return { hash, contractAddress }
  },
}

interface Step {
  readonly depth: number
  readonly pc: number
  readonly op: string
  readonly gas: number
  readonly gasCost: number
}

/** Long paths by their length. */
const placeOf = (path: readonly number[]) =>
  path.length > 20 ? `${path.length} levels down` : path.join(' ')
const latest = (list: readonly unknown[]) => (list.length > 3 * KEPT ? list.slice(-KEPT) : list)

/** The deepest frame of a long line of calls, in place of the line. */
function deepest(frame: { calls?: readonly object[] }): object {
  let depth = 0
  let at = frame
  while (at.calls?.length === 1) {
    at = at.calls[0] as typeof frame
    depth++
  }
  return depth > 20 ? { depth, frame: at } : frame
}

it.each(TRACE_CASES)('$name', async (situation) => {
  const snapshot = await call('evm_snapshot')
  const { hash } = await play(situation, stage)
  const rows = ((await call('trace_transaction', hash)) as { traceAddress: readonly number[] }[]).map(
    ({ traceAddress, ...row }) => ({ ...row, blockHash: undefined, traceAddress: placeOf(traceAddress) }),
  )
  const frames = await call('debug_traceTransaction', hash, {
    tracer: 'callTracer',
    tracerConfig: { withLog: true },
  })
  const node = (await call('debug_traceTransaction', hash)) as { structLogs: readonly Step[] }
  const steps = node.structLogs.map(
    ({ depth, pc, op, gas, gasCost }) => `${depth} ${pc} ${op} ${gas} ${gasCost}`,
  )
  const text = JSON.stringify({
    rows: { count: rows.length, list: latest(rows) },
    frames: deepest(frames),
    steps: { count: steps.length, list: steps.length > 200 ? latest(steps) : steps },
    end: { ...node, structLogs: undefined },
  }).replaceAll(hash, 'transaction')
  await call('evm_revert', snapshot)
  expect(JSON.parse(text)).toEqual(fixture(`traces/${situation.name}.json`))
})
