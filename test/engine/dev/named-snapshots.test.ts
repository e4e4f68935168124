/** Snapshots with names, those that outlive a restart, and what differs between two of them. */
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createNode, type NodeOptions } from '../../../src/index.ts'
import { saying } from '../../support/refusals.ts'
import { ask } from '../../support/state-files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const X = `0x${'1a'.repeat(20)}`
const NOW = 1_700_000_000
const word = (digits: string) => `0x${digits.padStart(64, '0')}`

async function nodeWith(options: NodeOptions = {}) {
  const node = await createNode({ now: () => NOW, ...options })
  onTestFinished(() => node.close())
  return node
}

describe('a named snapshot', () => {
  it('is listed, reverted to by name, and frees its name when it is dropped', async () => {
    const node = await nodeWith()
    expect(await ask(node, 'evm_snapshot', 'first')).toBe('0x1')
    await ask(node, 'evm_mine')
    expect(await ask(node, 'anvil_snapshot', 'the second: a/b', { keep: false })).toBe('0x2')
    expect(await ask(node, 'evm_snapshot')).toBe('0x3')
    expect(await ask(node, 'evm_snapshots')).toEqual([
      { id: '0x1', name: 'first', height: 0, time: NOW, bytes: expect.any(Number) },
      { id: '0x2', name: 'the second: a/b', height: 1, time: NOW, bytes: expect.any(Number) },
      { id: '0x3', name: null, height: 1, time: NOW, bytes: expect.any(Number) },
    ])
    expect(await ask(node, 'evm_revert', 'first')).toBe(true)
    expect(await ask(node, 'eth_blockNumber')).toBe('0x0')
    expect(await ask(node, 'evm_snapshots')).toHaveLength(1)
    expect(await ask(node, 'evm_snapshot', 'the second: a/b')).toBe('0x2')
    expect(await ask(node, 'evm_revert', '0x1')).toBe(true)
  })

  it('has a unique name that does not have the form of an id', async () => {
    const node = await nodeWith()
    await ask(node, 'evm_snapshot', 'one')
    await expect(ask(node, 'evm_snapshot', 'one')).rejects.toMatchObject({
      code: -32602,
      message: 'name: there is a snapshot "one" already; revert to it, or choose another name',
    })
    expect(await ask(node, 'evm_snapshots')).toHaveLength(1)
    for (const name of ['0x1', '7', '', ' a', 'a'.repeat(101), 5]) {
      await expect(ask(node, 'evm_snapshot', name)).rejects.toMatchObject({ code: -32602 })
    }
    await expect(ask(node, 'evm_revert', 'two')).rejects.toThrow(saying('invalid snapshot id two'))
    await expect(ask(node, 'evm_diff', 'two')).rejects.toThrow(saying('invalid snapshot id two'))
    await expect(ask(node, 'evm_diff', '0x9')).rejects.toThrow(saying('There is no such snapshot.'))
  })
})

it('a revert to a snapshot of a replaced block returns false, and later snapshots stay', async () => {
  const node = await nodeWith()
  await ask(node, 'evm_mine')
  await ask(node, 'evm_snapshot')
  await ask(node, 'evm_reorg', { depth: 1 })
  await ask(node, 'evm_snapshot')
  expect(await ask(node, 'evm_revert', '0x1')).toBe(false)
  expect(await ask(node, 'evm_revert', '0x2')).toBe(true)
})

it('a difference lists no code for a new account without code', async () => {
  const node = await nodeWith()
  const to = '0x00000000000000000000000000000000000ab1e5'
  await ask(node, 'evm_snapshot', 'before')
  await ask(node, 'hardhat_setBalance', to, '0x7')
  expect((await ask(node, 'evm_diff', 'before')).accounts[to]).toEqual({
    balance: { from: '0x0', to: '0x7' },
  })
  expect(
    (await ask(node, 'evm_snapshot', 'after')) && (await ask(node, 'evm_diff', 'after', 'before')),
  ).toEqual({
    accounts: { [to]: { balance: { from: '0x7', to: '0x0' } } },
  })
})

it('the length of a record counts the transactions of the pool', async () => {
  const node = await nodeWith({ mining: 'manual' })
  const [from] = await ask(node, 'eth_accounts')
  for (let count = 0; count < 4; count++) {
    await ask(node, 'evm_snapshot')
    await ask(node, 'eth_sendTransaction', { from, to: from, value: '0x1', gasPrice: '0x0' })
  }
  const [none = 0, ...others] = (await ask(node, 'evm_snapshots')).map((one: { bytes: number }) => one.bytes)
  // A hash has 66 characters and two quotes; a comma stands before each but the first.
  expect(others.map((bytes: number) => bytes - none)).toEqual([68, 68 + 69, 68 + 2 * 69])
})

