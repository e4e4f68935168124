/** Raw headers, receipts and proofs over HTTP (acceptance checks 168 to 172), checked as a bridge would check them. */
import { decodeRlp, getBytes, keccak256 } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type EncodedReceipt, verifyMergedMining, verifyReceiptProof } from '../../src/index.ts'
import { saying } from '../support/refusals.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const B = '0x7986b3df570230288501eea3d890bd66948c9b79'
const REMASC = '0x0000000000000000000000000000000001000008'
const U32 = `0x${'9'.repeat(64)}`
/** Emits one log with the topic 0x11…11, deploys nothing. */
const LOGC = `0x7f${'1'.repeat(64)}60006000a100`
/** Stores 0xbeef in slot 1, deploys nothing. */
const STORE = '0x61beef60015500'

let t: ServedNode
beforeEach(async () => {
  t = await servedNode()
})
afterEach(() => t.close())

const error = async (method: string, ...params: unknown[]) => (await t.reply(method, params)).error

async function mined(fields: Record<string, unknown>) {
  const hash = await t.call('eth_sendTransaction', { from: A, ...fields })
  return { hash, receipt: await t.call('eth_getTransactionReceipt', hash) }
}
const transfer = () => mined({ to: B, value: '0x1', gas: '0x5208' })

/** Verifies raw data from a block's hash down to a receipt, without trusting the node. */
async function checkedReceipt(
  blockHash: string,
  transactionHash: string,
  index: number,
): Promise<EncodedReceipt> {
  const block = await t.call('eth_getBlockByHash', blockHash)
  const header = verifyMergedMining(
    getBytes(await t.call('ext_getRawBlockHeaderByHash', blockHash)),
    {
      merkleProof: getBytes(block.bitcoinMergedMiningMerkleProof),
      coinbaseTransaction: getBytes(block.bitcoinMergedMiningCoinbaseTransaction),
    },
    'regtest',
  )
  expect(header).toMatchObject({ hash: blockHash, hashForMergedMining: block.hashForMergedMining })
  const nodes: string[] = await t.call('ext_getTransactionReceiptNodesByHash', blockHash, transactionHash)
  const receipt = await t.call('ext_getRawTransactionReceiptByHash', transactionHash)
  return verifyReceiptProof(
    { receipt: getBytes(receipt), nodes: nodes.map((node) => getBytes(node)), index },
    header.receiptsRoot,
  )
}

