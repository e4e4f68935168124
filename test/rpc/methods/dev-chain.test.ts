/** Blocks taken off the chain and replaced, blocks mined with details, signatures and accounts without keys. */
import { AbiCoder, Wallet } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../../src/index.ts'
import { A, B, COW_KEY } from '../../support/fake-chain.ts'

const C = '0x00000000000000000000000000000000000000cc'
const wallet = new Wallet(`0x${Buffer.from(COW_KEY).toString('hex')}`)
const word = (digits: string) => `0x${digits.padStart(64, '0')}`

let node: Node
const ask = <T = unknown>(method: string, ...params: unknown[]) =>
  node.request({ method, params }) as Promise<T>
beforeEach(async () => {
  node = await createNode()
})
afterEach(() => node.close())

interface Block {
  readonly hash: string
  readonly number: string
  readonly parentHash: string
  readonly transactions: readonly string[]
}
const block = (height: number | 'latest') =>
  ask<Block>('eth_getBlockByNumber', typeof height === 'number' ? `0x${height.toString(16)}` : height, false)
const balance = (address: string) => ask('eth_getBalance', address, 'latest')

/** Sends one wei from A to C, in a block of its own. */
const pay = () =>
  ask<string>('eth_sendTransaction', { from: A, to: C, value: '0x1', gas: '0x5208', gasPrice: '0x1' })

describe('anvil_rollback', () => {
  it('removes blocks and their transactions from the chain', async () => {
    const hashes = [await pay(), await pay(), await pay()]
    const first = await block(1)
    expect(await ask('anvil_rollback', 2)).toBeNull()
    expect(await block('latest')).toEqual(first)
    expect(await balance(C)).toBe('0x1')
    expect(await ask('eth_getTransactionByHash', hashes[2])).toBeNull()
    expect(await ask('txpool_status')).toEqual({ pending: 0, queued: 0 })
    expect(await ask('anvil_rollback')).toBeNull()
    expect(await ask('eth_blockNumber')).toBe('0x0')
    // The same transaction again, in another block.
    expect(await pay()).toBe(hashes[0])
    await expect(ask('anvil_rollback', 2)).rejects.toMatchObject({
      code: -32602,
      message: "depth: must not exceed the chain's height: height 1, depth 2",
    })
  })

  it('keeps pooled transactions, which are queued when a nonce is now missing', async () => {
    await pay()
    await ask('evm_setAutomine', false)
    await pay()
    await ask('eth_sendTransaction', { from: B, to: C, gas: '0x5208' })
    expect(await ask('txpool_status')).toEqual({ pending: 2, queued: 0 })
    await ask('anvil_rollback', 1)
    expect(await ask('txpool_status')).toEqual({ pending: 1, queued: 1 })
  })
})

describe('anvil_reorg', () => {
  it('replaces blocks by the same number of blocks, with the given transactions', async () => {
    const [, second, third] = [await pay(), await pay(), await pay()]
    const before = [await block(1), await block(2), await block(3)]
    const filter = await ask('eth_newBlockFilter')
    const raw = await wallet.signTransaction({
      type: 0,
      nonce: 1,
      gasPrice: 1,
      gasLimit: 21_000,
      chainId: 33,
      to: C,
      value: 100,
    })
    await ask('anvil_reorg', 2, [
      [{ from: B, to: C, value: '0x3e8', gas: '0x5208', maxFeePerGas: '0x1' }, 1],
      [raw, 0],
      [{ from: B, to: C, value: '0x2710', gas: '0x5208' }, '0x1'],
    ])
    const after = [await block(1), await block(2), await block(3)]
    expect(await ask('eth_blockNumber')).toBe('0x3')
    expect(after[0]).toEqual(before[0])
    expect(after[1]?.parentHash).toBe(before[0]?.hash)
    expect(after[1]?.hash).not.toBe(before[1]?.hash)
    // The REMASC transaction is the last of each block.
    expect(after.map((one) => one?.transactions.length)).toEqual([2, 2, 3])
    expect(await balance(C)).toBe(`0x${(1 + 100 + 1000 + 10_000).toString(16)}`)
    expect(await ask('eth_getTransactionCount', B, 'latest')).toBe('0x2')
    expect(await ask('eth_getTransactionByHash', second)).toBeNull()
    expect(await ask('eth_getTransactionByHash', third)).toBeNull()
    expect(await ask('txpool_status')).toEqual({ pending: 0, queued: 0 })
    expect(await ask('eth_getFilterChanges', filter)).toEqual([after[1]?.hash, after[2]?.hash])
    expect(await ask('eth_getBlockByHash', before[2]?.hash, false)).toBeNull()
    await pay()
    expect(await ask('eth_blockNumber')).toBe('0x4')
  })

  it('leaves the chain unchanged when a transaction does not fit', async () => {
    await pay()
    const head = await block('latest')
    for (const [depth, transactions, message] of [
      [1, [[{ from: A, to: C }, 1]], 'transactions: block 1 is not among the 1 that replace others'],
      [2, [], "depth: must not exceed the chain's height: height 1, depth 2"],
      [1, [[{ from: C, to: A }, 0]], `Could not find account for address: ${C}`],
      [
        1,
        [[{ from: A, to: C, gas: '0x1' }, 0]],
        'blocks[0].transactions[0]: gas limit 1 is below the intrinsic gas 21000',
      ],
    ] as const) {
      await expect(ask('anvil_reorg', depth, transactions)).rejects.toMatchObject({ code: -32602, message })
    }
    for (const transactions of [[['0x00']], [{}], [[5, 0]], [['0x00', -1]], 'x']) {
      await expect(ask('anvil_reorg', 1, transactions)).rejects.toMatchObject({ code: -32602 })
    }
    expect(await block('latest')).toEqual(head)
  })
})

