/** State files without history: height, time and base fee of the dumped head, between this node and Anvil. */
import { gunzipSync } from 'node:zlib'
import { BrowserProvider } from 'ethers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fillVerifyCommand } from '../../../src/cli/verify.ts'
import { createNode, type NodeOptions } from '../../../src/index.ts'
import { startAnvil } from '../../support/anvil-frames.ts'
import { runFilled } from '../../support/commands.ts'
import { ask, pictureOf } from '../../support/state-files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { ANVIL, describeWith } from '../../support/tools.ts'

const X = `0x${'1a'.repeat(20)}`
const HEIGHT = 20_000_000
const TIME = 1_750_000_000
const FEE = 60_000_000
const hex = (value: number) => `0x${value.toString(16)}`
const latest = (node: Node) => ask(node, 'eth_getBlockByNumber', 'latest', false)

async function nodeWith(options: NodeOptions = {}) {
  const node = await createNode(options)
  onTestFinished(() => node.close())
  return node
}
type Node = Awaited<ReturnType<typeof nodeWith>>

/** A dump in Anvil's form that names its head and has no blocks. */
const anvilFile = (number = HEIGHT) => ({
  block: {
    number: hex(number),
    timestamp: hex(TIME),
    gas_limit: 30_000_000,
    basefee: FEE,
    difficulty: '0x0',
  },
  accounts: { [X]: { nonce: 0, balance: '0x5', code: '0x', storage: {} } },
  best_block_number: number,
  blocks: [],
})

/** Blocks after which a block looks at others 449 and more below it. */
const MANY = 460

/** Mines blocks, with siblings that become uncles. */
async function mineOn(node: Node, first: number, count: number): Promise<void> {
  await ask(node, 'hardhat_mine', '0x2')
  await ask(node, 'anvil_reorg', 1, [])
  await ask(node, 'hardhat_mine', hex(count - 2))
  expect(await ask(node, 'eth_blockNumber')).toBe(hex(first + count))
}

