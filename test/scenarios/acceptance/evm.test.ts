/** Acceptance checks of the chain's RPC by their numbers, over HTTP: the `evm_` methods. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ServedNode, servedNode } from '../../support/served-node.ts'
import { A, B, callsTo } from './calls.ts'

let t: ServedNode
const { error, transfer } = callsTo(() => t)

afterEach(() => t.close())

describe('an automining node', () => {
  beforeEach(async () => {
    t = await servedNode({ rpcTimeoutMs: 20_000 })
  })

  it('189–199: evm_', async () => {
    expect(await t.call('evm_snapshot')).toBe('0x1')
    expect(await t.call('evm_snapshot')).toBe('0x2')
    const balance = await t.call('eth_getBalance', B)
    for (let i = 0; i < 3; i++) await t.call('evm_mine')
    const { hash } = await transfer()
    expect(await t.call('evm_revert', '0x1')).toBe(true)
    expect(await t.call('eth_blockNumber')).toBe('0x0')
    expect(await t.call('eth_getBalance', B)).toBe(balance)
    expect(await t.call('eth_getTransactionCount', A)).toBe('0x0')
    expect(await t.call('eth_getTransactionReceipt', hash)).toBeNull()
    expect(await t.call('eth_getBlockByNumber', '0x1')).toBeNull()
    expect(await t.call('evm_revert', '0x1')).toBe(true)
    expect(await t.call('evm_revert', '0x2')).toBe(false)
    expect(await t.call('evm_snapshot')).toBe('0x2')
    expect(await t.call('evm_revert', '0x0')).toBe(false)
    expect(await t.call('evm_revert', '0x63')).toBe(false)
    for (const bad of ['1', 'zz']) {
      expect(await error('evm_revert', [bad])).toEqual({
        code: -32602,
        message: `invalid snapshot id ${bad}`,
      })
    }
    expect(await t.call('evm_mine')).toBeNull()
    expect(await t.call('eth_blockNumber')).toBe('0x1')
    const latest = async () => Number((await t.call('eth_getBlockByNumber', 'latest')).timestamp)
    expect(await t.call('evm_increaseTime', '0x64')).toBe('0x64')
    expect(await t.call('evm_increaseTime', 100)).toBe('0xc8')
    const wall = Math.floor(Date.now() / 1000)
    await t.call('evm_mine')
    const shifted = await latest()
    expect(Math.abs(shifted - wall - 200)).toBeLessThanOrEqual(20)
    await t.call('evm_mine')
    expect(await latest()).toBe(shifted + 1)
    expect(await error('evm_increaseTime', ['abc'])).toEqual({
      code: -32602,
      message: 'invalid number of seconds abc',
    })
    expect(await t.call('evm_increaseTime', '-5')).toBe('0x0')
    expect(await t.call('evm_reset')).toBeNull()
    expect(await t.call('eth_blockNumber')).toBe('0x0')
    expect(await t.call('evm_snapshot')).toBe('0x1')
    expect(await t.call('evm_startMining')).toBeNull()
    expect(await t.call('evm_stopMining')).toBeNull()
  })

  it('200: a thousand snapshots and reverts end in the initial state', async () => {
    const { stateRoot, hash } = await t.call('eth_getBlockByNumber', 'latest')
    for (let i = 0; i < 1000; i++) {
      const id = await t.node.request({ method: 'evm_snapshot' })
      await t.node.request({ method: 'eth_sendTransaction', params: [{ from: A, to: B, value: '0x1' }] })
      expect(await t.node.request({ method: 'evm_revert', params: [id] })).toBe(true)
    }
    expect(await t.call('eth_getBlockByNumber', 'latest')).toMatchObject({ stateRoot, hash })
  })
})