describe('blocks mined with details', () => {
  it('have outputs and revert reasons', async () => {
    const reason = AbiCoder.defaultAbiCoder().encode(['string'], ['nope']).slice(2)
    const payload = `08c379a0${reason}`
    const size = (payload.length / 2).toString(16)
    // Copies the payload behind the ten bytes of code, and reverts with it.
    await ask('hardhat_setCode', C, `0x60${size}600a5f3960${size}5ffd${payload}`)
    await ask('hardhat_setCode', B, '0x602a5f5260205ff3')
    await ask('evm_setAutomine', false)
    for (const to of [C, B])
      await ask('eth_sendTransaction', { from: A, to, gas: '0x186a0', gasPrice: '0x1' })
    interface Detailed {
      readonly number: string
      readonly transactions: readonly { to: string; output?: string; revertReason?: string; from: string }[]
    }
    const blocks = await ask<Detailed[]>('evm_mine_detailed', { blocks: 2 })
    expect(blocks.map(({ number, transactions }) => [number, transactions.length])).toEqual([
      ['0x1', 3],
      ['0x2', 1],
    ])
    expect(blocks[0]?.transactions.slice(0, 2)).toEqual([
      expect.objectContaining({ to: C, output: `0x${payload}`, revertReason: 'nope', from: A }),
      expect.objectContaining({ to: B, output: word('2a') }),
    ])
    expect(blocks[0]?.transactions[1]).not.toHaveProperty('revertReason')
    expect(await ask<unknown[]>('anvil_mine_detailed')).toHaveLength(1)
    expect(await ask('eth_blockNumber')).toBe('0x3')
  })

  it('have known timestamps', async () => {
    expect(await ask('anvil_getGenesisTime')).toBe(
      Number((await ask<{ timestamp: string }>('eth_getBlockByNumber', '0x0', false)).timestamp),
    )
    const start = Date.now() - 1000
    await ask('evm_mine')
    expect(await ask('anvil_getLastBlockWallTime')).toBeGreaterThan(start)
  })
})

describe('signatures and accounts without keys', () => {
  const hash = word('abcd')
  const recover = (r: string, s: string, v: number) =>
    ask(
      'eth_call',
      {
        to: '0x0000000000000000000000000000000000000001',
        data: `${hash}${word(v.toString(16)).slice(2)}${r}${s}`,
      },
      'latest',
    )

  it('recover to the declared address until a reset', async () => {
    const signed = wallet.signingKey.sign(hash)
    const [r, s, v] = [signed.r.slice(2), signed.s.slice(2), signed.v]
    expect(await recover(r, s, v)).toBe(word(A.slice(2)))
    expect(await ask('anvil_impersonateSignature', `0x${r}${s}${v.toString(16)}`, B)).toBeNull()
    expect(await recover(r, s, v)).toBe(word(B.slice(2)))
    expect(await recover(r, s, 55 - v)).not.toBe(word(B.slice(2)))
    await ask('hardhat_reset')
    expect(await recover(r, s, v)).toBe(word(A.slice(2)))
    await expect(ask('anvil_impersonateSignature', '0x1122', B)).rejects.toMatchObject({ code: -32602 })
  })

  it('can send after they were added', async () => {
    await ask('hardhat_setBalance', C, '0x100')
    expect(await ask('evm_addAccount', C, 'secret')).toBe(true)
    expect(await ask('evm_addAccount', C)).toBe(false)
    expect(await ask('evm_addAccount', A)).toBe(false)
    await ask('eth_sendTransaction', { from: C, to: B, value: '0x1', gas: '0x5208' })
    expect(await balance(C)).toBe('0xff')
    await ask('hardhat_addBalance', C, '0x1')
    expect(await balance(C)).toBe('0x100')
    await ask('tenderly_addBalance', C, `0x${'f'.repeat(64)}`)
    expect(await balance(C)).toBe(`0x${'f'.repeat(64)}`)
  })
})