describe('a file without history', () => {
  it('keeps height, time and base fee of the dumped head', async () => {
    const from = await nodeWith({ minGasPrice: 1_000_000_000n, now: () => TIME })
    await ask(from, 'hardhat_mine', '0x1e')
    await ask(from, 'hardhat_setBalance', X, '0x5')
    const head = await latest(from)
    const to = await nodeWith({ now: () => TIME - 10 })
    await ask(to, 'anvil_loadState', await ask(from, 'anvil_dumpState'))
    const { number, timestamp, minimumGasPrice } = head
    expect(await latest(to)).toMatchObject({ number, timestamp, minimumGasPrice, transactions: [] })
    expect(to.engine.queries.head().postState).toBe(from.engine.queries.head().postState)
    await ask(to, 'evm_mine')
    expect(await latest(to)).toMatchObject({
      number: '0x1f',
      timestamp: hex(Number(timestamp) + 1),
      parentHash: (await ask(to, 'eth_getBlockByNumber', '0x1e', false)).hash,
    })
  })

  it('begins a chain whose later blocks are traced as they were mined', async () => {
    const node = await nodeWith()
    await ask(node, 'anvil_loadState', anvilFile())
    const [from] = await ask(node, 'eth_accounts')
    const transactionHash = await ask(node, 'eth_sendTransaction', {
      from,
      to: X,
      value: '0x1',
      gasPrice: hex(FEE),
    })
    await ask(node, 'hardhat_mine', '0x2')
    const traces = await ask(node, 'trace_filter', {
      fromBlock: '0x0',
      toBlock: 'latest',
      fromAddress: [from],
    })
    expect(traces).toMatchObject([{ transactionHash, blockNumber: HEIGHT + 1 }])
    for (const above of [1, 2, 3]) {
      const block = await ask(node, 'debug_traceBlockByNumber', hex(HEIGHT + above), { tracer: 'callTracer' })
      expect(block.length).toBeGreaterThan(0)
    }
  })

  it('begins a chain whose lower blocks are unknown', async () => {
    const node = await nodeWith({ mining: 'manual' })
    await ask(node, 'anvil_loadState', anvilFile())
    const first = await latest(node)
    expect(first).toMatchObject({
      number: hex(HEIGHT),
      timestamp: hex(TIME),
      minimumGasPrice: hex(FEE),
      parentHash: `0x${'0'.repeat(64)}`,
    })
    await mineOn(node, HEIGHT, 12)
    for (const height of [0, 1, HEIGHT - 1]) {
      expect(await ask(node, 'eth_getBlockByNumber', hex(height), false)).toBeNull()
    }
    expect((await ask(node, 'eth_getBlockByNumber', 'earliest', false)).hash).toBe(first.hash)
    expect(await ask(node, 'eth_getLogs', { fromBlock: 'earliest', toBlock: 'latest' })).toEqual([])
    expect(await ask(node, 'eth_getLogs', { fromBlock: '0x0', toBlock: '0x5' })).toEqual([])
    expect(await ask(node, 'eth_feeHistory', hex(1000), 'latest', [])).toMatchObject({
      oldestBlock: hex(HEIGHT),
    })
    expect(await ask(node, 'eth_getBalance', X, hex(HEIGHT))).toBe('0x5')
    await expect(ask(node, 'eth_getBalance', X, '0x1')).rejects.toMatchObject({ code: expect.any(Number) })
    await ask(node, 'evm_reset')
    expect(await latest(node)).toEqual(first)
  })

  it('is accepted by ethers, which sends transactions on it', async () => {
    const node = await nodeWith({ preset: 'anvil' })
    await ask(node, 'anvil_loadState', anvilFile())
    const provider = new BrowserProvider(node, undefined, { cacheTimeout: -1, pollingInterval: 5 })
    onTestFinished(() => provider.destroy())
    expect(await provider.getBlock('latest')).toMatchObject({ number: HEIGHT, timestamp: TIME })
    const signer = await provider.getSigner(0)
    const receipt = await (await signer.sendTransaction({ to: X, value: 1n })).wait()
    expect(receipt).toMatchObject({ status: 1, blockNumber: HEIGHT + 1 })
    expect(await provider.getBalance(X)).toBe(6n)
    expect((await provider.getBlock('latest'))?.timestamp).toBeGreaterThan(TIME)
  })

  it('stays on disk, verifies, and is dumped with its history', async () => {
    const dataDir = temporaryFolder()
    const first = await createNode({ dataDir, mining: 'manual' })
    await ask(first, 'anvil_loadState', anvilFile(3000))
    const [from] = await ask(first, 'eth_accounts')
    await ask(first, 'eth_sendTransaction', { from, to: X, value: '0x1', gasPrice: hex(FEE) })
    await mineOn(first, 3000, MANY)
    const head = await latest(first)
    await first.close()
    const { output, error } = await runFilled(fillVerifyCommand, ['--data-dir', dataDir])
    expect([error, output]).toEqual([undefined, expect.stringContaining('No fault: regtest')])
    const again = await nodeWith({ dataDir, mining: 'manual' })
    expect(await latest(again)).toEqual(head)
    await ask(again, 'evm_mine')
    const copy = await nodeWith({ mining: 'manual' })
    await ask(copy, 'anvil_loadState', await ask(again, 'anvil_dumpState', true))
    expect(await latest(copy)).toEqual(await latest(again))
    expect(await ask(copy, 'eth_getBlockByNumber', hex(3001), true)).toEqual(
      await ask(again, 'eth_getBlockByNumber', hex(3001), true),
    )
    await ask(copy, 'evm_mine')
    expect(await ask(copy, 'eth_blockNumber')).toBe(hex(3001 + MANY + 1))
  })

  it('removes snapshots of the replaced block, and keeps pooled transactions', async () => {
    const node = await nodeWith({ mining: 'manual' })
    const snapshot = await ask(node, 'evm_snapshot')
    const [from] = await ask(node, 'eth_accounts')
    const hash = await ask(node, 'eth_sendTransaction', { from, to: X, value: '0x1', gasPrice: hex(FEE) })
    await ask(node, 'anvil_loadState', anvilFile())
    expect(await ask(node, 'evm_revert', snapshot)).toBe(false)
    await ask(node, 'evm_mine')
    expect(await ask(node, 'eth_getTransactionReceipt', hash)).toMatchObject({ blockNumber: hex(HEIGHT + 1) })
    // A second load restarts the chain only while no other block follows the first.
    await ask(node, 'evm_reset')
    await ask(node, 'anvil_loadState', anvilFile(7))
    expect(await ask(node, 'eth_blockNumber')).toBe('0x7')
  })

  it('is a state edit when the chain has more than the first block', async () => {
    const node = await nodeWith()
    await ask(node, 'evm_mine')
    const before = await pictureOf(node)
    await ask(node, 'anvil_loadState', anvilFile())
    expect(await ask(node, 'eth_blockNumber')).toBe('0x1')
    expect(await ask(node, 'eth_getBalance', X, 'latest')).toBe('0x5')
    expect(await pictureOf(node)).toMatchObject({ histories: (before as { histories: object[] }).histories })
  })

  it.each([
    ['number', '0x80000000', 'block: number: must be at most 2147483647'],
    ['timestamp', '0xffffffffffff', 'block: timestamp: must be at most 8640000000000'],
    ['basefee', 'x', 'block: basefee: must be a number'],
  ])('is refused with a wrong %s', async (name, value, message) => {
    const node = await nodeWith()
    const file = anvilFile()
    await expect(
      ask(node, 'anvil_loadState', { ...file, block: { ...file.block, [name]: value } }),
    ).rejects.toMatchObject({ code: -32602, message })
    expect(await ask(node, 'eth_blockNumber')).toBe('0x0')
  })
})

describeWith(ANVIL, 'the head of a state file in Anvil', () => {
  const stripped = (dump: string) => {
    const json = JSON.parse(gunzipSync(Buffer.from(dump.slice(2), 'hex')).toString())
    return { ...json, blocks: [], transactions: [] }
  }
  const headOf = async (call: (method: string, params: readonly unknown[]) => Promise<unknown>) =>
    (await call('eth_getBlockByNumber', ['latest', false])) as Record<string, string>

  it('can be loaded from Anvil, and by Anvil', async () => {
    const anvil = await startAnvil(ANVIL.path)
    onTestFinished(() => anvil.close())
    await anvil.call('anvil_mine', ['0x7'])
    const theirs = await headOf(anvil.call)
    const node = await nodeWith()
    await ask(node, 'anvil_loadState', stripped((await anvil.call('anvil_dumpState', [])) as string))
    const ours = await latest(node)
    expect(ours).toMatchObject({ number: '0x7', timestamp: theirs.timestamp })
    expect(BigInt(ours.minimumGasPrice)).toBe(BigInt(theirs.baseFeePerGas ?? ''))

    await ask(node, 'hardhat_mine', '0x5')
    const head = await latest(node)
    const other = await startAnvil(ANVIL.path)
    onTestFinished(() => other.close())
    await other.call('anvil_loadState', [await ask(node, 'anvil_dumpState')])
    expect(await headOf(other.call)).toMatchObject({ number: '0xc', timestamp: head.timestamp })
    expect(BigInt((await headOf(other.call)).baseFeePerGas ?? '')).toBe(BigInt(head.minimumGasPrice))
    await other.call('anvil_mine', ['0x1'])
    expect(await headOf(other.call)).toMatchObject({ number: '0xd' })
  })
})
