/** Output of console.log in contracts: emitted once, also on failure, at the gas cost of a call to an empty account. */
import { Interface } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CONSOLE_ADDRESS } from '../../src/abi/console.ts'
import { toHex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { openSession } from '../../src/rpc/session.ts'
import { assemble } from '../support/assembler.ts'
import { run, world } from '../support/execution.ts'
import { saying } from '../support/refusals.ts'

const REVERTED = saying('VM Exception while processing transaction: transaction reverted')

const ALICE = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const MUTE = '0x000000000000000000636f6e736f6c652e6c6f68'
const HELLO = new Interface(['function log(string)']).encodeFunctionData('log', ['hello'])

/** Code that sends these bytes to an address by STATICCALL, and continues with `then`. */
function sayer(address: string, payload: string, then: string): Uint8Array {
  const bytes = payload.slice(2)
  const words = bytes.match(/.{1,64}/g) ?? []
  const stores = words.map((word, i) => `PUSH32 0x${word.padEnd(64, '0')} PUSH2 ${i * 32} MSTORE`).join(' ')
  return assemble(
    `${stores} PUSH1 0 PUSH1 0 PUSH2 ${bytes.length / 2} PUSH1 0 PUSH20 ${address} GAS STATICCALL POP ${then}`,
  )
}

describe('console.log of a running node', () => {
  let node: Node
  let outputs: { texts: readonly string[]; transaction: string | undefined }[]
  beforeEach(async () => {
    outputs = []
    node = await createNode({
      onConsole: (texts, transaction) => void outputs.push({ texts, transaction }),
    })
  })
  afterEach(() => node.close())
  const request = (method: string, ...params: unknown[]) => node.request({ method, params })
  const logging = (then = 'STOP') => ({
    from: ALICE,
    data: toHex(sayer(CONSOLE_ADDRESS, HELLO, then)),
    gas: '0x186a0',
  })

  it('is emitted for a call and for a transaction, once each, and not for an estimate', async () => {
    await request('eth_call', logging(), 'latest')
    expect(outputs).toEqual([{ texts: ['hello'], transaction: undefined }])
    await request('eth_estimateGas', logging())
    expect(outputs).toHaveLength(1)
    const transaction = await request('eth_sendTransaction', logging())
    expect(outputs.slice(1)).toEqual([{ texts: ['hello'], transaction }])
  })

  it('is emitted for failures', async () => {
    await expect(request('eth_call', logging('PUSH1 0 PUSH1 0 REVERT'), 'latest')).rejects.toThrow(REVERTED)
    await expect(request('eth_sendTransaction', logging('#fe'))).rejects.toThrow(REVERTED)
    expect(outputs.map(({ texts }) => texts)).toEqual([['hello'], ['hello']])
  })

  it('is emitted once for an estimate that fails, before the failure', async () => {
    const events: unknown[] = []
    node.engine.events.on('console', ({ texts }) => void events.push(texts))
    node.engine.events.on('failedCall', ({ error }) => void events.push(error.message))
    for (const then of ['PUSH1 0 PUSH1 0 REVERT', '#fe', 'JUMPDEST PUSH2 158 JUMP']) {
      await expect(request('eth_estimateGas', logging(then))).rejects.toMatchObject({ code: -32015 })
    }
    expect(outputs).toEqual(Array(3).fill({ texts: ['hello'], transaction: undefined }))
    expect(events.filter((_, at) => at % 2 === 0)).toEqual(Array(3).fill(['hello']))
    expect(events).toHaveLength(6)
  })

  it('is not emitted for a pending block, and once for the block mined from it', async () => {
    await request('evm_setAutomine', false)
    await request('eth_sendTransaction', logging())
    await request('eth_getBlockByNumber', 'pending', false)
    await request('eth_getWork')
    expect(outputs).toEqual([])
    await request('evm_mine')
    expect(outputs).toHaveLength(1)
  })

  it('is included in the chain update of its block', async () => {
    const notes: unknown[] = []
    node.engine.events.on('chain', (update) => void notes.push([...(update.notes ?? [])]))
    const hash = await request('eth_sendTransaction', logging())
    await request('evm_mine')
    expect(notes).toEqual([[[hash, { console: ['hello'] }]], []])
  })
})

describe('eth_subscribe console', () => {
  const CALL_HASH = { transactionHash: null }
  let node: Node
  beforeEach(async () => {
    node = await createNode()
  })
  afterEach(() => node.close())
  const request = (method: string, ...params: unknown[]) => node.request({ method, params })
  const logging = (then: string) => ({
    from: ALICE,
    data: toHex(sayer(CONSOLE_ADDRESS, HELLO, then)),
    gas: '0x186a0',
  })

  it('notifies of console lines and failures of transactions, and of calls only when no keys are required', async () => {
    const local: unknown[] = []
    node.on('message', ({ data }) => void local.push((data as { result: unknown }).result))
    await request('eth_subscribe', 'console')
    const keyed: unknown[] = []
    await node.dispatcher.request('eth_subscribe', ['console'], {
      ...openSession('test'),
      owner: 'ci',
      notify: ({ event }) => void keyed.push(event.value()),
    })
    const failing = logging('PUSH1 0 PUSH1 0 REVERT')
    await request('eth_call', logging('STOP'), 'latest')
    await expect(request('eth_call', failing, 'latest')).rejects.toThrow(REVERTED)
    const hash = await request('eth_sendTransaction', logging('STOP'))
    await expect(request('eth_sendTransaction', failing)).rejects.toThrow(REVERTED)
    const { transactions } = (await request('eth_getBlockByNumber', 'latest', false)) as {
      transactions: string[]
    }
    const mined = [
      { transactionHash: hash, console: ['hello'], failure: null },
      {
        transactionHash: transactions[0],
        console: ['hello'],
        failure: 'transaction reverted',
      },
    ]
    expect(local).toEqual([
      { ...CALL_HASH, console: ['hello'], failure: null },
      { ...CALL_HASH, console: ['hello'], failure: null },
      {
        ...CALL_HASH,
        console: [],
        failure: 'VM Exception while processing transaction: transaction reverted',
      },
      ...mined,
    ])
    expect(keyed).toEqual(mined)
  })
})

describe('the console contract', () => {
  it.each(['STATICCALL', 'CALL', 'DELEGATECALL', 'CALLCODE'])(
    'costs by %s the same as an empty account',
    async (op) => {
      const value = op === 'CALL' || op === 'CALLCODE' ? 'PUSH1 0' : ''
      const cost = async (address: string) => {
        const code = `PUSH1 0 PUSH1 0 PUSH1 4 PUSH1 0 ${value} PUSH20 ${address} GAS ${op} PUSH1 0 MSTORE PUSH1 32 PUSH1 0 RETURN`
        const result = await run(world({ '0x2000000000000000000000000000000000000002': { code } }))
        return {
          gas: result.gasUsed,
          output: toHex(result.output),
          consoleCalls: result.consoleCalls?.length ?? 0,
        }
      }
      const { consoleCalls, ...effects } = await cost(CONSOLE_ADDRESS)
      expect(consoleCalls).toBe(1)
      expect({ ...effects, consoleCalls: 0 }).toEqual(await cost(MUTE))
    },
  )

  it('keeps at most a megabyte of one message', async () => {
    const code = assemble(
      `JUMPDEST PUSH1 0 PUSH1 0 PUSH3 40000 PUSH1 0 PUSH20 ${CONSOLE_ADDRESS} GAS STATICCALL POP PUSH1 0 JUMP`,
    )
    const result = await run(world({ '0x2000000000000000000000000000000000000002': { code } }))
    const bytes = (result.consoleCalls ?? []).reduce((sum, { length }) => sum + length, 0)
    expect(result.failure).toBe('out of gas')
    expect(bytes).toBeGreaterThan(900_000)
    expect(bytes).toBeLessThanOrEqual(1_048_576)
  })
})
