/** Raw data over a small engine (acceptance checks 168 to 172). */
import { describe, expect, it } from 'vitest'
import { decodeHeader, encodeHeader } from '../../../src/chain/header.ts'
import { encodeReceipt, receiptsRoot } from '../../../src/chain/receipt.ts'
import { keccakHex } from '../../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../../src/encoding/hex.ts'
import { openSession } from '../../../src/rpc/session.ts'
import {
  A,
  block0,
  block1,
  CONTRACT,
  config,
  creation,
  logging,
  pendingBlock,
  pooled,
  sideBlock,
  UNKNOWN,
} from '../../support/fake-chain.ts'
import { fakeEngine } from '../../support/fake-engine.ts'
import { ask, dispatcherOf } from '../../support/rpc.ts'

const dispatcher = dispatcherOf(fakeEngine().engine)
const read = (method: string, ...params: unknown[]) => ask(dispatcher, method, params)
const refusal = (message: string) => ({ error: { code: -32602, message } })
const raw = ({ block: { header } }: typeof block1) =>
  toHex(encodeHeader(header, 'raw', config.rulesAt(header.number)))

describe('ext_getRawBlockHeaderByHash', () => {
  it('returns the header of any known block, without coinbase and merkle proof', async () => {
    for (const block of [block0, block1, sideBlock]) {
      const { result } = await read('ext_getRawBlockHeaderByHash', block.hash)
      expect(result).toBe(raw(block))
    }
    const header = decodeHeader(fromHex(raw(block1)), config)
    expect(header).toMatchObject({ number: 1, bitcoinHeader: block1.block.header.bitcoinHeader })
    expect(header.coinbaseTransaction).toHaveLength(0)
  })

  it('returns null for unknown blocks, and refuses an invalid hash', async () => {
    expect(await read('ext_getRawBlockHeaderByHash', UNKNOWN)).toEqual({ result: null })
    expect(await read('ext_getRawBlockHeaderByHash', '0x12')).toEqual(
      refusal('Invalid block hash: incorrect length.'),
    )
  })
})

describe('ext_getRawBlockHeaderByNumber', () => {
  it('accepts tags, hex numbers and hashes', async () => {
    const rows: [unknown, typeof block1][] = [
      ['earliest', block0],
      ['0x0', block0],
      ['latest', block1],
      ['0x1', block1],
      [block1.hash, block1],
      [sideBlock.hash, sideBlock],
      ['pending', pendingBlock],
    ]
    for (const [at, block] of rows) {
      expect(await read('ext_getRawBlockHeaderByNumber', at), String(at)).toEqual({ result: raw(block) })
    }
    expect(await read('ext_getRawBlockHeaderByNumber', '0xffffff')).toEqual({ result: null })
    expect(await read('ext_getRawBlockHeaderByNumber', UNKNOWN)).toEqual({ result: null })
  })

  it.each([
    ['foo', 'invalid blocknumber foo'],
    ['', 'invalid blocknumber '],
    ['5', 'invalid blocknumber 5'],
    [5, 'invalid blocknumber 5'],
    [true, 'invalid blocknumber true'],
    ['LATEST', 'invalid blocknumber LATEST'],
    ['safe', 'invalid blocknumber safe'],
    ['toString', 'invalid blocknumber toString'],
    ['0x', 'invalid blocknumber 0x'],
    [`0x${'1'.repeat(65)}`, `invalid block identifier 0x${'1'.repeat(64)}...`],
    [null, 'Invalid block: expected a block number, tag or hash.'],
    [{ blockNumber: '0x0' }, 'Invalid block: expected a block number, tag or hash.'],
  ])('refuses %j', async (at, message) => {
    expect(await read('ext_getRawBlockHeaderByNumber', at)).toEqual(refusal(message))
  })
})

describe('ext_getRawTransactionReceiptByHash', () => {
  it('returns the receipt of a mined transaction', async () => {
    expect(await read('ext_getRawTransactionReceiptByHash', creation.hash)).toEqual({
      result: toHex(encodeReceipt(block1.receipts[1] as (typeof block1.receipts)[0])),
    })
    expect(await read('ext_getRawTransactionReceiptByHash', pooled.hash)).toEqual({ result: null })
    expect(await read('ext_getRawTransactionReceiptByHash', UNKNOWN)).toEqual({ result: null })
  })
})

describe('ext_getTransactionReceiptNodesByHash', () => {
  it('returns the nodes from the leaf to the root', async () => {
    const { result } = await read('ext_getTransactionReceiptNodesByHash', block1.hash, logging.hash)
    const nodes = result as Hex[]
    expect(nodes.length).toBeGreaterThan(1)
    expect(keccakHex(fromHex(nodes.at(-1) as Hex))).toBe(receiptsRoot(block1.receipts))
    const receipt = encodeReceipt(block1.receipts[2] as (typeof block1.receipts)[0])
    expect(nodes[0]).toContain(keccakHex(receipt).slice(2))
  })

  it('finds a transaction in a side block', async () => {
    const [transaction] = sideBlock.block.transactions
    const { result } = await read('ext_getTransactionReceiptNodesByHash', sideBlock.hash, transaction?.hash)
    expect(keccakHex(fromHex((result as Hex[])[0] as Hex))).toBe(receiptsRoot(sideBlock.receipts))
  })

  it('is null for a block that is unknown or does not hold the transaction', async () => {
    expect(await read('ext_getTransactionReceiptNodesByHash', UNKNOWN, logging.hash)).toEqual({
      result: null,
    })
    expect(await read('ext_getTransactionReceiptNodesByHash', block0.hash, logging.hash)).toEqual({
      result: null,
    })
  })
})

describe('ext_getStorageBytesAt', () => {
  it('returns the bytes of a word without leading zeros', async () => {
    expect(await read('ext_getStorageBytesAt', CONTRACT, '0x1', 'latest')).toEqual({ result: '0xbeef' })
    expect(await read('ext_getStorageBytesAt', CONTRACT, '2', 'latest')).toEqual({ result: '0x0' })
    expect(await read('ext_getStorageBytesAt', A, '0x1', 'latest')).toEqual({ result: '0x0' })
  })

  it('refuses a block that does not exist', async () => {
    expect(await read('ext_getStorageBytesAt', CONTRACT, '0x1', '0xffffff')).toEqual({
      error: { code: -32600, message: 'Block 0xffffff not found' },
    })
  })
})

describe('the rsk_ names', () => {
  it('answer like the ext_ names, and open and close with them', async () => {
    expect(await read('rsk_getRawBlockHeaderByHash', block1.hash)).toEqual({ result: raw(block1) })
    const { engine } = fakeEngine()
    const closed = {
      error: { code: -32601, message: 'the method rsk_protocolVersion does not exist/is not available' },
    }
    expect(
      await ask(dispatcherOf(engine, {}, { switched: ['-ext_protocolVersion'] }), 'rsk_protocolVersion'),
    ).toEqual(closed)
    expect(await ask(dispatcherOf(engine, {}, { switched: ['eth'] }), 'rsk_protocolVersion')).toEqual(closed)
    expect(await ask(dispatcherOf(engine, {}, { switched: ['rsk'] }), 'ext_protocolVersion')).toEqual({
      result: '0x3e',
    })
  })

  it('are refused like the ext_ names to a caller without the right', async () => {
    const session = {
      ...openSession('caller'),
      allows: ({ name }: { name: string }) => name !== 'ext_protocolVersion',
    }
    const { error } = await ask(dispatcher, 'rsk_protocolVersion', [], session)
    expect(error?.code).toBe(-32601)
  })
})
