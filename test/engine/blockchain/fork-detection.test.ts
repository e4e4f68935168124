import { expect, it } from 'vitest'
import { CHAINS } from '../../../src/chain/config.ts'
import { forkDetectionData } from '../../../src/chain/merged-mining/fork-detection.ts'
import type { Ancestry } from '../../../src/engine/blockchain/ancestry.ts'
import { checkForkDetection, forkDetectionAbove } from '../../../src/engine/blockchain/fork-detection.ts'
import { localHeader } from '../../chain/merged-mining/local-header.ts'
import { mineHeader } from '../../support/mined-header.ts'
import { saying } from '../../support/refusals.ts'

const config = CHAINS.regtest
const plain = localHeader(1)
const ancestors = new Map(
  Array.from({ length: 520 }, (_, number) => {
    const header = { ...plain, number, bitcoinHeader: new Uint8Array(80).fill(number) }
    return [number, { hash: plain.parentHash, header }]
  }),
)
const ancestry: Ancestry = (height) => ancestors.get(height)

function headerWith(number: number, forkDetection: Uint8Array) {
  const header = { ...plain, number }
  return mineHeader(header, config, { forkDetectionData: forkDetection, time: header.timestamp })
}

it('is that of the branch above height 449, and absent below', () => {
  expect(forkDetectionAbove(447, ancestry, config)).toBeUndefined()
  const data = forkDetectionAbove(499, ancestry, config)
  expect(data).toEqual(forkDetectionData((height) => ancestry(height)?.header ?? plain, 499))
  expect(() => forkDetectionAbove(600, ancestry, config)).toThrow(saying('no ancestor at height 576'))
})

it('is what an imported header above height 449 must commit to', () => {
  const data = forkDetectionAbove(499, ancestry, config) ?? new Uint8Array(0)
  const wrong = data.map((byte, index) => (index === 3 ? byte ^ 1 : byte))
  expect(() => checkForkDetection(headerWith(500, data), ancestry, config)).not.toThrow()
  expect(() => checkForkDetection(headerWith(500, wrong), ancestry, config)).toThrow(
    saying("block 500: the fork detection data is not its branch's"),
  )
  // At height 449 itself the reference node does not check.
  expect(() => checkForkDetection(headerWith(449, wrong), ancestry, config)).not.toThrow()
})
