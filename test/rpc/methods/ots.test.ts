/**
 * What Otterscan 2.10 reads, in the forms that its sources take (src/useErigonHooks.ts, src/search/search.ts); the faults
 * of Anvil's version that its users reported, by their numbers at foundry-rs/foundry.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { contractAddress } from '../../../src/chain/transaction.ts'
import { type Hex, toHex } from '../../../src/encoding/hex.ts'
import { createNode, type Node } from '../../../src/index.ts'
import { assemble, deployer } from '../../support/assembler.ts'

const A: Hex = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const B: Hex = '0x7986b3df570230288501eea3d890bd66948c9b79'
const STRANGER: Hex = `0x${'5a'.repeat(20)}`
const UNKNOWN = `0x${'9'.repeat(64)}`
/** Makes an empty contract, forwards 3 wei to a stranger, logs. */
const WORKER = `0x60006000f3 PUSH1 216 SHL PUSH1 0 MSTORE PUSH1 5 PUSH1 0 PUSH1 2 CREATE POP
  PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 3 ${STRANGER} 50000 CALL
  PUSH1 0 PUSH1 0 LOG0 STOP`
const REVERTING = 'PUSH1 7 PUSH1 0 MSTORE PUSH1 32 PUSH1 0 REVERT'

interface Page {
  readonly txs: readonly { readonly hash: Hex; readonly blockNumber: Hex }[]
  readonly receipts: readonly Record<string, unknown>[]
  readonly firstPage: boolean
  readonly lastPage: boolean
}

let node: Node
const call = (method: string, ...params: unknown[]) => node.request({ method, params })
const page = (method: string, ...params: unknown[]) => call(method, ...params) as Promise<Page>
const send = async (fields: object) => (await call('eth_sendTransaction', { from: A, ...fields })) as Hex
let worker: Hex
let deployment: Hex
let work: Hex
let reverted: Hex

beforeAll(async () => {
  node = await createNode({ minedReverts: 'hash' })
  deployment = await send({ data: toHex(deployer(assemble(WORKER))), gas: '0xf4240' })
  worker = contractAddress(A, 0n)
  work = await send({ to: worker, value: '0x7', gas: '0x61a80' })
  await send({ data: toHex(deployer(assemble(REVERTING))), gas: '0xf4240' })
  reverted = await send({ to: contractAddress(A, 2n), gas: '0x61a80' })
  for (let i = 0; i < 4; i++) await send({ to: B, value: '0x1' })
})
afterAll(() => node.close())

describe('the probe', () => {
  it('finds API level 8 and a header by tag and by JSON integer', async () => {
    expect(await call('ots_getApiLevel')).toBe(8)
    const latest = (await call('erigon_getHeaderByNumber', 'latest')) as Record<string, unknown>
    expect(latest).toMatchObject({ number: '0x8', nonce: '0x0000000000000000' })
    const block = (await call('eth_getBlockByNumber', '0x8', false)) as Record<string, unknown>
    expect(latest.hash).toBe(block.hash)
    expect(await call('erigon_getHeaderByNumber', 8)).toEqual(latest)
    expect(await call('erigon_getHeaderByNumber', 99)).toBeNull()
  })
})

