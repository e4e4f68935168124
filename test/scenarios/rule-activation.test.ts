/**
 * Around the height at which typed transactions begin: simulations beyond it and before it, the pool, reversions,
 * reorganisations and forks across it. Gas is that of the protocol's tables (RSKIP-545, 546), signatures are those of ethers.
 */
import { Wallet } from 'ethers'
import { afterEach, describe, expect, it } from 'vitest'
import type { NodeOptions } from '../../src/index.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const wallet = new Wallet('0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4')
const from = wallet.address.toLowerCase()
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'
/** Returns what SELFADDRESS pushes: ADDRESS, MSTORE, RETURN. */
const WHO = '0x3060005260206000f3'
const LIBRARY = `0x${'77'.repeat(20)}`
const LIST = [{ address: BOB, storageKeys: [`0x${'11'.repeat(32)}`] }]
/** Bytes of its RLP: 58 of the pair behind two bytes of list heads; 80 gas each (RSKIP-546). */
const LIST_GAS = 80 * 58
/** The first block with typed transactions. */
const FROM = 10
const REFUSAL = 'is not supported before its activation'
const hex = (value: bigint | number) => `0x${value.toString(16)}`

const nodes: ServedNode[] = []
afterEach(async () => {
  // The newest first: forks before their upstream.
  for (const node of nodes.splice(0).reverse()) await node.close()
})

async function start(options: NodeOptions = {}): Promise<ServedNode> {
  const node = await servedNode({ activate: [`rskip545@${FROM}`], mining: 'auto', ...options })
  nodes.push(node)
  return node
}

/** What is checked of a simulated block. */
interface Shown {
  readonly number: string
  readonly baseFeePerGas?: string
  readonly calls: readonly { readonly gasUsed: string }[]
  readonly transactions: readonly { readonly type: string }[]
}

/** A signed transaction of type 2 to BOB. */
const signed = (nonce = 0, parts: object = {}) =>
  wallet.signTransaction({
    ...{ type: 2, to: BOB, gasLimit: 100_000, chainId: 33, nonce, maxFeePerGas: 1, maxPriorityFeePerGas: 1 },
    ...parts,
  })

/** An authorization of the wallet as call objects have it. */
async function authorization(nonce: number) {
  const { signature, chainId, address } = await wallet.authorize({ address: LIBRARY, chainId: 33, nonce })
  const { r, s, yParity } = signature
  return { chainId: hex(chainId), address, nonce: hex(nonce), yParity: hex(yParity), r, s }
}

const head = async (t: ServedNode) => Number(await t.call('eth_blockNumber'))
const mineTo = async (t: ServedNode, height: number) =>
  t.call('evm_mine', { blocks: height - (await head(t)) })
const listed = { from, to: BOB, accessList: LIST }

