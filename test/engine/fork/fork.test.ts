import { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../../src/encoding/hex.ts'
import { NodeError } from '../../../src/errors.ts'
import { createNode, createNodeFrom, type Node } from '../../../src/node/node.ts'
import { type EngineRemote, engineRemote } from '../../support/engine-remote.ts'
import { saying } from '../../support/refusals.ts'
import {
  LIST_LENGTH,
  readWord,
  request,
  sendCall,
  tokenAbi,
  type UpstreamChain,
  upstreamChain,
  WALK_LIST,
} from '../../support/upstream-chain.ts'

let original: Node
let chain: UpstreamChain

const balanceOf = (account: Hex | undefined) => tokenAbi.encodeFunctionData('balanceOf', [account])
const transferTo = (account: Hex | undefined, amount: bigint) =>
  tokenAbi.encodeFunctionData('transfer', [account, amount])

const forks: Node[] = []

async function forkOf(node: Node): Promise<{ fork: Node; remote: EngineRemote }> {
  const remote = engineRemote(node)
  const fork = await createNodeFrom({}, undefined, remote)
  forks.push(fork)
  return { fork, remote }
}

beforeAll(async () => {
  original = await createNode()
  chain = await upstreamChain(original)
})

afterAll(async () => {
  for (const node of [...forks, original]) await node.close()
})

describe('a fork', () => {
  it('answers like its upstream', async () => {
    const { fork } = await forkOf(original)
    const { accounts, token, list, transfer } = chain
    for (const [method, ...params] of [
      ['eth_blockNumber'],
      ['eth_chainId'],
      ['eth_getBalance', accounts[3], 'latest'],
      ['eth_getTransactionCount', accounts[0], 'latest'],
      ['eth_getCode', token, 'latest'],
      ['eth_getStorageAt', list, '0x5', 'latest'],
      ['eth_call', { to: token, data: balanceOf(accounts[1]) }, 'latest'],
      ['eth_estimateGas', { from: accounts[0], to: token, data: transferTo(accounts[1], 1n) }],
      ['eth_getBlockByNumber', 'latest', true],
      ['eth_getBlockByNumber', '0x1', true],
      ['eth_getBlockByNumber', 'earliest', false],
      ['eth_getTransactionByHash', transfer],
      ['eth_getTransactionReceipt', transfer],
      ['eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' }],
      ['eth_getBalance', accounts[0], '0x1'],
      ['eth_getProof', accounts[7], [], 'latest'],
      ['debug_traceTransaction', transfer, { tracer: 'callTracer' }],
      ['debug_traceTransaction', transfer, { tracer: 'prestateTracer' }],
      ['debug_traceBlockByNumber', '0x3', { tracer: 'callTracer' }],
      ['trace_transaction', transfer],
      ['trace_filter', { fromBlock: '0x1', toBlock: 'latest', fromAddress: [accounts[0]] }],
      ['debug_compareRules', transfer],
      ['eth_getBlockReceipts', '0x3'],
      ['eth_feeHistory', '0x3', 'latest', [50]],
    ] as const) {
      expect(await request(fork, method, ...params), method).toEqual(
        await request(original, method, ...params),
      )
    }
  })

  it('answers like its upstream with overrides, and at positions within blocks', async () => {
    const { fork } = await forkOf(original)
    const { accounts, token, list, transfer } = chain
    const missing = `0x${'e'.repeat(40)}`
    // Returns the balance of a missing account, NUMBER and slot 0 together.
    const code = `0x73${'e'.repeat(40)}314301545f540160005260206000f3`
    const state = {
      [token]: { stateDiff: { '0x2': '0x63' } },
      [list]: { code, state: { '0x0': '0x5' } },
      [missing]: { balance: '0x7' },
      '0x0000000000000000000000000000000001000006': {
        code: '0x00',
        movePrecompileToAddress: `0x${'b'.repeat(40)}`,
      },
    }
    const block = { number: '0x64', time: '0x5', blockHash: { 3: `0x${'12'.repeat(32)}` } }
    const supply = { to: token, data: tokenAbi.encodeFunctionData('totalSupply') }
    const traced = { tracer: 'prestateTracer', stateOverrides: state, blockOverrides: block }
    const moved = { from: accounts[0], to: token, data: transferTo(accounts[4], 3n) }
    const steps = [
      { call: moved },
      { set: state },
      { warp: { blocks: 2 } },
      { send: moved },
      { call: supply },
    ]
    for (const [method, ...params] of [
      ['eth_call', supply, 'latest', state],
      ['eth_call', { to: list }, 'latest', state, block],
      ['eth_call', { to: list }, '0x1', state, block],
      ['eth_estimateGas', { from: missing, to: list, value: '0x7' }, 'latest', state, block],
      ['eth_createAccessList', { to: list }, 'latest', state, block],
      ['debug_traceCall', supply, '0x3', { ...traced, txIndex: '0x0' }],
      ['debug_traceCall', supply, '0x3', { ...traced, txIndex: '0x1' }],
      ['trace_call', { to: list }, ['trace', 'stateDiff'], 'latest', state, block],
      ['eth_callMany', [{ transactions: [supply] }], { blockNumber: '0x3', transactionIndex: 0 }, state],
      ['evm_simulate', { steps, transactionIndex: 0 }, '0x3'],
      ['alchemy_simulateAssetChanges', moved],
      ['tenderly_simulateTransaction', moved, '0x3', state],
      ['debug_traceTransaction', transfer, traced],
      ['debug_traceTransaction', transfer, { tracer: 'callTracer', input: transferTo(accounts[6], 2n) }],
      ['trace_replayTransaction', transfer, ['stateDiff'], state, block, transferTo(accounts[6], 2n)],
    ] as const) {
      expect(await request(fork, method, ...params), method).toEqual(
        await request(original, method, ...params),
      )
    }
    expect(await request(fork, 'eth_call', supply, 'latest', state)).toBe(`0x${'63'.padStart(64, '0')}`)
  })

  it('simulates blocks after one of its upstream', async () => {
    const { fork } = await forkOf(original)
    const { accounts, token } = chain
    const calls = [{ from: accounts[0], to: token, input: transferTo(accounts[4], 3n) }]
    const simulated = async (node: Node, block: string) => {
      const [result] = (await request(node, 'eth_simulateV1', { blockStateCalls: [{ calls }] }, block)) as [
        { calls: { status: string; gasUsed: string; returnData: string }[] },
      ]
      return result.calls.map(({ status, gasUsed, returnData }) => ({ status, gasUsed, returnData }))
    }
    for (const block of ['latest', '0x3']) {
      const expected = await simulated(original, block)
      expect(expected).toMatchObject([{ status: '0x1' }])
      expect(await simulated(fork, block)).toEqual(expected)
    }
  })

  it('executes transactions like its upstream', async () => {
    const { fork } = await forkOf(original)
    const { fork: twin } = await forkOf(original)
    const { accounts, token } = chain
    const data = transferTo(accounts[2], 5n)
    const id = await request(original, 'evm_snapshot')
    const receipts = []
    for (const node of [original, fork, twin]) {
      const hash = await sendCall(node, accounts[0], token, data)
      const { blockHash: _, logs, ...receipt } = await request(node, 'eth_getTransactionReceipt', hash)
      receipts.push({
        ...receipt,
        logs: (logs as Record<string, unknown>[]).map(({ blockHash, ...log }) => log),
      })
    }
    expect(receipts[1]).toEqual(receipts[0])
    await request(original, 'evm_revert', id)
    expect(await readWord(fork, token, balanceOf(accounts[2]))).toBe(5n)
    // The same work elsewhere gives the same synthetic root.
    expect(fork.engine.queries.head().postState).toBe(twin.engine.queries.head().postState)
    expect(await request(fork, 'eth_getBlockByNumber', 'latest', false)).toMatchObject({
      syntheticStateRoot: true,
    })
    await expect(request(fork, 'eth_getProof', accounts[0], [], 'latest')).rejects.toThrow(
      saying(
        `address: ${accounts[0]} was written since the fork began at block 4, and the state of a fork has no true root to prove it against`,
      ),
    )
    expect(await request(fork, 'eth_getProof', accounts[7], [], 'latest')).toEqual(
      await request(original, 'eth_getProof', accounts[7], [], 'latest'),
    )
  })

  it('fetches a linked list in a few requests', async () => {
    const { fork, remote } = await forkOf(original)
    const before = remote.fetches.length + remote.loads.length
    expect(await readWord(fork, chain.list, WALK_LIST)).toBe(BigInt(LIST_LENGTH))
    expect(remote.fetches.length + remote.loads.length - before).toBeLessThanOrEqual(5)
  })

  it('fetches in one request the state that the same code read at another block', async () => {
    const { fork, remote } = await forkOf(original)
    const { accounts, token } = chain
    const height = Number(await request(fork, 'eth_blockNumber'))
    const data = balanceOf(accounts[1])
    const fetchesAt = async (number: number) => {
      await request(fork, 'eth_getBlockByNumber', `0x${number.toString(16)}`, false)
      const before = remote.fetches.length
      expect(await readWord(fork, token, data, `0x${number.toString(16)}`)).toBe(
        await readWord(original, token, data, `0x${number.toString(16)}`),
      )
      return remote.fetches.length - before
    }
    expect(await fetchesAt(height)).toBe(2)
    expect(await fetchesAt(height - 1)).toBe(1)
    const { items, read } = fork.engine.fork?.demand.touched.counts ?? { items: 0, read: 0 }
    expect(read).toBeGreaterThan(0)
    expect(read).toBeLessThanOrEqual(items)
  })

  it('mines each block once when its transactions need state that was not fetched', async () => {
    const { fork } = await forkOf(original)
    const { accounts, token } = chain
    const added: number[] = []
    fork.engine.events.on('chain', (update) => {
      added.push(...update.added.map(({ block }) => block.header.number))
    })
    const height = Number(await request(fork, 'eth_blockNumber'))
    await request(fork, 'evm_setAutomine', false)
    const senders = [accounts[1], accounts[5], accounts[6]]
    const hashes: Hex[] = []
    for (const from of senders) hashes.push(await sendCall(fork, from, token, transferTo(accounts[7], 0n)))
    await request(fork, 'hardhat_mine', '0x4')
    expect(added).toEqual([1, 2, 3, 4].map((above) => height + above))
    for (const hash of hashes) {
      expect(await request(fork, 'eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
    }
    expect(await request(fork, 'txpool_status')).toEqual({ pending: 0, queued: 0 })
  })

  it('reverts to a snapshot, and resets to the fork point', async () => {
    const { fork } = await forkOf(original)
    const { accounts, token } = chain
    const height = await request(fork, 'eth_blockNumber')
    const id = await request(fork, 'evm_snapshot')
    await sendCall(fork, accounts[0], token, transferTo(accounts[4], 7n))
    expect(await request(fork, 'evm_revert', id)).toBe(true)
    expect(await request(fork, 'eth_blockNumber')).toBe(height)
    expect(await readWord(fork, token, balanceOf(accounts[4]))).toBe(0n)
    await sendCall(fork, accounts[0], token, transferTo(accounts[4], 7n))
    await request(fork, 'hardhat_reset')
    expect(await request(fork, 'eth_blockNumber')).toBe(height)
    expect(await readWord(fork, token, balanceOf(accounts[4]))).toBe(0n)
  })

  it('finds logs below and above the fork point', async () => {
    const { fork } = await forkOf(original)
    const { accounts, token } = chain
    const past = await request<unknown[]>(original, 'eth_getLogs', { fromBlock: '0x0', address: token })
    await sendCall(fork, accounts[0], token, transferTo(accounts[4], 7n))
    const all = await request<unknown[]>(fork, 'eth_getLogs', { fromBlock: '0x0', address: token })
    expect(all.slice(0, -1)).toEqual(past)
    expect(all).toHaveLength(past.length + 1)
    const id = await request(fork, 'eth_newFilter', { fromBlock: '0x0', address: token })
    expect(await request(fork, 'eth_getFilterLogs', id)).toEqual(all)
    // The first poll of a filter that begins in the past has what happened since.
    expect(await request(fork, 'eth_getFilterChanges', id)).toEqual(all)
    await sendCall(fork, accounts[0], token, transferTo(accounts[4], 7n))
    expect(await request(fork, 'eth_getFilterChanges', id)).toHaveLength(1)
  })

  it('edits accounts of its upstream, and reorganises blocks of its own', async () => {
    const { fork } = await forkOf(original)
    const { accounts, token } = chain
    const slot = `0x${'0'.repeat(64)}`
    await request(fork, 'hardhat_setStorageAt', token, '0x0', slot)
    expect(await request(fork, 'eth_getStorageAt', token, '0x0', 'latest')).toBe(slot)
    await request(fork, 'hardhat_setBalance', accounts[9], '0x10')
    expect(await request(fork, 'eth_getBalance', accounts[9], 'latest')).toBe('0x10')
    await request(fork, 'evm_mine')
    await request(fork, 'evm_reorg', { depth: 1 })
    expect(await request(fork, 'eth_getBalance', accounts[9], 'latest')).toBe('0x10')
    expect(await request(fork, 'eth_getStorageAt', token, '0x0', 'latest')).toBe(slot)
  })

  it('runs views of the Bridge at its upstream, and refuses to write to it', async () => {
    const { fork } = await forkOf(original)
    const bridge = '0x0000000000000000000000000000000001000006'
    const data = '0x14c89c01' // getBtcBlockchainBestChainHeight()
    expect(await request(fork, 'eth_call', { to: bridge, data }, 'latest')).toBe(
      await request(original, 'eth_call', { to: bridge, data }, 'latest'),
    )
    const write = new Interface(['function receiveHeader(bytes)']).encodeFunctionData('receiveHeader', [
      '0x00',
    ])
    const tx = { from: chain.accounts[0], to: bridge, data: write, gas: '0x100000' }
    for (const method of ['eth_call', 'eth_estimateGas']) {
      await expect(request(fork, method, tx, 'latest')).rejects.toThrow(
        saying(
          'receiveHeader(bytes) cannot be simulated on a fork: the state of the Bridge is that of the upstream, which a fork only reads',
        ),
      )
    }
    await expect(request(fork, 'eth_sendTransaction', tx)).rejects.toThrow(
      saying("Unknown error when sending transaction: transaction wasn't mined"),
    )
  })

  it('pays collected fees of blocks before the fork like its upstream', async () => {
    const payer = await createNode()
    const accounts = await request<Hex[]>(payer, 'eth_accounts')
    for (let i = 0; i < 14; i++) {
      await request(payer, 'eth_sendTransaction', {
        from: accounts[0],
        to: accounts[1],
        value: '0x1',
        gasPrice: '0x4000000',
      })
    }
    const { fork } = await forkOf(payer)
    const paid = []
    for (const node of [payer, fork]) {
      await request(node, 'evm_mine')
      const [receipt] = await request<Record<string, unknown>[]>(node, 'eth_getBlockReceipts', 'latest')
      const { logs } = receipt as { logs: Record<string, unknown>[] }
      paid.push(logs.map(({ topics, data }) => ({ topics, data })))
    }
    expect(paid[0]).not.toHaveLength(0)
    expect(paid[1]).toEqual(paid[0])
    await payer.close()
  })

  it('omits payouts whose headers its upstream does not have, with one warning', async () => {
    const payer = await createNode()
    const accounts = await request<Hex[]>(payer, 'eth_accounts')
    for (let i = 0; i < 14; i++) {
      const transfer = { from: accounts[0], to: accounts[1], value: '0x1', gasPrice: '0x4000000' }
      await request(payer, 'eth_sendTransaction', transfer)
    }
    const remote = engineRemote(payer)
    const pruned = async () => {
      throw new NodeError('upstream', 'The upstream does not have this block.')
    }
    const warnings: string[] = []
    const logger = { info() {}, warn: (text: string) => void warnings.push(text), error() {}, debug() {} }
    const without = { ...remote, headerByNumber: pruned, headerByHash: pruned, blockByHash: pruned }
    const fork = await createNodeFrom({ logger }, undefined, without)
    forks.push(fork)
    for (let i = 0; i < 3; i++) {
      await request(fork, 'evm_mine')
      const receipts = await request<{ logs: unknown[]; status: Hex }[]>(
        fork,
        'eth_getBlockReceipts',
        'latest',
      )
      // That of REMASC, which has a log for each payment.
      expect(receipts).toMatchObject([{ status: '0x1', logs: [] }])
    }
    const left = warnings.filter((text) => text.includes('pays out no collected fees'))
    expect(left).toHaveLength(1)
    expect(left[0]).toBe(
      'block 15 pays out no collected fees: a block that it needs cannot be fetched: The upstream does not have this block.',
    )
    await payer.close()
  })
})
