/** Acceptance checks of the chain's RPC by their numbers, over HTTP: blocks, transactions, receipts, logs and proofs. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { verifyStateProof } from '../../../src/index.ts'
import { type ServedNode, servedNode } from '../../support/served-node.ts'
import { A, callsTo, INV, LOG2, LOGC, N, ONES, U32, Z32 } from './calls.ts'

let t: ServedNode
const { error, mined, transfer } = callsTo(() => t)

afterEach(() => t.close())

describe('an automining node', () => {
  beforeEach(async () => {
    t = await servedNode({ rpcTimeoutMs: 20_000 })
  })

  it('115–137: blocks, transactions, receipts, uncles', async () => {
    expect(await t.call('eth_getBlockByNumber', '0x0', false)).toMatchObject({
      number: '0x0',
      hash: '0x8ea789fabef0dd4946ed53f001e7b6f8a8d0c22a612a6099fc7f93c990af68fe',
      difficulty: '0x1',
      gasLimit: '0x989680',
      timestamp: '0x0',
      parentHash: Z32,
    })
    const { hash: T, receipt } = await transfer()
    const block = await t.call('eth_getBlockByNumber', 'latest', false)
    expect(Object.keys(block)).toEqual(
      (
        'number hash parentHash mixHash nonce sha3Uncles logsBloom transactionsRoot stateRoot receiptsRoot miner ' +
        'difficulty totalDifficulty extraData size gasLimit gasUsed timestamp transactions uncles minimumGasPrice ' +
        'bitcoinMergedMiningHeader bitcoinMergedMiningCoinbaseTransaction bitcoinMergedMiningMerkleProof ' +
        'hashForMergedMining paidFees cumulativeDifficulty rskPteEdges baseEvent'
      ).split(' '),
    )
    expect(block).toMatchObject({
      nonce: '0x0000000000000000',
      totalDifficulty: '0x2',
      rskPteEdges: [],
      baseEvent: null,
    })
    expect(await t.call('eth_getBlockByHash', block.hash, false)).toEqual(block)
    const full = await t.call('eth_getBlockByNumber', 'latest', true)
    expect(full.transactions.at(-1)).toMatchObject({
      from: `0x${'0'.repeat(40)}`,
      to: '0x0000000000000000000000000000000001000008',
      nonce: '0x0',
      gas: '0x0',
      gasPrice: '0x0',
      value: '0x0',
      input: '0x',
      v: '0x0',
      r: '0x0',
      s: '0x0',
    })
    expect(block.transactions.at(-1)).toBe(
      '0x4aa0649fdc1a4b0e07b64c26e43138400c84d6a127d0242027226b7ade17a53e',
    )
    expect(await t.call('eth_getBlockByNumber', '0xffffff', false)).toBeNull()
    expect(await t.call('eth_getBlockByHash', U32, false)).toBeNull()
    const invalid = async (method: string, params: unknown[], message: string, code = -32602) =>
      expect(await error(method, params), message).toEqual({ code, message })
    await invalid('eth_getBlockByHash', ['0x12', false], 'Invalid block hash: incorrect length.')
    await invalid('eth_getBlockByNumber', ['', false], 'Invalid block identifier: empty or null.')
    await invalid('eth_getBlockByNumber', ['finalized', false], 'invalid blocknumber finalized')
    expect((await t.call('eth_getBlockByNumber', 'latest')).transactions).toEqual(block.transactions)
    const pending = await t.call('eth_getBlockByNumber', 'pending', true)
    expect(pending).toMatchObject({ number: null, hash: null, nonce: null, logsBloom: null, miner: null })
    expect(pending.parentHash).toBe(block.hash)
    expect(pending.transactions[0]).toMatchObject({
      blockHash: null,
      blockNumber: null,
      transactionIndex: null,
    })
    expect(await t.call('eth_getBlockTransactionCountByHash', block.hash)).toBe('0x2')
    expect(await t.call('eth_getBlockTransactionCountByHash', U32)).toBeNull()
    await invalid('eth_getBlockTransactionCountByNumber', ['0xffffff'], 'Block 0xffffff not found', -32600)
    await invalid('eth_getUncleCountByBlockHash', [U32], `Block with hash ${U32.slice(2)} not found`, -32600)
    expect(await t.call('eth_getUncleCountByBlockNumber', 'latest')).toBe('0x0')
    expect(await t.call('eth_getUncleByBlockNumberAndIndex', 'latest', '0x0')).toBeNull()
    const transaction = await t.call('eth_getTransactionByHash', T)
    expect(Object.keys(transaction)).toEqual(
      'hash nonce blockHash blockNumber transactionIndex from to gas gasPrice value input v r s type'.split(
        ' ',
      ),
    )
    expect(transaction).toMatchObject({
      type: '0x0',
      v: expect.stringMatching(/^0x6[56]$/),
      blockHash: block.hash,
    })
    await invalid('eth_getTransactionByHash', ['0x12'], 'Invalid transaction hash: incorrect length.')
    expect(await t.call('eth_getTransactionByBlockNumberAndIndex', '0x1', '0x0')).toEqual(transaction)
    expect(await t.call('eth_getTransactionByBlockHashAndIndex', block.hash, '0x0')).toEqual(transaction)
    expect(await t.call('eth_getTransactionByBlockNumberAndIndex', '0x1', '0x63')).toBeNull()
    await invalid(
      'eth_getTransactionByBlockNumberAndIndex',
      ['0x1', '0'],
      'Invalid argument "0": param should be a hex value string.',
    )
    await invalid(
      'eth_getTransactionByBlockNumberAndIndex',
      ['0x1', '0x'],
      'Invalid index param: value must be a valid hex number.',
    )
    expect(Object.keys(receipt)).toEqual(
      (
        'transactionHash transactionIndex blockHash blockNumber cumulativeGasUsed gasUsed contractAddress logs ' +
        'from to status logsBloom type effectiveGasPrice'
      ).split(' '),
    )
    expect(receipt).toMatchObject({ contractAddress: null, effectiveGasPrice: '0x0' })
    expect((await error('eth_sendTransaction', [{ from: A, data: INV }])).code).toBe(-32015)
    const failed = await t.call(
      'eth_getTransactionReceipt',
      (await t.call('eth_getBlockByNumber', 'latest')).transactions[0],
    )
    expect(failed).toMatchObject({ to: null, status: '0x0', gasUsed: '0x15f90' })
    expect(failed.contractAddress).toMatch(/^0x.{40}$/)
    const logs = (await mined({ from: A, data: LOG2, gas: '0x20000' })).receipt.logs
    expect(logs.map((log: { logIndex: string }) => log.logIndex)).toEqual(['0x0', '0x1'])
    expect(logs[0]).toMatchObject({ data: '0x', topics: [ONES] })
    expect(Object.keys(logs[0])).not.toContain('removed')
  })

  it('144–152, 155: logs', async () => {
    const { receipt } = await mined({ from: A, data: LOGC, gas: '0x20000' })
    const one = await t.call('eth_getLogs', {})
    expect(one).toHaveLength(1)
    expect(one[0]).toMatchObject({ removed: false, logIndex: '0x0', blockHash: receipt.blockHash })
    await t.call('evm_mine')
    expect(await t.call('eth_getLogs', {})).toEqual([])
    expect(await t.call('eth_getLogs', { blockHash: receipt.blockHash })).toEqual(one)
    expect(await t.call('eth_getLogs', { blockHash: U32 })).toEqual([])
    expect(await error('eth_getLogs', [{ blockHash: receipt.blockHash, fromBlock: '0x0' }])).toEqual({
      code: -32602,
      message: 'Cannot specify both blockHash and fromBlock/toBlock',
    })
    const search = (filter: object) =>
      t.call('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest', ...filter })
    for (const topics of [[ONES], [null], [[ONES, U32]], [], [null, null]])
      expect(await search({ topics })).toEqual(one)
    for (const topics of [[U32], [null, U32]]) expect(await search({ topics })).toEqual([])
    const { address } = one[0]
    for (const filter of [{ address }, { address: [address] }, { address: [] }])
      expect(await search(filter)).toEqual(one)
    expect(await search({ address: N })).toEqual([])
    expect((await error('eth_getLogs', [{ topics: ['0x11'] }])).message).toBe(
      'Invalid topic: incorrect length.',
    )
    expect((await error('eth_getLogs', [{ fromBlock: 'foo' }])).message).toBe(
      "Invalid block identifier 'foo'",
    )
    expect(await t.call('eth_getLogs', { fromBlock: '0xffffff' })).toEqual([])
    expect(await t.call('eth_getLogs', { fromBlock: '0x0', toBlock: '0xffffff' })).toEqual(one)
    // As the reference node answers: fixtures/reference-node/rpc/all.json.gz
    expect(await t.call('eth_getLogs', { fromBlock: '0x2', toBlock: '0x1' })).toEqual([])
  })

  it('216–218, 220: methods without a counterpart return their errors, and eth_getProof returns proofs', async () => {
    for (const name of ['db_putString', 'eth_compileSolidity', 'eth_getCompilers', 'shh_version']) {
      expect((await error(name, [])).code).toBe(-32601)
    }
    for (const name of ['toString', '__proto__', 'constructor']) {
      expect(await error(name, [])).toEqual({ code: -32601, message: 'method not found' })
    }
    await transfer()
    const proof = await t.call('eth_getProof', A, [], 'latest')
    expect(Object.keys(proof).sort()).toEqual(
      ['accountProof', 'address', 'balance', 'codeHash', 'nonce', 'storageHash', 'storageProof'].sort(),
    )
    expect(proof.balance).toBe(await t.call('eth_getBalance', A))
    const atGenesis = await t.call('eth_getProof', A, [], 'earliest')
    const { stateRoot } = await t.call('eth_getBlockByNumber', 'earliest', false)
    expect(verifyStateProof(atGenesis, stateRoot)?.balance).toBe(BigInt(atGenesis.balance))
  })
})
