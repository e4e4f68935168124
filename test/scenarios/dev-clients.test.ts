/** What development clients do besides transactions: viem's test clients, Hardhat's helpers, impersonation, block overrides. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPublicClient, createTestClient, createWalletClient, defineChain, http, parseEther } from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import { decodeTransaction } from '../../src/chain/transaction.ts'
import { fromHex } from '../../src/encoding/hex.ts'
import type { NodeOptions } from '../../src/index.ts'
import { startCommand } from '../support/command.ts'
import { artifact } from '../support/contracts.ts'
import { rpc } from '../support/json-rpc.ts'
import { solveWork } from '../support/parent-block.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const COW = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const WHALE = '0x00000000000000000000000000000000deadbeef'
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'
const NOW = 2_000_000_000
const token = artifact('Token') as unknown as { abi: never[]; bytecode: `0x${string}` }
const chain = defineChain({
  id: 33,
  name: 'local',
  nativeCurrency: { name: 'coin', symbol: 'C', decimals: 18 },
  rpcUrls: { default: { http: [] } },
})

let t: ServedNode
afterEach(() => t?.close())
async function serveNode(options: NodeOptions = {}) {
  t = await servedNode({ now: () => NOW, ...options })
}
const head = () => t.call('eth_getBlockByNumber', 'latest', false)
const error = async (method: string, ...params: unknown[]) => (await t.reply(method, params)).error
const send = (call: object) => t.call('eth_sendTransaction', { from: WHALE, to: BOB, value: '0x1', ...call })

describe.each(['hardhat', 'anvil'] as const)('viem’s test client, mode %s', (mode) => {
  it('edits state, impersonates, mines, drops transactions and resets', async () => {
    await serveNode({ forkRetries: 0 })
    const transport = http(t.url)
    const tester = createTestClient({ mode, chain, transport })
    const reader = createPublicClient({ chain, transport, pollingInterval: 20, cacheTime: 0 })
    const writer = createWalletClient({ chain, transport })

    await tester.setBalance({ address: WHALE, value: parseEther('5') })
    await tester.setNonce({ address: WHALE, nonce: 9 })
    await tester.setCode({ address: BOB, bytecode: '0x60005460005260206000f3' })
    await tester.setStorageAt({ address: BOB, index: 0, value: `0x${'2a'.padStart(64, '0')}` })
    expect(await reader.getBalance({ address: WHALE })).toBe(parseEther('5'))
    expect(await reader.getTransactionCount({ address: WHALE })).toBe(9)
    expect(await reader.getCode({ address: BOB })).toBe('0x60005460005260206000f3')
    expect(BigInt((await reader.call({ to: BOB })).data ?? '0x0')).toBe(42n)
    expect(await reader.getBlockNumber()).toBe(0n)

    await tester.impersonateAccount({ address: WHALE })
    const hash = await writer.sendTransaction({ account: WHALE, to: COW, value: 7n, gasPrice: 0n })
    const receipt = await reader.waitForTransactionReceipt({ hash })
    expect(receipt).toMatchObject({ status: 'success', from: WHALE })
    expect((await reader.getTransaction({ hash })).from).toBe(WHALE)
    await tester.stopImpersonatingAccount({ address: WHALE })
    await expect(writer.sendTransaction({ account: WHALE, to: COW, gasPrice: 0n })).rejects.toThrow(
      /Could not find account/,
    )

    await tester.mine({ blocks: 3, interval: 100 })
    const [low, high] = [await reader.getBlock({ blockNumber: 2n }), await reader.getBlock()]
    expect(high.number).toBe(4n)
    expect(high.timestamp - low.timestamp).toBe(200n)

    await tester.setCoinbase({ address: WHALE })
    await tester.setMinGasPrice({ gasPrice: 1000n })
    await tester.setBlockGasLimit({ gasLimit: 30_000_000n })
    await tester.setNextBlockTimestamp({ timestamp: high.timestamp + 500n })
    await tester.mine({ blocks: 1 })
    expect(await reader.getBlock()).toMatchObject({
      miner: WHALE,
      gasLimit: 30_000_000n,
      timestamp: high.timestamp + 500n,
      minimumGasPrice: '0x3e8',
    })
    expect(await reader.getGasPrice()).toBe(1100n)
    if (mode === 'anvil') {
      await tester.setBlockTimestampInterval({ interval: 11 })
      await tester.mine({ blocks: 1 })
      await tester.mine({ blocks: 1 })
      expect((await reader.getBlock()).timestamp).toBe(high.timestamp + 522n)
      await tester.removeBlockTimestampInterval()
    }

    expect(await tester.getAutomine()).toBe(true)
    await tester.setAutomine(false)
    expect(await tester.getAutomine()).toBe(false)
    const [from] = await t.call('eth_accounts')
    const waiting = await writer.sendTransaction({ account: from, to: COW, gasPrice: 1000n })
    await tester.dropTransaction({ hash: waiting })
    await expect(reader.getTransaction({ hash: waiting })).rejects.toThrow(/could not be found/)

    await expect(tester.setNextBlockBaseFeePerGas({ baseFeePerGas: 1n })).rejects.toThrow(
      /Details: the method \w+_setNextBlockBaseFeePerGas does not exist\/is not available: blocks of this chain have no base fee, only a minimum gas price/,
    )
    await expect(tester.reset({ jsonRpcUrl: 'http://localhost:1', blockNumber: 1n })).rejects.toThrow(
      /upstream http:\/\/localhost:1 cannot be used/,
    )
    await tester.reset()
    expect(await reader.getBlockNumber()).toBe(0n)
    expect(await reader.getBalance({ address: WHALE })).toBe(0n)
    expect(await reader.getCode({ address: BOB })).toBeUndefined()
    expect(await t.call('eth_coinbase')).not.toBe(WHALE)
    expect(await t.call('eth_gasPrice')).toBe('0x0')
  })
})

it('viem’s test client, mode ganache, edits and switches mining', async () => {
  await serveNode({ mining: 'manual' })
  const tester = createTestClient({ mode: 'ganache', chain, transport: http(t.url) })
  await tester.setBalance({ address: WHALE, value: 5n })
  await tester.setCode({ address: WHALE, bytecode: '0x00' })
  expect(await t.call('eth_getBalance', WHALE)).toBe('0x5')
  expect(await t.call('eth_getCode', WHALE, 'latest')).toBe('0x00')
  await tester.setAutomine(true)
  expect(await tester.getAutomine()).toBe(true)
  await t.call('eth_sendTransaction', { from: COW, to: BOB, value: '0x1' })
  expect((await head()).number).toBe('0x1')
  await tester.setAutomine(false)
  expect(await tester.getAutomine()).toBe(false)
})

describe('Hardhat’s network helpers, call by call', () => {
  it('each load of a fixture undoes later edits', async () => {
    await serveNode()
    await t.call('hardhat_setBalance', WHALE, '0x64')
    let snapshot = await t.call('evm_snapshot')
    for (let round = 0; round < 3; round++) {
      await t.call('hardhat_setBalance', WHALE, '0x1')
      await t.call('hardhat_setStorageAt', WHALE, '0x1', `0x${'7'.padStart(64, '0')}`)
      await t.call('hardhat_mine', '0x5', '0x3c')
      await t.call('evm_setBlockGasLimit', '0x1000000')
      expect((await head()).number).toBe('0x5')
      expect(await t.call('evm_revert', snapshot)).toBe(true)
      snapshot = await t.call('evm_snapshot')
      expect((await head()).number).toBe('0x0')
      expect(await t.call('eth_getBalance', WHALE)).toBe('0x64')
      expect(await t.call('eth_getStorageAt', WHALE, '0x1', 'latest')).toMatch(/^0x0+$/)
      await t.call('evm_mine')
      expect((await head()).gasLimit).not.toBe('0x1000000')
      await t.call('evm_revert', snapshot)
    }
  })

  it('time.increaseTo and mineUpTo work, and the chain keeps its instance', async () => {
    await serveNode({ methods: ['+hardhat_metadata'] })
    const before = await t.call('hardhat_metadata')
    await t.call('evm_setNextBlockTimestamp', `0x${(NOW + 1000).toString(16)}`)
    await t.call('evm_mine')
    expect(Number((await head()).timestamp)).toBe(NOW + 1000)
    await t.call('hardhat_mine', '0x63')
    expect((await head()).number).toBe('0x64')
    expect(await t.call('hardhat_metadata')).toMatchObject({
      instanceId: before.instanceId,
      latestBlockNumber: 100,
      latestBlockHash: (await head()).hash,
    })
    await t.call('hardhat_reset')
    expect((await t.call('hardhat_metadata')).instanceId).not.toBe(before.instanceId)
  })

  it('mines blocks with large intervals on a lasting clock, and later blocks continue from that time', async () => {
    await serveNode({ lastingClock: true })
    await t.call('hardhat_mine', '0x3', '0xe10')
    expect(Number((await head()).timestamp)).toBe(NOW + 7200)
    await t.call('evm_mine')
    expect(Number((await head()).timestamp)).toBe(NOW + 7201)
    expect(await t.call('evm_setTime', (NOW + 9000) * 1000)).toBe(9000)
    await t.call('evm_mine')
    expect(Number((await head()).timestamp)).toBe(NOW + 9000)
  })
})

describe('impersonation', () => {
  it('deploys and calls as any sender, with a different hash for each sender', async () => {
    await serveNode()
    await t.call('anvil_autoImpersonateAccount', true)
    const made: string[] = []
    for (const from of [WHALE, BOB]) {
      await t.call('anvil_setBalance', from, '0xde0b6b3a7640000')
      const data = `${token.bytecode}${'1'.padStart(64, '0')}`
      const hash = await t.call('eth_sendTransaction', { from, data, gas: '0x2dc6c0', nonce: '0x0' })
      const receipt = await t.call('eth_getTransactionReceipt', hash)
      expect(receipt).toMatchObject({ from, status: '0x1' })
      made.push(hash, receipt.contractAddress)
    }
    expect(new Set(made).size).toBe(4)
    expect((await error('eth_sign', WHALE, '0x00')).message).toBe('Account not found')
    await t.call('anvil_autoImpersonateAccount', false)
    expect((await error('eth_sendTransaction', { from: WHALE, to: BOB })).message).toBe(
      `Could not find account for address: ${WHALE}`,
    )
  })

  it('still signs for local accounts, and never for others', async () => {
    await serveNode()
    await t.call('hardhat_impersonateAccount', COW)
    const hash = await send({ from: COW })
    const { from, r, s } = await t.call('eth_getTransactionByHash', hash)
    expect(from).toBe(COW)
    expect([r, s]).not.toContain('0x1')
    await t.call('hardhat_impersonateAccount', WHALE)
    expect((await error('eth_signTransaction', { from: WHALE, to: BOB, gas: '0x5208' })).code).toBe(-32602)
  })

  it('is forgotten by a reset', async () => {
    await serveNode()
    await t.call('hardhat_impersonateAccount', WHALE)
    await t.call('evm_reset')
    await t.call('hardhat_setBalance', WHALE, '0x64')
    expect((await error('eth_sendTransaction', { from: WHALE, to: BOB })).message).toBe(
      `Could not find account for address: ${WHALE}`,
    )
  })

  it('remains after reorganisations, in blocks and in the pool', async () => {
    await serveNode()
    await t.call('hardhat_setBalance', WHALE, '0x64')
    await t.call('evm_mine')
    await t.call('hardhat_impersonateAccount', WHALE)
    const hash = await send({})
    await t.call('evm_setAutomine', false)
    await t.call('evm_reorg', { depth: 1 })
    expect(await t.call('eth_getTransactionByHash', hash)).toMatchObject({ from: WHALE, blockHash: null })
    await t.call('evm_mine')
    expect(await t.call('eth_getTransactionReceipt', hash)).toMatchObject({ from: WHALE, status: '0x1' })
    expect(await t.call('eth_getBalance', WHALE)).toBe('0x63')
  })

  it('makes blocks that other nodes refuse, since their bytes recover to another sender', async () => {
    await serveNode()
    await t.call('hardhat_setBalance', WHALE, '0x64')
    await t.call('hardhat_impersonateAccount', WHALE)
    const hash = await send({})
    const transaction = t.node.engine.queries.transaction(hash)?.transaction
    expect(transaction?.from).toBe(WHALE)
    expect(transaction?.r).toBe(BigInt(WHALE))
    const read = () => decodeTransaction(transaction?.raw ?? fromHex('0x')).from
    let other: string | undefined
    try {
      other = read()
    } catch {
      other = undefined
    }
    expect(other).not.toBe(WHALE)
  })
})

describe('automatic mining', () => {
  it('continues on the timer when automining is turned off, in either order', async () => {
    await serveNode()
    const hour = 3_600_000
    for (const [first, second] of [
      ['evm_setIntervalMining', 'evm_setAutomine'],
      ['evm_setAutomine', 'evm_setIntervalMining'],
    ] as const) {
      await t.call('evm_setAutomine', true)
      for (const method of [first, second]) await t.call(method, method === 'evm_setAutomine' ? false : hour)
      expect(await t.call('anvil_getIntervalMining')).toBe(3600)
      expect(await t.call('hardhat_getAutomine')).toBe(false)
    }
    await t.call('evm_setIntervalMining', 0)
    expect(await t.call('anvil_getIntervalMining')).toBeNull()
    await t.call('evm_setAutomine', true)
    await t.call('evm_setAutomine', false)
    expect(await t.call('eth_mining')).toBe(false)
  })
})

describe('block overrides', () => {
  it('a block gas limit applies at once, also to a single transaction and to blocks of miners', async () => {
    await serveNode({ mining: 'manual' })
    const big = { from: COW, to: BOB, gas: '0x1312d00' }
    expect((await error('eth_sendTransaction', big)).message).toBe(
      "transaction's gas limit of 20000000 is higher than the block's gas limit of 10000000",
    )
    expect((await error('evm_setBlockGasLimit', '0x1')).message).toBe('gasLimit: 1 is below 21000')
    expect((await error('evm_setBlockGasLimit', '0x20000000000000')).message).toBe(
      'gasLimit: 9007199254740992 is above 9007199254740991',
    )
    await t.call('evm_setBlockGasLimit', '0x1c9c380')
    const hash = await t.call('eth_sendTransaction', big)
    expect((await t.call('eth_getBlockByNumber', 'pending', false)).gasLimit).toBe('0x1c9c380')
    expect((await t.call('anvil_nodeInfo')).environment.gasLimit).toBe('0x1c9c380')
    expect(await t.call('eth_estimateGas', { to: BOB, data: `0x${'ff'.repeat(500_000)}` })).toBe('0x7a6408')
    const proof = await solveWork(t)
    expect(await t.call('mnr_submitBitcoinBlock', proof.block)).toMatchObject({ blockIncludedHeight: '0x1' })
    expect((await t.call('eth_getTransactionReceipt', hash)).status).toBe('0x1')
    expect((await head()).gasLimit).toBe('0x1c9c380')
    const { queries } = t.node.engine
    expect((await queries.trace(queries.head(), 0)).root).toMatchObject({ from: COW, to: BOB })
  })

  it('a minimum gas price removes pooled transactions with a lower price', async () => {
    await serveNode({ mining: 'manual' })
    const cheap = await t.call('eth_sendTransaction', { from: COW, to: BOB, gasPrice: '0x5' })
    await t.call('hardhat_setMinGasPrice', '0x6')
    expect(await t.call('eth_getTransactionByHash', cheap)).toBeNull()
    // Without a price it is 0, as in the reference node.
    for (const price of [{ gasPrice: '0x5' }, {}]) {
      expect(await error('eth_sendTransaction', { from: COW, to: BOB, ...price })).toEqual({
        code: -32010,
        message: "transaction's gas price lower than block's minimum",
      })
    }
    const dear = await t.call('eth_sendTransaction', { from: COW, to: BOB, gasPrice: '0x6' })
    await t.call('evm_mine')
    expect(await head()).toMatchObject({ minimumGasPrice: '0x6', transactions: [dear, expect.anything()] })
  })
})

describe('a process killed with -9', () => {
  it('keeps each acknowledged edit, and transactions of impersonated senders', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'edits-'))
    try {
      const first = await startCommand(['--data-dir', dir])
      await rpc(first.url, 'hardhat_setBalance', [WHALE, '0x64'])
      await rpc(first.url, 'hardhat_impersonateAccount', [WHALE])
      const mined = await rpc(first.url, 'eth_sendTransaction', [{ from: WHALE, to: BOB, value: '0x1' }])
      await rpc(first.url, 'evm_setAutomine', [false])
      const waiting = await rpc(first.url, 'eth_sendTransaction', [{ from: WHALE, to: BOB, value: '0x2' }])
      await rpc(first.url, 'hardhat_setCode', [WHALE, '0x6001'])
      await rpc(first.url, 'hardhat_setStorageAt', [WHALE, '0x1', `0x${'9'.padStart(64, '0')}`])
      await first.end('SIGKILL')

      const second = await startCommand(['--data-dir', dir, '--mining', 'manual'])
      expect(await rpc(second.url, 'eth_getBalance', [WHALE])).toBe('0x63')
      expect(await rpc(second.url, 'eth_getCode', [WHALE, 'latest'])).toBe('0x6001')
      expect(BigInt(await rpc(second.url, 'eth_getStorageAt', [WHALE, '0x1', 'latest']))).toBe(9n)
      expect(await rpc(second.url, 'eth_getTransactionByHash', [mined])).toMatchObject({ from: WHALE })
      expect(await rpc(second.url, 'eth_getTransactionByHash', [waiting])).toMatchObject({ from: WHALE })
      await rpc(second.url, 'evm_mine')
      expect(await rpc(second.url, 'eth_getTransactionReceipt', [waiting])).toMatchObject({ status: '0x1' })
      expect(BigInt(await rpc(second.url, 'eth_getStorageAt', [WHALE, '0x1', 'latest']))).toBe(9n)
      await second.end('SIGKILL')

      const third = await startCommand(['--data-dir', dir])
      expect(await rpc(third.url, 'eth_getBalance', [WHALE])).toBe('0x61')
      await rpc(third.url, 'evm_reset')
      expect(await rpc(third.url, 'eth_getBalance', [WHALE])).toBe('0x0')
      await third.end('SIGKILL')
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
})
