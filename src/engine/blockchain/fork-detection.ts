/** The fork detection data of a block, computed from its branch (RSKIP-110, docs/internals/protocol.md#15-hashes). */
import type { ChainConfig } from '../../chain/config.ts'
import { type Header, hashForMergedMining } from '../../chain/header.ts'
import { forkDetectionData } from '../../chain/merged-mining/fork-detection.ts'
import { invalidBlock } from '../../errors.ts'
import type { Ancestry } from './ancestry.ts'

/** The reference node checks the data of blocks only above this height. */
const UNCHECKED_HEIGHT = 449
/** Hex digits of the data, which end the hash for merged mining. */
const DATA_DIGITS = 24

/** The 12 bytes of the child of the block at this height; `undefined` where the rules require none. `ancestry` ends at `parentHeight`. */
export function forkDetectionAbove(
  parentHeight: number,
  ancestry: Ancestry,
  config: ChainConfig,
): Uint8Array | undefined {
  if (!config.rulesAt(parentHeight + 1).forkDetection) return undefined
  return forkDetectionData((height) => {
    const found = ancestry(height)
    if (found === undefined) throw new Error(`no ancestor at height ${height}`)
    return found.header
  }, parentHeight)
}

/** Throws `invalid-block` when a header's proof commits to data other than its branch's. */
export function checkForkDetection(header: Header, ancestry: Ancestry, config: ChainConfig): void {
  if (header.number <= UNCHECKED_HEIGHT) return
  const expected = forkDetectionAbove(header.number - 1, ancestry, config)
  if (expected === undefined) return
  const found = hashForMergedMining(header, config)
  const wanted = hashForMergedMining(header, config, expected)
  if (found === wanted) return
  throw invalidBlock(`block ${header.number}: the fork detection data is not its branch's`, {
    rule: 'forkDetectionData',
    height: header.number,
    expected: `0x${wanted.slice(-DATA_DIGITS)}`,
    found: `0x${found.slice(-DATA_DIGITS)}`,
  })
}
