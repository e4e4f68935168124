/** The roots by which proofs about a block of the parent chain are recognized. */
import { reversed } from '../../../../bitcoin/hash.ts'
import { decodeParentHeader } from '../../../../chain/merged-mining/parent-header.ts'
import { equal, fromBigIntFixed } from '../../../../encoding/bytes.ts'
import type { StoredHeader } from '../../../../state/bridge-headers.ts'
import type { BridgeState } from '../method.ts'

/**
 * Is it the root (raw order) of a block's transactions, or that of its wtxids which a registered coinbase transaction
 * commits to (RSKIP-143)?
 */
export function isRootOf({ peg }: BridgeState, header: StoredHeader, root: Uint8Array): boolean {
  if (equal(root, decodeParentHeader(header.bytes).merkleRoot)) return true
  const witnessRoot = peg.witnessRoot(reversed(fromBigIntFixed(header.hash, 32)))
  return witnessRoot !== undefined && equal(root, witnessRoot)
}