describe('a kept snapshot', () => {
  it('remains after a restart with its id, name, clock and overrides; others do not', async () => {
    const dataDir = join(temporaryFolder(), 'data')
    const first = await createNode({ dataDir, lastingClock: true })
    await ask(first, 'evm_snapshot', 'lost')
    await ask(first, 'evm_mine')
    await ask(first, 'evm_increaseTime', 1000)
    await ask(first, 'hardhat_setCoinbase', X)
    await ask(first, 'evm_setBlockGasLimit', '0x1c9c380')
    await ask(first, 'hardhat_setBalance', X, '0x5')
    expect(await ask(first, 'evm_snapshot', 'kept', { keep: true })).toBe('0x2')
    await ask(first, 'evm_snapshot', 'also kept', { keep: true })
    await ask(first, 'hardhat_setBalance', X, '0x6')
    await ask(first, 'evm_mine')
    const [, kept] = await ask(first, 'evm_snapshots')
    await first.close()

    const second = await createNode({ dataDir, lastingClock: true })
    const listed = await ask(second, 'evm_snapshots')
    expect(listed.map(({ id, name }: { id: string; name: string }) => [id, name])).toEqual([
      ['0x2', 'kept'],
      ['0x3', 'also kept'],
    ])
    expect(listed[0]).toEqual(kept)
    expect(await ask(second, 'evm_snapshot')).toBe('0x4')
    expect(await ask(second, 'evm_revert', 'kept')).toBe(true)
    expect(await ask(second, 'eth_blockNumber')).toBe('0x1')
    expect(await ask(second, 'eth_getBalance', X, 'latest')).toBe('0x5')
    await ask(second, 'evm_mine')
    expect(await ask(second, 'eth_getBlockByNumber', 'latest', false)).toMatchObject({
      miner: X,
      gasLimit: '0x1c9c380',
    })
    await second.close()

    // The revert dropped the later one on disk as well; a reset drops all.
    const third = await createNode({ dataDir })
    expect(await ask(third, 'evm_snapshots')).toHaveLength(1)
    await ask(third, 'evm_reset')
    await third.close()
    const fourth = await createNode({ dataDir })
    expect(await ask(fourth, 'evm_snapshots')).toEqual([])
    await fourth.close()
  })
})

describe('a comparison', () => {
  it('lists exactly what differs', async () => {
    const node = await nodeWith({ mining: 'manual' })
    const [from] = await ask(node, 'eth_accounts')
    await ask(node, 'hardhat_setStorageAt', X, '0x1', word('1'))
    await ask(node, 'hardhat_setStorageAt', X, '0x2', word('2'))
    const waiting = await ask(node, 'eth_sendTransaction', { from, to: from, value: '0x1', nonce: '0x5' })
    await ask(node, 'evm_snapshot', 'before')
    expect(await ask(node, 'evm_diff', 'before')).toEqual({ accounts: {} })
    await ask(node, 'hardhat_setStorageAt', X, '0x1', word('2a'))
    await ask(node, 'hardhat_setCode', X, '0x6001')
    await ask(node, 'hardhat_setNonce', X, '0x3')
    await ask(node, 'hardhat_setBalance', X, '0x7')
    await ask(node, 'evm_snapshot', 'edited')
    const edits = {
      balance: { from: '0x0', to: '0x7' },
      nonce: { from: '0x0', to: '0x3' },
      code: { from: '0x', to: '0x6001' },
      storage: { [word('1')]: { from: word('1'), to: word('2a') } },
    }
    expect(await ask(node, 'evm_diff', 'before', 'edited')).toEqual({ accounts: { [X]: edits } })
    const back = await ask(node, 'evm_diff', '0x2', 'before')
    expect(back.accounts[X].storage).toEqual({ [word('1')]: { from: word('2a'), to: word('1') } })

    const sent = await ask(node, 'eth_sendTransaction', { from, to: X, value: '0x1', gasPrice: '0x0' })
    await ask(node, 'anvil_dropTransaction', waiting)
    expect((await ask(node, 'evm_diff', 'before', null)).pool).toEqual({ removed: [waiting], added: [sent] })
    await ask(node, 'evm_mine')
    const { hash } = await ask(node, 'eth_getBlockByNumber', 'latest', false)
    const now = await ask(node, 'evm_diff', 'edited')
    expect(now.blocks).toEqual({ removed: [], added: [hash] })
    expect(now.pool).toEqual({ removed: [waiting], added: [] })
    expect(now.accounts[X]).toEqual({ balance: { from: '0x7', to: '0x8' } })
    expect(now.accounts[from].nonce).toEqual({ from: '0x0', to: '0x1' })
  })
})
