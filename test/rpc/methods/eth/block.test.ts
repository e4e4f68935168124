/** Blocks, counts and uncles (acceptance checks 115 to 128). */
import { describe, expect, it } from 'vitest'
import { blockSize } from '../../../../src/chain/block.ts'
import { headerHash } from '../../../../src/chain/header.ts'
import { toQuantity } from '../../../../src/encoding/hex.ts'
import { openSession } from '../../../../src/rpc/session.ts'
import type { RpcBlock } from '../../../../src/rpc/wire/block.ts'
import {
  block0,
  block1,
  config,
  firstTransfer,
  pendingBlock,
  pooled,
  sideBlock,
  strangeUncle,
  UNKNOWN,
} from '../../../support/fake-chain.ts'
import { fakeEngine } from '../../../support/fake-engine.ts'
import { ask, dispatcherOf } from '../../../support/rpc.ts'

const dispatcher = dispatcherOf(fakeEngine().engine)
const read = (method: string, ...params: unknown[]) => ask(dispatcher, method, params)
const block = async (method: string, ...params: unknown[]) =>
  (await read(method, ...params)).result as RpcBlock
const refusal = (code: number, message: string) => ({ error: { code, message } })

const KEYS =
  `number hash parentHash mixHash nonce sha3Uncles logsBloom transactionsRoot stateRoot receiptsRoot miner
difficulty totalDifficulty extraData size gasLimit gasUsed timestamp transactions uncles minimumGasPrice
bitcoinMergedMiningHeader bitcoinMergedMiningCoinbaseTransaction bitcoinMergedMiningMerkleProof hashForMergedMining
paidFees cumulativeDifficulty rskPteEdges baseEvent`.split(/\s+/)

