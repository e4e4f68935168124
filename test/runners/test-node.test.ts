import { afterEach, describe, expect, it } from 'vitest'
import { openTestNode, type TestNode } from '../../src/runners/test-node.ts'

let opened: TestNode | undefined
afterEach(() => opened?.close())

const open = async (): Promise<TestNode> => {
  opened = await openTestNode()
  return opened
}
const call = ({ node }: TestNode, method: string, ...params: unknown[]) => node.request({ method, params })

describe('the node of a file', () => {
  it('refuses a second test at the same time', async () => {
    const file = await open()
    await file.begin()
    await expect(file.begin()).rejects.toThrow(
      'Two tests of one file run at the same time on its one chain: run them one after another, or give each a node of its own (createNode).',
    )
    await file.end()
    await file.begin()
  })

  it('is clean after a reset if it was new, and otherwise reports what was set up', async () => {
    const file = await open()
    await file.begin()
    await call(file, 'evm_mine')
    await call(file, 'hardhat_reset')
    await call(file, 'evm_snapshot')
    await call(file, 'evm_mine')
    await file.end()
    expect(await call(file, 'eth_blockNumber')).toBe('0x0')

    await call(file, 'evm_mine')
    await file.begin()
    await call(file, 'hardhat_reset')
    await expect(file.end()).rejects.toThrow(
      'The test took the chain to before its own beginning, so later tests miss what was set up: revert to snapshots of the test itself only.',
    )
  })

  it.each([
    ['evm_setIntervalMining', 3_600_000],
    ['evm_setAutomine', false],
    ['hardhat_impersonateAccount', '0x00000000000000000000000000000000000000aa'],
    ['evm_setBlockGasLimit', '0x5f5e100'],
  ])('is unchanged after %s', async (method, value) => {
    const file = await open()
    const { dev } = file.node.engine
    const state = () => [dev.miningMode(), dev.impersonation.save(), dev.headerOverrides()]
    const before = state()
    await file.begin()
    await call(file, method, value)
    expect(state()).not.toEqual(before)
    await file.end()
    expect(state()).toEqual(before)
  })
})
