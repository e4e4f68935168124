/** Two nodes in one process: what one learns is gone with it, and never shows in the answers of the other. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { keccakHex } from '../src/encoding/hash.ts'
import { toHex } from '../src/encoding/hex.ts'
import { createNode, type Node, type NodeOptions } from '../src/index.ts'
import { assemble, deployer } from './support/assembler.ts'
import { faultProxy } from './support/fault-proxy.ts'
import { servedNode } from './support/served-node.ts'
import { request } from './support/upstream-chain.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Emits 24 logs of 32 KiB each. */
const LOGGER = 'PUSH1 24 JUMPDEST PUSH2 0x8000 PUSH1 0 LOG0 PUSH1 1 SWAP1 SUB DUP1 PUSH1 2 JUMPI STOP'
/** Counts to 2000, which makes it hot, and returns the word in slot 0. */
const HOT =
  'PUSH2 2000 JUMPDEST PUSH1 1 SWAP1 SUB DUP1 PUSH1 3 JUMPI PUSH1 0 SLOAD PUSH1 0 MSTORE PUSH1 32 PUSH1 0 RETURN'
const ABI = ['error Refused(uint256)']
/** Reverts with Refused(7). */
const REFUSING = `PUSH4 ${keccakHex(new TextEncoder().encode('Refused(uint256)')).slice(0, 10)} PUSH1 0 MSTORE PUSH1 7 PUSH1 32 MSTORE PUSH1 36 PUSH1 28 REVERT`
const STRANGER = '0x00000000000000000000000000000000deadbeef'

const open = new Set<Node>()
async function openNode(options: NodeOptions = {}): Promise<Node> {
  const node = await createNode({ preset: 'hardhat', frozenClock: 1_700_000_000, seed: 'two', ...options })
  open.add(node)
  return node
}
async function close(node: Node): Promise<void> {
  open.delete(node)
  await node.close()
}
afterEach(async () => {
  for (const node of open) await close(node)
})

async function deploy(node: Node, code: string): Promise<string> {
  const [from] = await request<string[]>(node, 'eth_accounts')
  const data = toHex(deployer(assemble(code)))
  const hash = await request(node, 'eth_sendTransaction', { from, data, gas: '0x100000' })
  const { contractAddress } = await request<{ contractAddress: string }>(
    node,
    'eth_getTransactionReceipt',
    hash,
  )
  return contractAddress
}

/** Bytes of arrays after garbage collection. */
async function arrayBytes(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    // What a WeakRef was made of stays until the end of its task, and arrays are freed in the background.
    await new Promise((resolve) => setImmediate(resolve))
    collectGarbage()
  }
  return process.memoryUsage().arrayBuffers
}

/** Lets a node learn much, closes it, and gives what it learned. */
async function teachAndClose(): Promise<Readonly<Record<string, readonly WeakRef<object>[]>>> {
  const node = await openNode()
  const learned: Record<string, WeakRef<object>[]> = { engine: [new WeakRef(node.engine)] }
  const note = (kind: string, thing: object) => {
    learned[kind] = [...(learned[kind] ?? []), new WeakRef(thing)]
  }
  node.engine.events.on('chain', ({ added }) => {
    for (const executed of added) {
      note('executed block', executed)
      note('block', executed.block)
      note('header', executed.block.header)
      note('receipts', executed.receipts)
      for (const transaction of executed.block.transactions) note('transaction', transaction)
    }
  })
  const [from] = await request<string[]>(node, 'eth_accounts')
  const logger = await deploy(node, LOGGER)
  const hot = await deploy(node, HOT)
  await request(node, 'evm_setAbi', 'Hot', ABI)
  for (const { artifact } of node.engine.names.contracts()) note('names', artifact)
  for (let i = 0; i < 5; i++) {
    await request(node, 'eth_sendTransaction', { from, to: logger, gas: '0x660000' })
    await request(node, 'eth_call', { to: hot }, 'latest')
  }
  expect(await request(node, 'eth_getLogs', { fromBlock: '0x0', address: logger })).toHaveLength(120)
  await request(node, 'eth_getBlockByNumber', 'latest', true)
  await close(node)
  return learned
}