describe('eth_getBlockByNumber', () => {
  it('has every key in order', async () => {
    for (const at of ['0x0', 'latest', 'pending']) {
      expect(Object.keys(await block('eth_getBlockByNumber', at, true))).toEqual(KEYS)
    }
  })

  it('shows genesis', async () => {
    expect(await block('eth_getBlockByNumber', '0x0', false)).toMatchObject({
      number: '0x0',
      hash: block0.hash,
      difficulty: '0x1',
      gasLimit: '0x989680',
      timestamp: '0x0',
      parentHash: `0x${'0'.repeat(64)}`,
      bitcoinMergedMiningHeader: '0x00',
      bitcoinMergedMiningCoinbaseTransaction: '0x00',
      bitcoinMergedMiningMerkleProof: '0x00',
      rskPteEdges: null,
      baseEvent: null,
    })
  })

  it('shows a mined block, with its difficulty including that of its uncles', async () => {
    const { header } = block1.block
    expect(await block('eth_getBlockByNumber', 'latest', false)).toMatchObject({
      number: '0x1',
      hash: block1.hash,
      nonce: '0x0000000000000000',
      mixHash: `0x${'0'.repeat(64)}`,
      miner: header.coinbase,
      difficulty: '0x5',
      cumulativeDifficulty: '0xa',
      totalDifficulty: '0xb',
      size: toQuantity(blockSize(block1.block, config)),
      transactions: block1.block.transactions.map(({ hash }) => hash),
      uncles: [sideBlock.hash, headerHash(strangeUncle, config)],
      paidFees: '0xc',
      rskPteEdges: [2],
      baseEvent: null,
    })
  })

  it('returns full transactions on request, the REMASC transaction last', async () => {
    const { transactions } = await block('eth_getBlockByNumber', 'latest', true)
    const places = transactions.map((entry) => (typeof entry === 'string' ? entry : entry.transactionIndex))
    expect(places).toEqual(['0x0', '0x1', '0x2', '0x3'])
    expect(transactions.at(-1)).toMatchObject({
      blockHash: block1.hash,
      blockNumber: '0x1',
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
  })

  it('has null or zero for members that a pending block does not have yet', async () => {
    const open = {
      number: null,
      hash: null,
      nonce: null,
      logsBloom: null,
      miner: null,
      totalDifficulty: '0x0',
    }
    const hashes = pendingBlock.block.transactions.map(({ hash }) => hash)
    const found = await block('eth_getBlockByNumber', 'pending', false)
    expect(found).toMatchObject({ ...open, parentHash: block1.hash, transactions: hashes })
    expect(found.bitcoinMergedMiningHeader).toBe('0x')
    const { transactions } = await block('eth_getBlockByNumber', 'pending', true)
    expect(transactions[0]).toMatchObject({
      hash: pooled.hash,
      blockHash: null,
      blockNumber: null,
      transactionIndex: null,
    })
  })

  it('has hashes by default, accepts a hash, and is null beyond the head', async () => {
    const found = await read('eth_getBlockByNumber', 'latest')
    expect(found).toEqual(await read('eth_getBlockByNumber', 'latest', false))
    expect(await read('eth_getBlockByNumber', block1.hash)).toEqual(found)
    expect(await read('eth_getBlockByNumber', '0xffffff', false)).toEqual({ result: null })
  })

  it.each([
    ['', 'Invalid block identifier: empty or null.'],
    ['finalized', 'invalid blocknumber finalized'],
  ])('refuses %j', async (at, message) => {
    expect(await read('eth_getBlockByNumber', at, false)).toEqual(refusal(-32602, message))
  })

  it('returns a new object to each caller', async () => {
    const first = await block('eth_getBlockByNumber', 'latest', false)
    const second = await dispatcher.request('eth_getBlockByNumber', ['latest'], openSession('other'))
    expect(second).toEqual(first)
    ;(second as RpcBlock).uncles.length = 0
    ;(second as RpcBlock).transactions.length = 0
    expect(await block('eth_getBlockByNumber', 'latest', false)).toEqual(first)
  })
})

describe('eth_getBlockByHash', () => {
  it('finds the same block, and side blocks', async () => {
    expect(await read('eth_getBlockByHash', block1.hash, false)).toEqual(
      await read('eth_getBlockByNumber', 'latest', false),
    )
    expect((await block('eth_getBlockByHash', sideBlock.hash)).hash).toBe(sideBlock.hash)
    expect(await read('eth_getBlockByHash', UNKNOWN, false)).toEqual({ result: null })
  })

  it('refuses an invalid hash or flag', async () => {
    expect(await read('eth_getBlockByHash', '0x12', false)).toEqual(
      refusal(-32602, 'Invalid block hash: incorrect length.'),
    )
    expect(await read('eth_getBlockByHash', UNKNOWN, null)).toEqual(
      refusal(-32602, 'Invalid fullTransactions: expected true or false.'),
    )
  })
})

describe('counts', () => {
  it.each<[string, unknown, unknown]>([
    ['eth_getBlockTransactionCountByHash', block1.hash, '0x4'],
    ['eth_getBlockTransactionCountByHash', UNKNOWN, null],
    ['eth_getBlockTransactionCountByNumber', 'latest', '0x4'],
    ['eth_getBlockTransactionCountByNumber', 'pending', '0x1'],
    ['eth_getUncleCountByBlockHash', block1.hash, '0x2'],
    ['eth_getUncleCountByBlockNumber', 'latest', '0x2'],
    ['eth_getUncleCountByBlockNumber', 'pending', '0x0'],
  ])('%s of %s is %s', async (method, at, result) => {
    expect(await read(method, at)).toEqual({ result })
  })

  it.each([
    ['eth_getBlockTransactionCountByNumber', '0xffffff', 'Block 0xffffff not found'],
    ['eth_getUncleCountByBlockNumber', '0xffffff', 'Block 0xffffff not found'],
    ['eth_getUncleCountByBlockHash', UNKNOWN, `Block with hash ${'9'.repeat(64)} not found`],
  ])('%s refuses %s', async (method, at, message) => {
    expect(await read(method, at)).toEqual(refusal(-32600, message))
  })
})

describe('uncles', () => {
  it('show a stored block, without its transactions', async () => {
    const uncle = await block('eth_getUncleByBlockHashAndIndex', block1.hash, '0x0')
    expect(uncle).toEqual({ ...(await block('eth_getBlockByHash', sideBlock.hash)), transactions: [] })
    expect(Object.keys(uncle)).toEqual(KEYS)
    expect(await block('eth_getUncleByBlockNumberAndIndex', 'latest', '0x0')).toEqual(uncle)
  })

  it('show the header when the block is not stored', async () => {
    const uncle = await block('eth_getUncleByBlockNumberAndIndex', '0x1', '0x1')
    expect(uncle).toMatchObject({
      hash: headerHash(strangeUncle, config),
      totalDifficulty: '0x0',
      difficulty: '0x2',
      transactions: [],
      uncles: [],
    })
  })

  it('are null when they do not exist', async () => {
    expect(await read('eth_getUncleByBlockNumberAndIndex', 'latest', '0x2')).toEqual({ result: null })
    expect(await read('eth_getUncleByBlockNumberAndIndex', 'pending', '0x0')).toEqual({ result: null })
    expect(await read('eth_getUncleByBlockNumberAndIndex', '0xffffff', '0x0')).toEqual({ result: null })
    expect(await read('eth_getUncleByBlockHashAndIndex', UNKNOWN, '0x0')).toEqual({ result: null })
  })
})

it('agree with the transaction lookups', async () => {
  const { transactions } = await block('eth_getBlockByNumber', 'latest', true)
  expect(await read('eth_getTransactionByHash', firstTransfer.hash)).toEqual({ result: transactions[0] })
})

describe('eth_getBlocksByNumber', () => {
  it('shows all blocks of a height', async () => {
    const expected = [
      { hash: block1.hash, totalDifficulty: '0xb', inMainChain: true },
      { hash: sideBlock.hash, totalDifficulty: '0x4', inMainChain: false },
    ]
    for (const height of ['0x1', '1', 1]) {
      expect(await read('eth_getBlocksByNumber', height)).toEqual({ result: expected })
    }
    expect(await read('eth_getBlocksByNumber', '0xffffff')).toEqual({ result: [] })
    expect(await read('eth_getBlocksByNumber', UNKNOWN)).toEqual({ result: [] })
  })

  it.each([
    ['latest', 'invalid blocknumber latest'],
    ['', 'invalid blocknumber '],
    ['-1', 'invalid blocknumber -1'],
    ['1'.repeat(67), `invalid blocknumber ${'1'.repeat(66)}...`],
    [null, 'Invalid height: expected a hex or decimal block number.'],
  ])('refuses %j', async (height, message) => {
    expect(await read('eth_getBlocksByNumber', height)).toEqual(refusal(-32602, message))
  })
})
