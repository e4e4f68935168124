/** Members of federations: their keys, and how cells have them. */

import { uncompressedKey } from '../../../../bitcoin/signature.ts'
import { addressOfPublicKey } from '../../../../chain/signature.ts'
import { compare, concat } from '../../../../encoding/bytes.ts'
import type { Hex } from '../../../../encoding/hex.ts'
import { asBytes, asList, decodeRlp, encodeRlp, type RlpItem } from '../../../../encoding/rlp.ts'
import { frameStrings } from '../../../../encoding/rlp-frame.ts'

/** A member's compressed keys: of the parent chain, of this chain, and one without a use yet. */
export type Member = readonly [btc: Uint8Array, rsk: Uint8Array, mst: Uint8Array]

/** Order of members: by their keys. */
export function byKeys(a: Member, b: Member): number {
  return compare(concat(...a), concat(...b))
}

/** The address of a compressed key. */
export function keyAddress(key: Uint8Array): Hex {
  return addressOfPublicKey(uncompressedKey(key).subarray(1))
}

/** The address of a member's key of this chain. */
export function memberAddress([, rsk]: Member): Hex {
  return keyAddress(rsk)
}

/** A member with one key for all purposes, as federations had before RSKIP-123. */
export function singleKeyMember(key: Uint8Array): Member {
  return [key, key, key]
}

function readMember(item: readonly RlpItem[]): Member {
  const [btc, rsk, mst] = item
  return [asBytes(btc, 'key'), asBytes(rsk, 'key'), asBytes(mst, 'key')]
}

/** A member within a federation that was voted: RLP in a string; before RSKIP-123 its only key. */
export function decodeMember(item: RlpItem, hasThreeKeys: boolean): Member {
  const bytes = asBytes(item, 'member')
  return hasThreeKeys ? readMember(asList(decodeRlp(bytes), 'member')) : singleKeyMember(bytes)
}

export function encodeMember(member: Member, hasThreeKeys: boolean): Uint8Array {
  return hasThreeKeys ? frameStrings(member) : member[0]
}

/** Members of the federation that is being voted, from its cell. */
export function decodePendingMembers(bytes: Uint8Array, hasThreeKeys: boolean): readonly Member[] {
  return asList(decodeRlp(bytes), 'pending federation').map((item) =>
    hasThreeKeys ? readMember(asList(item, 'member')) : singleKeyMember(asBytes(item, 'member')),
  )
}

export function encodePendingMembers(members: readonly Member[], hasThreeKeys: boolean): Uint8Array {
  const sorted = members.toSorted(byKeys)
  return hasThreeKeys ? encodeRlp(sorted) : frameStrings(sorted.map(([btc]) => btc))
}