describe('simulations', () => {
  it('have the types of the height that they are for: messages', async () => {
    const t = await start()
    const gas = (overrides?: object, block = 'latest') =>
      t.call('eth_estimateGas', listed, block, ...(overrides === undefined ? [] : [null, overrides]))
    const before = hex(21_000)
    const since = hex(21_000 + LIST_GAS)
    expect(await gas()).toBe(before)
    expect(await gas({ number: hex(FROM - 1) })).toBe(before)
    expect(await gas({ number: hex(FROM) })).toBe(since)
    const list = (overrides: object) => t.call('eth_createAccessList', listed, 'latest', null, overrides)
    expect(await list({ number: hex(FROM - 1) })).toMatchObject({ gasUsed: before })
    expect(await list({ number: hex(FROM) })).toMatchObject({ gasUsed: since })
    const traced = (overrides: object) =>
      t.call('debug_traceCall', listed, 'latest', { tracer: 'callTracer', blockOverrides: overrides })
    expect(await traced({ number: hex(FROM) })).toMatchObject({ gasUsed: since })
    await mineTo(t, FROM - 1)
    // The message of a client is for the next block.
    expect(await gas()).toBe(since)
    expect(await gas(undefined, 'pending')).toBe(since)
    expect(await gas(undefined, hex(FROM - 2))).toBe(before)
    await mineTo(t, FROM + 5)
    expect(await gas()).toBe(since)
    expect(await gas(undefined, hex(FROM - 2))).toBe(before)
    expect(await gas(undefined, 'earliest')).toBe(before)
    const { hash } = await t.call('eth_getBlockByNumber', hex(FROM - 2), false)
    expect(await t.call('eth_createAccessList', listed, { blockHash: hash })).toMatchObject({
      gasUsed: before,
    })
  })

  it('have the types of the height that they are for: authorizations', async () => {
    const t = await start()
    await t.call('anvil_setCode', LIBRARY, WHO)
    const call = { from: BOB, to: from, authorizationList: [await authorization(0)] }
    const answer = `0x${from.slice(2).padStart(64, '0')}`
    const at = (number: number) => t.call('eth_call', call, 'latest', {}, { number: hex(number) })
    expect(await at(FROM - 1)).toBe('0x')
    expect(await at(FROM)).toBe(answer)
  })

  it('have the types of each of their blocks', async () => {
    const t = await start()
    const block = (number?: number) => ({
      ...(number !== undefined && { blockOverrides: { number: hex(number) } }),
      calls: [listed],
    })
    const blocks = await t.call('eth_simulateV1', {
      returnFullTransactions: true,
      blockStateCalls: [block(), block(FROM - 1), block(), block(FROM + 90)],
    })
    const called = blocks.filter(({ calls }: { calls: unknown[] }) => calls.length > 0)
    expect(
      called.map(({ number, calls, transactions, baseFeePerGas }: Shown) => [
        Number(number),
        transactions[0]?.type,
        Number(calls[0]?.gasUsed),
        baseFeePerGas,
      ]),
    ).toEqual([
      [1, '0x0', 21_000, undefined],
      [FROM - 1, '0x0', 21_000, undefined],
      [FROM, '0x1', 21_000 + LIST_GAS, '0x0'],
      [FROM + 90, '0x1', 21_000 + LIST_GAS, '0x0'],
    ])
    const enough = { ...listed, gas: hex(21_000 + LIST_GAS - 1) }
    const bundle = { transactions: [enough] }
    const answers = await t.call('eth_callMany', [
      bundle,
      { ...bundle, blockOverride: { number: hex(FROM - 1) } },
      bundle,
    ])
    expect(answers).toEqual([
      [{ value: '0x' }],
      [{ value: '0x' }],
      [{ error: expect.stringContaining('intrinsic gas too low') }],
    ])
    const steps = await t.call('evm_simulate', {
      steps: [
        { send: listed },
        { warp: { blocks: hex(FROM - 1) } },
        { send: listed },
        { warp: { blocks: '0x1' } },
        { send: listed },
      ],
    })
    const sent = steps.filter(({ kind }: { kind: string }) => kind === 'send')
    expect(sent.map(({ type }: { type: string }) => type)).toEqual([undefined, undefined, '0x1'])
    const simulated = (number: number) =>
      t.call('tenderly_simulateTransaction', listed, 'latest', null, { number: hex(number) })
    expect(await simulated(FROM - 1)).toMatchObject({ type: '0x0' })
    expect(await simulated(FROM)).toMatchObject({ type: '0x1' })
    const raw = await signed()
    const bundled = (number: number) =>
      t.call('eth_callBundle', { txs: [raw], blockNumber: hex(number), stateBlockNumber: 'latest' })
    expect(await bundled(FROM)).toMatchObject({ totalGasUsed: 21_000 })
    await expect(bundled(FROM - 1)).rejects.toThrow(REFUSAL)
  })

  it('refuse a type whose rule begins later than the first', async () => {
    const t = await start({ activate: ['rskip546', `rskip545@${FROM}`] })
    const call = { from: BOB, to: from, authorizationList: [await authorization(0)] }
    const at = (number: number) => t.reply('eth_call', [call, 'latest', {}, { number: hex(number) }])
    expect((await at(FROM - 1)).error.message).toBe(
      'transaction type StandardTyped[RSKIP545 (EIP-7702)] is not supported before its activation',
    )
    expect((await at(FROM)).error).toBeUndefined()
  })
})

