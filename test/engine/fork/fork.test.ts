import { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Hex, toHex, toQuantity } from '../../../src/encoding/hex.ts'
import { createNode, createNodeFrom, type Node } from '../../../src/node.ts'
import { assemble, deployer } from '../../support/assembler.ts'
import { artifact } from '../../support/contracts.ts'
import { type EngineRemote, engineRemote } from '../../support/engine-remote.ts'

const token = artifact('Token')
const abi = new Interface(token.abi)

/** Follows a linked list: each slot holds the next, 0 ends it; returns how many there were. */
const LIST = deployer(
  assemble(`
    0 CALLDATALOAD 0 SWAP1
    next: DUP1 ISZERO @end JUMPI SLOAD SWAP1 1 ADD SWAP1 @next JUMP
    end: POP 0 MSTORE 32 0 RETURN
  `),
)
const LIST_LENGTH = 60

type Json = Record<string, unknown>
const request = <T = Json>(node: Node, method: string, ...params: unknown[]) =>
  node.request({ method, params }) as Promise<T>
const call = (node: Node, to: unknown, data: string, block = 'latest') =>
  request<Hex>(node, 'eth_call', { to, data }, block)

let original: Node
let accounts: Hex[]
let tokenAddress: Hex
let listAddress: Hex
let transfer: Hex

async function deploy(node: Node, data: string): Promise<Hex> {
  const hash = await request<Hex>(node, 'eth_sendTransaction', { from: accounts[0], data, gas: '0x300000' })
  return (await request(node, 'eth_getTransactionReceipt', hash)).contractAddress as Hex
}

const send = (node: Node, from: unknown, data: string, to: Hex = tokenAddress) =>
  request<Hex>(node, 'eth_sendTransaction', { from, to, data, gas: '0x100000' })

async function forkOf(node: Node): Promise<{ fork: Node; remote: EngineRemote }> {
  const remote = engineRemote(node)
  return { fork: await createNodeFrom({}, undefined, remote), remote }
}

beforeAll(async () => {
  original = await createNode()
  accounts = await request<Hex[]>(original, 'eth_accounts')
  tokenAddress = await deploy(original, token.bytecode + abi.encodeDeploy([1_000_000n]).slice(2))
  listAddress = await deploy(original, toHex(LIST))
  await request(original, 'hardhat_setStorageAt', listAddress, '0x1', `0x${'2'.padStart(64, '0')}`)
  for (let slot = 1; slot < LIST_LENGTH; slot++) {
    const next = `0x${(slot + 1).toString(16).padStart(64, '0')}`
    await request(original, 'hardhat_setStorageAt', listAddress, toQuantity(slot), next)
  }
  transfer = await send(original, accounts[0], abi.encodeFunctionData('transfer', [accounts[1], 1000n]))
  await request(original, 'evm_mine')
})

afterAll(() => original.close())

describe('a fork', () => {
  it('reads accounts, storage and code of its upstream', async () => {
    const { fork } = await forkOf(original)
    for (const [method, ...params] of [
      ['eth_blockNumber'],
      ['eth_chainId'],
      ['eth_getBalance', accounts[3], 'latest'],
      ['eth_getTransactionCount', accounts[0], 'latest'],
      ['eth_getCode', tokenAddress, 'latest'],
      ['eth_getStorageAt', listAddress, '0x5', 'latest'],
      ['eth_call', { to: tokenAddress, data: abi.encodeFunctionData('balanceOf', [accounts[1]]) }, 'latest'],
      ['eth_getBlockByNumber', 'latest', true],
      ['eth_getBlockByNumber', '0x1', true],
      ['eth_getBlockByNumber', 'earliest', false],
      ['eth_getTransactionByHash', transfer],
      ['eth_getTransactionReceipt', transfer],
      ['eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' }],
      ['eth_getBalance', accounts[0], '0x1'],
      ['debug_traceTransaction', transfer, { tracer: 'callTracer' }],
      ['trace_transaction', transfer],
      ['debug_traceTransaction', transfer, { tracer: 'prestateTracer' }],
    ] as const) {
      expect(await request(fork, method, ...params), method).toEqual(
        await request(original, method, ...params),
      )
    }
    await fork.close()
  })

  it('gives the same receipts for the same transactions', async () => {
    const { fork } = await forkOf(original)
    const twin = await createNodeFrom({}, undefined, engineRemote(original))
    const data = abi.encodeFunctionData('transfer', [accounts[2], 5n])
    const hash = await send(fork, accounts[0], data)
    const receipt = await request(fork, 'eth_getTransactionReceipt', hash)
    expect(receipt).toMatchObject({ status: '0x1', blockNumber: await request(fork, 'eth_blockNumber') })
    expect(BigInt(await call(fork, tokenAddress, abi.encodeFunctionData('balanceOf', [accounts[2]])))).toBe(
      5n,
    )
    // The same work elsewhere gives the same synthetic root.
    await send(twin, accounts[0], data)
    const stateRoots = [fork, twin].map((node) => node.engine.queries.head().postState)
    expect(stateRoots[0]).toBe(stateRoots[1])
    await Promise.all([fork.close(), twin.close()])
  })

  it('fetches a linked list in a few requests', async () => {
    const { fork, remote } = await forkOf(original)
    const before = remote.fetches.length + remote.loads.length
    const answer = await call(fork, listAddress, `0x${'1'.padStart(64, '0')}`)
    expect(BigInt(answer)).toBe(BigInt(LIST_LENGTH))
    expect(remote.fetches.length + remote.loads.length - before).toBeLessThanOrEqual(5)
    await fork.close()
  })

  it('reverts to a snapshot, and resets to the fork point', async () => {
    const { fork } = await forkOf(original)
    const height = await request(fork, 'eth_blockNumber')
    const id = await request(fork, 'evm_snapshot')
    await send(fork, accounts[0], abi.encodeFunctionData('transfer', [accounts[4], 7n]))
    expect(await request(fork, 'evm_revert', id)).toBe(true)
    expect(await request(fork, 'eth_blockNumber')).toBe(height)
    const balance = abi.encodeFunctionData('balanceOf', [accounts[4]])
    expect(BigInt(await call(fork, tokenAddress, balance))).toBe(0n)
    await send(fork, accounts[0], abi.encodeFunctionData('transfer', [accounts[4], 7n]))
    await request(fork, 'hardhat_reset')
    expect(await request(fork, 'eth_blockNumber')).toBe(height)
    expect(BigInt(await call(fork, tokenAddress, balance))).toBe(0n)
    await fork.close()
  })
})
