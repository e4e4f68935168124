/** Rules of the reference node's default tracer that its recorded replies do not show (docs/internals/protocol.md#9-traces). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/index.ts'
import { play, type Stage } from '../support/trace-cases.ts'

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'

interface Trace {
  readonly structLogs: readonly {
    readonly op: string | null
    readonly depth: number
    readonly gasCost: number
    readonly storage: Readonly<Record<string, string>>
  }[]
  readonly initStorage: Readonly<Record<string, string>>
  readonly currentStorage: Readonly<Record<string, string>>
  readonly storageSize: number
}

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

/** Deploys contracts, of which the last is called. */
async function trace(contracts: Readonly<Record<string, string>>): Promise<Trace> {
  const { hash } = await play({ name: '', contracts, asOnEthereum: false }, stage)
  return call('debug_traceTransaction', hash)
}

const word = (value: number): string => value.toString(16).padStart(64, '0')

describe('the default tracer', () => {
  it('assigns the cost of a call to the last step of the callee, and that of the end of the code to the step before', async () => {
    // The callee ends behind its POP, with a STOP that is no step; so does the caller.
    const { structLogs } = await trace({
      callee: 'PUSH1 1 POP',
      caller: 'PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 0 PUSH20 $callee PUSH2 1000 CALL PUSH1 7 POP',
    })
    const [callAt, ...after] = structLogs.slice(7)
    expect([callAt, ...after].map((step) => [step?.op, step?.depth, step?.gasCost])).toEqual([
      ['CALL', 0, 0],
      ['PUSH1', 1, 3],
      // 700 for the call, 1,000 for the callee; that replaces the cost of the STOP, which has replaced that of POP.
      ['POP', 1, 1700],
      ['PUSH1', 0, 3],
      ['POP', 0, 0],
    ])
  })

  it('assigns a call without code its whole cost, and a failing step no cost', async () => {
    const { structLogs } = await trace({
      caller: 'PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 4 PUSH2 1000 CALL #a8',
    })
    expect(structLogs.slice(7).map(({ op, gasCost }) => [op, gasCost])).toEqual([
      ['CALL', 1700],
      ['DUPN', 0],
    ])
  })

  it('lists slots from the step after their change on, and drops slots that become zero', async () => {
    const writes = await trace({
      keeper: 'PUSH1 5 PUSH1 1 SSTORE PUSH1 0 PUSH1 1 SSTORE PUSH1 9 PUSH1 2 SSTORE STOP',
    })
    expect(writes.structLogs.map(({ storage }) => storage)).toEqual([
      {},
      {},
      {},
      { [word(1)]: word(5) },
      { [word(1)]: word(5) },
      { [word(1)]: word(5) },
      {},
      {},
      {},
      { [word(2)]: word(9) },
    ])
    expect(writes).toMatchObject({ initStorage: {}, currentStorage: { [word(2)]: word(9) }, storageSize: 1 })
  })
})