describe('the pool', () => {
  it('takes them for the first block that may hold them, and refuses them before', async () => {
    const t = await start({ mining: 'manual' })
    const raw = await signed()
    await expect(t.call('eth_sendRawTransaction', raw)).rejects.toThrow(REFUSAL)
    await mineTo(t, FROM - 2)
    await expect(t.call('eth_sendRawTransaction', raw)).rejects.toThrow(REFUSAL)
    await mineTo(t, FROM - 1)
    const hash = await t.call('eth_sendRawTransaction', raw)
    await t.call('evm_mine')
    expect(await t.call('eth_getTransactionReceipt', hash)).toMatchObject({
      blockNumber: hex(FROM),
      type: '0x2',
    })
  })

  it('loses them where the chain falls below it, by a reversion', async () => {
    const t = await start({ mining: 'manual' })
    await mineTo(t, FROM - 2)
    const snapshot = await t.call('evm_snapshot')
    const kept = await t.call(
      'eth_sendRawTransaction',
      await signed(0, { type: 0, gasPrice: 1, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined }),
    )
    await mineTo(t, FROM)
    const hash = await t.call('eth_sendRawTransaction', await signed(1))
    await t.call('evm_mine')
    expect(await t.call('eth_getTransactionReceipt', hash)).toMatchObject({ type: '0x2' })
    expect(await t.call('evm_revert', snapshot)).toBe(true)
    expect(await t.call('eth_getTransactionByHash', hash)).toBeNull()
    expect(await t.call('eth_getTransactionByHash', kept)).toBeNull()
    await expect(t.call('eth_sendRawTransaction', await signed())).rejects.toThrow(REFUSAL)
    expect(await t.call('eth_getBlockByNumber', 'latest', false)).not.toHaveProperty('baseFeePerGas')
    await mineTo(t, FROM + 1)
    const again = await t.call('eth_sendRawTransaction', await signed())
    await t.call('evm_mine')
    expect(await t.call('eth_getTransactionReceipt', again)).toMatchObject({ status: '0x1' })
  })
})

describe('a reorganisation across it', () => {
  it('puts a transaction of a removed block back, and mines it on the other branch at or above it', async () => {
    const t = await start({ mining: 'manual' })
    await mineTo(t, FROM - 1)
    const hash = await t.call('eth_sendRawTransaction', await signed())
    await t.call('evm_mine')
    expect(await t.call('eth_getTransactionReceipt', hash)).toMatchObject({ blockNumber: hex(FROM) })
    // Four blocks are removed from below the height, five empty ones take their place.
    await t.call('evm_reorg', { depth: '0x4' })
    expect(await head(t)).toBe(FROM + 1)
    expect(await t.call('eth_getTransactionReceipt', hash)).toBeNull()
    expect(await t.call('eth_getTransactionByHash', hash)).toMatchObject({ blockNumber: null, type: '0x2' })
    await t.call('evm_mine')
    expect(await t.call('eth_getTransactionReceipt', hash)).toMatchObject({ blockNumber: hex(FROM + 2) })
  })

  it('refuses one in a block below it, and takes one in the first that may hold it', async () => {
    const t = await start({ mining: 'manual' })
    await mineTo(t, FROM - 1)
    const raw = await signed()
    const branch = (...blocks: string[][]) =>
      t.call('evm_reorg', { depth: '0x2', blocks: blocks.map((transactions) => ({ transactions })) })
    await expect(branch([], [raw], [])).rejects.toThrow(REFUSAL)
    expect(await head(t)).toBe(FROM - 1)
    await branch([], [], [raw])
    expect(await head(t)).toBe(FROM)
    expect(await t.call('eth_getBlockByNumber', 'latest', true)).toMatchObject({
      baseFeePerGas: '0x0',
      transactions: [{ type: '0x2' }, { type: '0x0' }],
    })
  })
})

describe('a fork', () => {
  it('has the rules that its upstream lacks from its own first block, or from a later height', async () => {
    const upstream = await start({ activate: [] })
    await mineTo(upstream, 4)
    const fork = await start({ fork: upstream.url, forkCache: false, activate: ['rskip545@6'] })
    const raw = await signed()
    await expect(fork.call('eth_sendRawTransaction', raw)).rejects.toThrow(REFUSAL)
    expect(await fork.call('eth_estimateGas', listed)).toBe(hex(21_000))
    expect(await fork.call('eth_estimateGas', listed, 'latest', null, { number: '0x6' })).toBe(
      hex(21_000 + LIST_GAS),
    )
    await fork.call('evm_mine')
    const hash = await fork.call('eth_sendRawTransaction', raw)
    expect(await fork.call('eth_getTransactionReceipt', hash)).toMatchObject({
      blockNumber: '0x6',
      type: '0x2',
    })
    const { hash: below } = await fork.call('eth_getBlockByNumber', '0x2', false)
    expect(await fork.call('eth_createAccessList', listed, { blockHash: below })).toMatchObject({
      gasUsed: hex(21_000),
    })
    await expect(start({ fork: upstream.url, forkCache: false, activate: ['rskip545@3'] })).rejects.toThrow(
      'would change in a block of the upstream',
    )
  })
})
