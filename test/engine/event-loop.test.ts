import { describe, expect, it } from 'vitest'
import { createNode } from '../../src/index.ts'

describe('mining many blocks', () => {
  it('lets timers run in between', async () => {
    const node = await createNode({ mining: 'manual' })
    let turns = 0
    let mining = true
    const count = () => {
      turns++
      if (mining) setImmediate(count)
    }
    setImmediate(count)
    await node.request({ method: 'evm_mine', params: [{ blocks: 300 }] })
    mining = false
    expect(turns).toBeGreaterThan(3)
    await node.close()
  })
})
