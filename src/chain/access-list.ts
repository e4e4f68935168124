/** Access lists (EIP-2930): this chain keeps and prices them, and does not use them (RSKIP-546). */
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import type { RlpItem } from '../encoding/rlp.ts'
import { framedLength } from '../encoding/rlp-frame.ts'
import { ADDRESS_BYTES } from './account.ts'
import { invalidTransaction } from './transaction-types.ts'

/** An account and slots of its storage, 32 bytes each. */
export interface AccessListEntry {
  readonly address: Hex
  readonly storageKeys: readonly Hex[]
}

/** An access list, in the order of its transaction. */
export type AccessList = readonly AccessListEntry[]

const WORD_BYTES = 32

/** The RLP items of a list. */
export function accessListItems(list: AccessList): RlpItem {
  return list.map(({ address, storageKeys }) => [fromHex(address), storageKeys.map(fromHex)])
}

/** Bytes of the RLP of a list; 1 for an empty one. */
export function accessListBytes(list: AccessList): number {
  const entries = list.map(({ storageKeys }) =>
    framedLength(ADDRESS_BYTES + 1 + framedLength((WORD_BYTES + 1) * storageKeys.length)),
  )
  return framedLength(entries.reduce((sum, length) => sum + length, 0))
}

function readEntry(item: RlpItem, index: number): AccessListEntry {
  if (item instanceof Uint8Array || item.length !== 2) {
    throw invalidTransaction(`Access list entry at index ${index} must have exactly 2 elements`)
  }
  const [address, keys] = item
  if (!(address instanceof Uint8Array) || address.length !== ADDRESS_BYTES) {
    throw invalidTransaction(`Access list entry address at index ${index} must be exactly 20 bytes`)
  }
  if (keys === undefined || keys instanceof Uint8Array) {
    throw invalidTransaction(`Access list storage keys at index ${index} must be an RLP list`)
  }
  const storageKeys = keys.map((key, at) => {
    if (key instanceof Uint8Array && key.length === WORD_BYTES) return toHex(key)
    throw invalidTransaction(`Access list storage key at entry ${index}, key ${at} must be exactly 32 bytes`)
  })
  return { address: toHex(address), storageKeys }
}

/** Reads what `accessListItems` makes. Throws `invalid-params` with the reference node's messages. */
export function readAccessList(item: RlpItem | undefined): AccessList {
  if (item === undefined || item instanceof Uint8Array) {
    throw invalidTransaction('Access list must be an RLP list')
  }
  return item.map(readEntry)
}
