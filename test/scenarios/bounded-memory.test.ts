/** A node with a data directory holds the last blocks in memory, whatever the length of its chain. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { createNode } from '../../src/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Empty blocks that the store keeps decoded (`block-store.ts`), and some that are in work. */
const MOST_BLOCKS = 1_536 + 64
const BLOCKS = 2_000

it('keeps no more blocks in memory than its cache holds, and finds the others', async () => {
  const node = await createNode({ dataDir: temporaryFolder(), mining: 'manual' })
  const mined: WeakRef<object>[][] = [[], [], []]
  const stop = node.engine.events.on('chain', ({ added }) => {
    for (const { block, receipts } of added) {
      for (const [i, part] of [block, block.header, receipts].entries()) mined[i]?.push(new WeakRef(part))
    }
  })
  for (let height = 0; height < BLOCKS; height += 100) {
    await node.request({ method: 'evm_mine', params: [{ blocks: 100 }] })
  }
  // What a WeakRef was made of stays until the end of its task.
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  for (const parts of mined) {
    expect(parts).toHaveLength(BLOCKS)
    const held = parts.filter((part) => part.deref() !== undefined).length
    expect(held).toBeGreaterThan(0)
    expect(held).toBeLessThan(MOST_BLOCKS)
  }
  expect(await node.request({ method: 'eth_getBlockByNumber', params: ['0x1', false] })).toMatchObject({
    number: '0x1',
  })
  stop()
  await node.close()
})
