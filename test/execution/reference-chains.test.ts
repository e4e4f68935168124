/** Blocks of the reference node, executed here: gas, fees, status, return data and receipts are the same. */
import { describe, expect, it } from 'vitest'
import { CHAINS } from '../../src/chain/config.ts'
import { createBothVm } from '../../src/ethereumjs/both.ts'
import {
  createReferenceReplay,
  type Difference,
  referenceChains,
  referenceFiles,
} from '../support/reference-chains.ts'

describe('the chains of the reference node', () => {
  it('are all present', () => {
    expect(referenceFiles().length).toBe(24)
  })

  it.each(referenceFiles())(
    '%s: every block gives the result of the reference node in both EVMs',
    async (file) => {
      const replay = createReferenceReplay(createBothVm({ chainId: CHAINS.regtest.chainId }))
      const differences: Difference[] = []
      for (const chain of referenceChains(file)) differences.push(...(await replay.differencesOf(chain)))
      expect(differences).toEqual([])
    },
  )
})
