/** A clock that is moved as far as it goes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../src/index.ts'

describe('a clock at its limits', () => {
  let node: Node
  beforeAll(async () => {
    node = await createNode()
  })
  afterAll(() => node.close())
  const call = (method: string, ...params: unknown[]) => node.request({ method, params })

  it('does not accumulate increases while it is behind', async () => {
    expect(await call('evm_setTime', 1)).toBeLessThan(0)
    expect(await call('evm_increaseTime', 5)).toBe('0x0')
  })

  it('does not pass its latest time by increases', async () => {
    await call('evm_reset')
    expect(await call('evm_increaseTime', 8_640_000_000_000)).toBe('0x7dba8218000')
    await expect(call('evm_increaseTime', 1)).rejects.toMatchObject({
      code: -32602,
      message: 'invalid number of seconds 1: the clock would pass 8640000000000',
    })
    expect(await call('evm_increaseTime', 0)).toBe('0x7dba8218000')
    await call('evm_mine')
    expect(await call('evm_increaseTime', 1)).toBe('0x1')
  })
})
