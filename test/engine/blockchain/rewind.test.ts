/** Chains of more blocks than a call of a function can have arguments: V8 ends it with a RangeError. */
import { afterEach, expect, it, vi } from 'vitest'
import { createNode, type Node } from '../../../src/index.ts'
import { BlockStore } from '../../../src/store/block-store.ts'
import type { Write } from '../../../src/store/table.ts'
import { ask } from '../../support/state-files.ts'

/** What deleting 50,000 blocks writes. */
const WRITES = 300_000

let node: Node
afterEach(async () => {
  vi.restoreAllMocks()
  await node.close()
})

/** A chain of two blocks, whose deletion is as many writes as that of a long one. */
async function longChain(): Promise<void> {
  node = await createNode({ mining: 'manual', preset: 'anvil' })
  await ask(node, 'hardhat_mine', '0x2')
  const nothing: Write = { type: 'after', run: () => undefined }
  const forgetHeight = BlockStore.prototype.forgetHeight
  vi.spyOn(BlockStore.prototype, 'forgetHeight').mockImplementation(function (this: BlockStore, height) {
    return [...forgetHeight.call(this, height), ...Array<Write>(WRITES).fill(nothing)]
  })
}

it('a long chain is reset', async () => {
  await longChain()
  await ask(node, 'evm_reset')
  expect(await ask(node, 'eth_blockNumber')).toBe('0x0')
})

it('a long chain is replaced by that of a file', async () => {
  await longChain()
  const file = await ask(node, 'anvil_dumpState', true)
  await ask(node, 'evm_mine')
  await ask(node, 'anvil_loadState', file)
  expect(await ask(node, 'eth_blockNumber')).toBe('0x2')
})