it('a closed node leaves nothing behind while another one is open', async () => {
  const other = await openNode()
  await teachAndClose()
  const before = await arrayBytes()
  const learned = await teachAndClose()
  expect((await arrayBytes()) - before).toBeLessThan(1 << 20)
  for (const [kind, things] of Object.entries(learned)) {
    const held = things.filter((thing) => thing.deref() !== undefined).length
    expect(`${kind}: ${held} of ${things.length}`).toBe(`${kind}: 0 of ${things.length}`)
  }
  expect(Object.keys(learned)).toHaveLength(7)
  expect(await request(other, 'eth_blockNumber')).toBe('0x0')
})

it('what one node learns does not appear in answers of the other', async () => {
  const one = await openNode()
  const other = await openNode()
  let hot = ''
  let refusing = ''
  for (const node of [one, other]) {
    hot = await deploy(node, HOT)
    refusing = await deploy(node, REFUSING)
    // Compiled in both.
    await request(node, 'eth_call', { to: hot }, 'latest')
  }
  const filter = await request(one, 'eth_newBlockFilter')
  /** What differs once a node has learned what follows. */
  const questions: readonly [string, ...unknown[]][] = [
    ['eth_call', { to: refusing }, 'latest'],
    ['evm_contracts'],
    ['eth_call', { to: hot }, 'latest'],
    ['eth_getBlockByNumber', 'pending', false],
    ['evm_snapshots'],
    ['eth_getFilterChanges', filter],
    ['eth_sendTransaction', { from: STRANGER, to: STRANGER, gasPrice: '0x0' }],
  ]
  const ask = async (node: Node) => {
    const answers: unknown[] = []
    for (const [method, ...params] of questions) {
      const answer = await request(node, method, ...params).catch(({ code, message, data }) => ({
        code,
        message,
        data,
      }))
      answers.push(answer)
    }
    return answers
  }
  const beforeOfOne = await ask(one)
  const beforeOfOther = await ask(other)
  await request(one, 'evm_setAbi', 'Refusing', ABI)
  await request(one, 'hardhat_setStorageAt', hot, '0x0', `0x${'5'.padStart(64, '0')}`)
  await request(one, 'evm_snapshot')
  await request(one, 'evm_increaseTime', 3600)
  await request(one, 'hardhat_impersonateAccount', STRANGER)
  await request(one, 'evm_mine')
  const afterOfOne = await ask(one)
  expect(await ask(other)).toEqual(beforeOfOther)
  for (const [i, [method]] of questions.entries()) {
    expect(afterOfOne[i], `${method} of the node that learned`).not.toEqual(beforeOfOne[i])
  }
})

it('without a cache on disk, two forks of one block each ask the upstream, and do not see the changes of the other', async () => {
  const upstream = await servedNode()
  onTestFinished(() => upstream.close())
  const proxy = await faultProxy(upstream.url)
  onTestFinished(() => proxy.close())
  const [account] = await upstream.call('eth_accounts')
  const balance = await upstream.call('eth_getBalance', account, 'latest')
  const fork = { fork: proxy.url, forkBlock: 0, forkCache: false }
  const one = await openNode(fork)
  const other = await openNode(fork)
  /** What a node answers, and what it asked of the upstream for it. */
  const ask = async (node: Node) => {
    const start = proxy.methods().length
    const answer = await request(node, 'eth_getBalance', account, 'latest')
    return { answer, asked: proxy.methods().slice(start) }
  }
  const first = await ask(one)
  expect(first.asked.length).toBeGreaterThan(0)
  expect(await ask(one)).toEqual({ ...first, asked: [] })
  await request(one, 'hardhat_setBalance', account, '0x7')
  expect(await ask(one)).toEqual({ answer: '0x7', asked: [] })
  expect(await ask(other)).toEqual({ answer: balance, asked: first.asked })
})
