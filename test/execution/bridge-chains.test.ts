/** Calls of the Bridge that the reference node's classes executed: blocks, cells, logs and simulated calls are the same here. */
import { describe, expect, it } from 'vitest'
import { bridgeChain, bridgeChainNames, firstDifference } from '../support/bridge-chains.ts'

/** The first step of a chain that differs, until all of the Bridge is there. */
const REACHED: Readonly<Record<string, number>> = {
  'change-1': 5,
  'change-2': 4,
  'federation-1': 170,
  'federation-2': 158,
  'federation-3': 166,
  'flyover-1': 43,
  'pegin-1': 141,
  'pegout-1': 7,
  'pegout-2': 6,
  'random-1': 5,
  'random-2': 7,
  'random-4': 5,
  'votes-1': 81,
}

describe('the chains of Bridge calls', () => {
  it('are all present', () => {
    expect(bridgeChainNames()).toHaveLength(16)
  })

  it.each(bridgeChainNames())('%s: every step is as the reference node has it', async (name) => {
    expect(await firstDifference(bridgeChain(name), REACHED[name])).toEqual([])
  })
})