describe('blocks', () => {
  it('have details without transactions, with counts as JSON numbers (PR 5881, issue 7433)', async () => {
    const eth = (await call('eth_getBlockByNumber', '0x2', false)) as Record<string, unknown>
    const details = (await call('ots_getBlockDetails', 2)) as Record<string, Record<string, unknown>>
    const { transactions, ...rest } = eth
    expect(details.block).toEqual({ ...rest, logsBloom: null, transactionCount: 2 })
    expect(details.issuance).toEqual({ blockReward: '0x0', uncleReward: '0x0', issuance: '0x0' })
    expect(details.totalFees).toBe(eth.paidFees)
    expect(await call('ots_getBlockDetailsByHash', eth.hash)).toEqual(details)
  })

  it('that are unknown are null, not an error', async () => {
    expect(await call('ots_getBlockDetails', 99)).toBeNull()
    expect(await call('ots_getBlockDetailsByHash', UNKNOWN)).toBeNull()
    expect(await call('ots_getBlockTransactions', 99, 0, 25)).toBeNull()
    expect(await call('ots_hasCode', worker, 99)).toBe(false)
  })

  it('have pages of full transactions and receipts, page 0 at the end', async () => {
    const last = (await call('ots_getBlockTransactions', 2, 0, 1)) as {
      fullblock: { transactions: { hash: Hex; input: Hex }[]; transactionCount: number }
      receipts: Record<string, unknown>[]
    }
    const first = (await call('ots_getBlockTransactions', 2, 1, 1)) as typeof last
    expect(first.fullblock.transactions).toEqual([await call('eth_getTransactionByHash', work)])
    expect(first.fullblock.transactionCount).toBe(2)
    expect(first.receipts).toMatchObject([
      { transactionHash: work, status: '0x1', logs: null, logsBloom: null, contractAddress: null },
    ])
    const both = (await call('ots_getBlockTransactions', 2, 0, 25)) as typeof last
    expect(both.fullblock.transactions).toEqual([
      ...first.fullblock.transactions,
      ...last.fullblock.transactions,
    ])
    expect(await call('ots_getBlockTransactions', 2, 2, 1)).toMatchObject({ fullblock: { transactions: [] } })
  })
})

describe('accounts', () => {
  it('are searched by internal participants too', async () => {
    const { txs, receipts, firstPage, lastPage } = await page('ots_searchTransactionsBefore', STRANGER, 0, 25)
    expect(txs).toEqual([await call('eth_getTransactionByHash', work)])
    expect({ firstPage, lastPage }).toEqual({ firstPage: true, lastPage: true })
    const block = (await call('eth_getBlockByNumber', '0x2', false)) as { timestamp: Hex }
    expect(receipts).toMatchObject([{ transactionHash: work, timestamp: Number(block.timestamp) }])
    const logs = receipts[0]?.logs as Record<string, unknown>[]
    expect(logs.map(({ address, removed }) => ({ address, removed }))).toEqual([
      { address: worker, removed: false },
    ])
  })

  it('have pages in both directions, newest first, with correct first and last flags (issue 7516)', async () => {
    const numbers = ({ txs }: Page) => txs.map(({ blockNumber }) => Number(blockNumber))
    const first = await page('ots_searchTransactionsBefore', A, 0, 3)
    expect([numbers(first), first.firstPage, first.lastPage]).toEqual([[8, 7, 6], true, false])
    const second = await page('ots_searchTransactionsBefore', A, 6, 3)
    expect([numbers(second), second.firstPage, second.lastPage]).toEqual([[5, 4, 3], false, false])
    const third = await page('ots_searchTransactionsBefore', A, 3, 3)
    expect([numbers(third), third.firstPage, third.lastPage]).toEqual([[2, 1], false, true])
    const oldest = await page('ots_searchTransactionsAfter', A, 0, 3)
    expect([numbers(oldest), oldest.firstPage, oldest.lastPage]).toEqual([[3, 2, 1], false, true])
    const newest = await page('ots_searchTransactionsAfter', A, 5, 3)
    expect([numbers(newest), newest.firstPage, newest.lastPage]).toEqual([[8, 7, 6], true, false])
  })

  it('without transactions have one empty page', async () => {
    const empty = { txs: [], receipts: [], firstPage: true, lastPage: true }
    for (const method of ['ots_searchTransactionsBefore', 'ots_searchTransactionsAfter']) {
      expect(await call(method, `0x${'77'.repeat(20)}`, 0, 25)).toEqual(empty)
      expect(await call(method, `0x${'77'.repeat(20)}`, 5, 25)).toEqual(empty)
    }
    await expect(call('ots_searchTransactionsBefore', A, 0, 0)).rejects.toMatchObject({ code: -32602 })
    await expect(call('ots_searchTransactionsBefore', A, '0x0', 25)).rejects.toMatchObject({ code: -32602 })
  })

  it('are reported with or without code', async () => {
    expect(await call('ots_hasCode', worker, 'latest')).toBe(true)
    expect(await call('ots_hasCode', worker, 0)).toBe(false)
    expect(await call('ots_hasCode', A, 'latest')).toBe(false)
  })

  it('have creators, nested ones too', async () => {
    expect(await call('ots_getContractCreator', worker)).toEqual({ hash: deployment, creator: A })
    // A contract of this chain begins with nonce 0.
    expect(await call('ots_getContractCreator', contractAddress(worker, 0n))).toEqual({
      hash: work,
      creator: worker,
    })
    expect(await call('ots_getContractCreator', A)).toBeNull()
  })

  it('have a hash for a nonce, not an object (issue 7740)', async () => {
    expect(await call('ots_getTransactionBySenderAndNonce', A, 1)).toBe(work)
    expect(await call('ots_getTransactionBySenderAndNonce', A, 99)).toBeNull()
    expect(await call('eth_getTransactionBySenderAndNonce', A, '0x1')).toEqual(
      await call('eth_getTransactionByHash', work),
    )
  })

  it('have a pooled transaction for a nonce', async () => {
    const other = await createNode({ mining: 'manual' })
    try {
      const ask = (method: string, ...params: unknown[]) => other.request({ method, params })
      const hash = await ask('eth_sendTransaction', { from: A, to: B, value: '0x1' })
      expect(await ask('eth_getTransactionBySenderAndNonce', A, '0x0')).toMatchObject({
        hash,
        blockHash: null,
      })
      expect(await ask('ots_getTransactionBySenderAndNonce', A, 0)).toBeNull()
    } finally {
      await other.close()
    }
  })
})