describe('raw data', () => {
  it('168: the head by number and by hash', async () => {
    await transfer()
    const { hash, parentHash, number } = await t.call('eth_getBlockByNumber', 'latest')
    const raw = await t.call('ext_getRawBlockHeaderByNumber', 'latest')
    expect(raw).toBe(await t.call('ext_getRawBlockHeaderByHash', hash))
    expect(raw).toBe(await t.call('rsk_getRawBlockHeaderByNumber', number))
    const list = decodeRlp(raw) as string[]
    expect(list[0]).toBe(parentHash)
    expect(BigInt(list[8] as string)).toBe(BigInt(number))
  })

  it('169: headers that do not exist', async () => {
    expect(await t.call('ext_getRawBlockHeaderByHash', U32)).toBeNull()
    expect(await t.call('ext_getRawBlockHeaderByNumber', '0xffffff')).toBeNull()
    expect(await error('ext_getRawBlockHeaderByNumber', 'foo')).toEqual({
      code: -32602,
      message: 'invalid blocknumber foo',
    })
  })

  it('170: a receipt', async () => {
    const { hash } = await transfer()
    const list = decodeRlp(await t.call('ext_getRawTransactionReceiptByHash', hash)) as string[]
    expect(list).toEqual(['0x01', '0x5208', `0x${'0'.repeat(512)}`, [], '0x5208', '0x01'])
    expect(await t.call('ext_getRawTransactionReceiptByHash', U32)).toBeNull()
  })

  it('171, 172: the nodes that prove a receipt', async () => {
    const { hash, receipt } = await transfer()
    const nodes: string[] = await t.call('ext_getTransactionReceiptNodesByHash', receipt.blockHash, hash)
    const { receiptsRoot } = await t.call('eth_getBlockByHash', receipt.blockHash)
    expect(keccak256(nodes.at(-1) as string)).toBe(receiptsRoot)
    const raw = await t.call('ext_getRawTransactionReceiptByHash', hash)
    expect(nodes[0]).toContain(keccak256(raw).slice(2))

    const other = await transfer()
    expect(await t.call('ext_getTransactionReceiptNodesByHash', receipt.blockHash, other.hash)).toBeNull()
    expect(await t.call('ext_getTransactionReceiptNodesByHash', U32, hash)).toBeNull()
  })

  it('33, 32: the protocol version, and the modules under both names', async () => {
    const version = await t.call('eth_protocolVersion')
    expect(await t.call('ext_protocolVersion')).toBe(version)
    expect(await t.call('rsk_protocolVersion')).toBe(version)
    expect(await t.call('rpc_modules')).toMatchObject({ ext: '1.0', rsk: '1.0' })
  })

  it('shows storage as it is stored, and the blocks of a height', async () => {
    const { receipt } = await mined({ data: STORE, gas: '0x30d40' })
    const at = (slot: string, block: string) =>
      t.call('ext_getStorageBytesAt', receipt.contractAddress, slot, block)
    expect(await at('0x1', 'latest')).toBe('0xbeef')
    expect(await at('0x2', 'latest')).toBe('0x0')
    expect(await at('0x1', 'earliest')).toBe('0x0')
    const block = await t.call('eth_getBlockByNumber', 'latest')
    const expected = [{ hash: block.hash, totalDifficulty: block.totalDifficulty, inMainChain: true }]
    expect(await t.call('eth_getBlocksByNumber', block.number)).toEqual(expected)
    expect(await t.call('eth_getBlocksByNumber', String(BigInt(block.number)))).toEqual(expected)
    expect(await t.call('eth_getBlocksByNumber', '0xffffff')).toEqual([])
  })

  it('shows cells of precompiled contracts byte by byte', async () => {
    const cell = (name: string, block: string) =>
      t.call('ext_getStorageBytesAt', REMASC, `0x${Buffer.from(name).toString('hex')}`, block)
    await t.call('evm_mine', { blocks: 15 })
    // docs/internals/protocol.md#54-remasc-payout: a list without items from block 1 on, a flag from block 15 on.
    expect(await cell('siblings', '0x1')).toBe('0xc0')
    expect(await cell('brokenSelectionRule', '0xe')).toBe('0x0')
    expect(await cell('brokenSelectionRule', '0xf')).toBe('0x00')
  })
})

describe('a bridge', () => {
  it('proves every receipt of a block by that block’s hash', async () => {
    await t.call('evm_setAutomine', false)
    const hashes: string[] = []
    for (let i = 0; i < 15; i++) {
      const fields = i % 3 === 0 ? { data: LOGC, gas: '0x186a0' } : { to: B, value: '0x1', gas: '0x5208' }
      hashes.push(await t.call('eth_sendTransaction', { from: A, ...fields }))
    }
    await t.call('evm_mine')
    await t.call('evm_setAutomine', true)
    const block = await t.call('eth_getBlockByNumber', 'latest')
    expect(block.transactions).toEqual([...hashes, expect.any(String)])
    let cumulative = 0n
    for (const [index, hash] of block.transactions.entries()) {
      const receipt = await checkedReceipt(block.hash, hash, index)
      cumulative += receipt.gasUsed ?? 0n
      expect(receipt).toMatchObject({ succeeded: true, cumulativeGasUsed: cumulative })
      expect(receipt.logs.length).toBe(index % 3 === 0 && index < 15 ? 1 : 0)
    }
    await expect(checkedReceipt(block.hash, block.transactions[1], 2)).rejects.toThrow(
      saying('A node of the proof is not the child of the one above'),
    )
  })

  it('proves blocks beyond the height from which they carry fork detection data', async () => {
    await t.call('evm_mine', { blocks: 450 })
    const { hash, receipt } = await transfer()
    expect(Number(receipt.blockNumber)).toBeGreaterThan(450)
    expect((await checkedReceipt(receipt.blockHash, hash, 0)).gasUsed).toBe(21_000n)
  })
})
