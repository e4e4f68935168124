/** Blocks of the reference node, executed here: gas, fees, status, return data and receipts are the same. */
import { describe, expect, it } from 'vitest'
import {
  createReferenceReplay,
  type Difference,
  referenceChains,
  referenceFiles,
} from '../support/reference-chains.ts'

/** Blocks that differ, by file and chain, because the Bridge does not change its own state here. */
const BRIDGE_BLOCKS: Readonly<Record<string, readonly string[]>> = {
  bridge: [
    'bridge 3',
    'bridge 5',
    'bridge 6',
    'bridge 8',
    'bridge 9',
    'bridge 50',
    'bridge 54',
    'bridge 55',
    'bridge 56',
    'bridge 57',
    'bridge 58',
    'bridge 60',
    'bridge 63',
    'bridge 76',
    'bridge 77',
    'bridge 85',
    'bridge 89',
    'bridge 90',
  ],
  'dsl-01': ['bridgeDelegateCall.txt 2'],
  existence: ['existence 114'],
  inputs: ['inputs 25', 'inputs 26'],
  'random-2': ['random-2 20'],
  transfers: ['transfers 4'],
}

function blockOf({ chain, height }: Difference): string {
  return `${chain} ${height}`
}

describe('the chains of the reference node', () => {
  it('are all there', () => {
    expect(referenceFiles().length).toBe(24)
  })

  it.each(referenceFiles())('%s: every block gives what the reference node got', async (file) => {
    const replay = createReferenceReplay()
    const differences: Difference[] = []
    for (const chain of referenceChains(file)) differences.push(...(await replay.differencesOf(chain)))
    const known = BRIDGE_BLOCKS[file] ?? []
    expect(differences.filter((difference) => !known.includes(blockOf(difference)))).toEqual([])
    expect(new Set(differences.map(blockOf))).toEqual(new Set(known))
  })
})