describe('transactions', () => {
  it('have operations below their own call', async () => {
    expect(await call('ots_getInternalOperations', work)).toEqual([
      { type: 2, from: worker, to: contractAddress(worker, 0n), value: '0x2' },
      { type: 0, from: worker, to: STRANGER, value: '0x3' },
    ])
    expect(await call('ots_getInternalOperations', deployment)).toEqual([])
    expect(await call('ots_getInternalOperations', UNKNOWN)).toEqual([])
  })

  it('have a trace with depths', async () => {
    const init = '0x60006000f3'
    expect(await call('ots_traceTransaction', work)).toEqual([
      { type: 'CALL', depth: 0, from: A, to: worker, value: '0x7', input: '0x', output: '0x' },
      {
        type: 'CREATE',
        depth: 1,
        from: worker,
        to: contractAddress(worker, 0n),
        value: '0x2',
        input: init,
        output: '0x',
      },
      { type: 'CALL', depth: 1, from: worker, to: STRANGER, value: '0x3', input: '0x', output: '0x' },
    ])
  })

  it('have an error when they failed', async () => {
    expect(await call('ots_getTransactionError', reverted)).toBe(`0x${'7'.padStart(64, '0')}`)
    expect(await call('ots_getTransactionError', work)).toBe('0x')
  })
})

describe('a node that hides REMASC transactions', () => {
  it('omits them from counts and pages', async () => {
    const other = await createNode({ hideRemasc: true })
    try {
      const ask = (method: string, ...params: unknown[]) => other.request({ method, params })
      await ask('eth_sendTransaction', { from: A, to: B, value: '0x1' })
      expect(await ask('ots_getBlockDetails', 1)).toMatchObject({ block: { transactionCount: 1 } })
      const remasc = '0x0000000000000000000000000000000001000008'
      expect(await ask('ots_searchTransactionsBefore', remasc, 0, 25)).toMatchObject({ txs: [] })
      expect(await ask('ots_getBlockTransactions', 1, 0, 25)).toMatchObject({
        fullblock: { transactions: [{ from: A }] },
      })
    } finally {
      await other.close()
    }
  })
})
