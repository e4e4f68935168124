/** Calls of the Bridge that the reference node's classes executed: blocks, cells, logs and simulated calls are the same here. */
import { describe, expect, it } from 'vitest'
import { bridgeChain, bridgeChainNames, firstDifference } from '../support/bridge-chains.ts'

describe('the chains of Bridge calls', () => {
  it('are all present', () => {
    expect(bridgeChainNames()).toHaveLength(16)
  })

  it.each(bridgeChainNames())('%s: every step is as the reference node has it', async (name) => {
    expect(await firstDifference(bridgeChain(name))).toEqual([])
  })
})
