/** Transactions and receipts (acceptance checks 129 to 137). */
import { describe, expect, it } from 'vitest'
import { contractAddress } from '../../../../src/chain/transaction.ts'
import {
  A,
  B,
  block1,
  CONTRACT,
  creation,
  firstTransfer,
  logging,
  pooled,
  TOPIC,
  UNKNOWN,
} from '../../../support/fake-chain.ts'
import { fakeEngine } from '../../../support/fake-engine.ts'
import { ask, dispatcherOf } from '../../../support/rpc.ts'

const dispatcher = dispatcherOf(fakeEngine().engine)
const read = (method: string, ...params: unknown[]) => ask(dispatcher, method, params)
const refusal = (message: string) => ({ error: { code: -32602, message } })

describe('transactions', () => {
  it('have exactly their keys, in order', async () => {
    const { result } = await read('eth_getTransactionByHash', firstTransfer.hash)
    expect(result).toMatchObject({
      hash: firstTransfer.hash,
      nonce: '0x0',
      blockHash: block1.hash,
      blockNumber: '0x1',
      transactionIndex: '0x0',
      from: A,
      to: B,
      gas: '0x5208',
      gasPrice: '0x0',
      value: '0x1',
      input: '0x',
      type: '0x0',
    })
    expect((result as { v: string }).v).toMatch(/^0x6[56]$/)
    const keys =
      'hash nonce blockHash blockNumber transactionIndex from to gas gasPrice value input v r s type'
    expect(Object.keys(result as object)).toEqual(keys.split(' '))
  })

  it('have no block or index while they are pooled', async () => {
    const open = { hash: pooled.hash, blockHash: null, blockNumber: null, transactionIndex: null }
    const { result } = await read('eth_getTransactionByHash', pooled.hash)
    expect(result).toMatchObject(open)
    expect(await read('eth_getTransactionByBlockNumberAndIndex', 'pending', '0x0')).toEqual({ result })
    expect(await read('eth_getTransactionByBlockNumberAndIndex', 'pending', '0x1')).toEqual({ result: null })
  })

  it('are found by block and position', async () => {
    const found = await read('eth_getTransactionByHash', logging.hash)
    expect(await read('eth_getTransactionByBlockHashAndIndex', block1.hash, '0x2')).toEqual(found)
    expect(await read('eth_getTransactionByBlockNumberAndIndex', '0x1', '0x2')).toEqual(found)
    expect(await read('eth_getTransactionByBlockNumberAndIndex', '0x1', '0x63')).toEqual({ result: null })
    expect(await read('eth_getTransactionByBlockNumberAndIndex', '0xffffff', '0x0')).toEqual({ result: null })
    expect(await read('eth_getTransactionByBlockHashAndIndex', UNKNOWN, '0x0')).toEqual({ result: null })
  })

  it('create with a null receiver', async () => {
    expect((await read('eth_getTransactionByHash', creation.hash)).result).toMatchObject({ to: null })
  })

  it('refuse bad hashes and positions, and are null when unknown', async () => {
    expect(await read('eth_getTransactionByHash', UNKNOWN)).toEqual({ result: null })
    expect(await read('eth_getTransactionByHash', '0x12')).toEqual(
      refusal('Invalid transaction hash: incorrect length.'),
    )
    expect(await read('eth_getTransactionByBlockNumberAndIndex', '0x1', '0')).toEqual(
      refusal('Invalid argument "0": param should be a hex value string.'),
    )
    expect(await read('eth_getTransactionByBlockNumberAndIndex', '0x1', '0x')).toEqual(
      refusal('Invalid index param: value must be a valid hex number.'),
    )
  })
})

describe('receipts', () => {
  it('have exactly their keys, in order', async () => {
    const { result } = await read('eth_getTransactionReceipt', logging.hash)
    const keys =
      'transactionHash transactionIndex blockHash blockNumber cumulativeGasUsed gasUsed contractAddress logs from to status logsBloom type effectiveGasPrice'
    expect(Object.keys(result as object)).toEqual(keys.split(' '))
    expect(result).toMatchObject({
      transactionIndex: '0x2',
      cumulativeGasUsed: '0x226c8',
      gasUsed: '0x7530',
      contractAddress: null,
      to: CONTRACT,
      status: '0x1',
      effectiveGasPrice: '0x7',
    })
  })

  it('number logs throughout the block, without the member removed', async () => {
    const { result } = await read('eth_getTransactionReceipt', logging.hash)
    const place = {
      blockNumber: '0x1',
      blockHash: block1.hash,
      transactionHash: logging.hash,
      transactionIndex: '0x2',
      address: CONTRACT,
      data: '0x',
      topics: [TOPIC],
    }
    expect((result as { logs: object[] }).logs).toEqual([
      { logIndex: '0x1', ...place },
      { logIndex: '0x2', ...place },
    ])
  })

  it('give the address of a creation, also of one that failed', async () => {
    const { result } = await read('eth_getTransactionReceipt', creation.hash)
    expect(result).toMatchObject({ status: '0x0', to: null, contractAddress: contractAddress(A, 1n) })
  })

  it('show the REMASC transaction without a sender', async () => {
    const reward = block1.block.transactions.at(-1)
    const { result } = await read('eth_getTransactionReceipt', reward?.hash)
    expect(result).toMatchObject({ from: `0x${'0'.repeat(40)}`, gasUsed: '0x0', status: '0x1' })
  })

  it('are null while pending or unknown', async () => {
    expect(await read('eth_getTransactionReceipt', pooled.hash)).toEqual({ result: null })
    expect(await read('eth_getTransactionReceipt', UNKNOWN)).toEqual({ result: null })
  })
})

describe('eth_getBlockReceipts', () => {
  const dispatcher = dispatcherOf(fakeEngine().engine)
  const receipts = async (...params: unknown[]) => ask(dispatcher, 'eth_getBlockReceipts', params)

  it('returns the receipt of each transaction, equal to eth_getTransactionReceipt', async () => {
    const one = async (hash: string) => (await ask(dispatcher, 'eth_getTransactionReceipt', [hash])).result
    const each = await Promise.all(block1.block.transactions.map(({ hash }) => one(hash)))
    expect(each).not.toContain(null)
    for (const block of ['latest', '0x1', block1.hash, { blockHash: block1.hash }]) {
      expect(await receipts(block)).toEqual({ result: each })
    }
  })

  it('is null when the block does not exist', async () => {
    for (const block of ['pending', '0xff', UNKNOWN]) expect(await receipts(block)).toEqual({ result: null })
  })
})
