/** Commands that mine many blocks: the block itself is that of the head, which takes no time. */
import { afterEach, expect, it, vi } from 'vitest'
import { NextBlock } from '../../src/engine/next-block.ts'
import { createNode, type Node } from '../../src/index.ts'
import { ask } from '../support/state-files.ts'

let node: Node
afterEach(async () => {
  vi.restoreAllMocks()
  await node.close()
})

it.each([
  [10_000, 10_000],
  [10_001, 1],
])('of %i mined blocks holds %i', async (count, held) => {
  node = await createNode({ mining: 'manual' })
  const built = await node.engine.commands.mine()
  const [block] = built
  const mine = vi.spyOn(NextBlock.prototype, 'mine').mockResolvedValue({ block, built: undefined } as never)
  expect(await node.engine.commands.mine({ blocks: count })).toHaveLength(held)
  expect(mine).toHaveBeenCalledTimes(count)
})

it('refuses an interval that would take the last block beyond the latest timestamp', async () => {
  node = await createNode({ mining: 'manual' })
  const asked = node.engine.commands.mine({ blocks: 1_000_000, interval: 10 ** 9 })
  await expect(asked).rejects.toThrow('interval 1000000000: the last block would pass the timestamp')
  expect(await ask(node, 'eth_blockNumber')).toBe('0x0')
})
