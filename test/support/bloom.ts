/** Membership in a bloom, over the bits that the node computes. */
import { bloomBits } from '../../src/chain/bloom.ts'
import { toHex } from '../../src/encoding/hex.ts'

/** Are all of an item's bits set? False means that the item is absent. */
export function bloomMightContain(bloom: Uint8Array, item: Uint8Array): boolean {
  return bloomBits(toHex(item)).every((bit) => ((bloom[255 - (bit >> 3)] as number) & (1 << (bit & 7))) !== 0)
}
