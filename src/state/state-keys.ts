/** Keys and values of the state in the unified trie (docs/internals/protocol.md#56-state-keys). */
import { HASH_PREFIX } from '../chain/state-proof.ts'
import {
  concat,
  EMPTY,
  fromBigInt,
  fromBigIntFixed,
  fromBigIntSigned,
  oneByte,
  toBigInt,
  toBigIntSigned,
} from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { frameStrings, readFlatStrings } from '../encoding/rlp-frame.ts'
import { RecentMap } from './recent-map.ts'

const DOMAIN = oneByte(0)
const CODE_SUFFIX = oneByte(0x80)
const STORAGE_SUFFIX = oneByte(0)

/** Value of the key above the storage of a contract. */
export const CONTRACT_MARKER = oneByte(1)

/** Keys by address and slot; those used lately are kept, since blocks touch the same ones again. */
export interface StateKeys {
  /** Key of an account; its code and its storage have longer keys that begin with it. */
  account(address: Hex): Uint8Array
  code(address: Hex): Uint8Array
  /** Key of the contract marker. */
  marker(address: Hex): Uint8Array
  /** What follows the account's key in the key of a storage cell. */
  cell(slot: bigint): Uint8Array
}

/** Keeps up to `capacity` keys of each kind. */
export function createStateKeys(capacity: number): StateKeys {
  const accounts = new RecentMap<Hex, Uint8Array>(capacity)
  const cells = new RecentMap<bigint, Uint8Array>(capacity)

  function account(address: Hex): Uint8Array {
    let key = accounts.get(address)
    if (key === undefined) {
      const bytes = fromHex(address)
      key = concat(DOMAIN, keccak256(bytes).subarray(0, HASH_PREFIX), bytes)
      accounts.set(address, key)
    }
    return key
  }

  return {
    account,
    code: (address) => concat(account(address), CODE_SUFFIX),
    marker: (address) => concat(account(address), STORAGE_SUFFIX),
    cell(slot) {
      let key = cells.get(slot)
      if (key === undefined) {
        const short = fromBigInt(slot)
        const hash = keccak256(fromBigIntFixed(slot, 32)).subarray(0, HASH_PREFIX)
        key = concat(STORAGE_SUFFIX, hash, short.length === 0 ? oneByte(0) : short)
        cells.set(slot, key)
      }
      return key
    },
  }
}

/** How the keys of the cells begin whose slots have a hash (32 bytes) from this one on. */
export function cellPrefix(hash: Hex): Uint8Array {
  return concat(STORAGE_SUFFIX, fromHex(hash).subarray(0, HASH_PREFIX))
}

/** The slot of a cell's key in bits behind the key of its account; `undefined` for a key of another kind. */
export function slotOf(bits: readonly number[]): bigint | undefined {
  const first = 8 * (1 + HASH_PREFIX)
  if (bits[0] !== 0 || bits.length <= first) return undefined
  return BigInt(`0b${bits.slice(first).join('')}`)
}

/** RLP of [nonce, balance]; the balance is a signed integer, so that 0 is one byte, and it may be below 0. */
export function encodeAccount({
  nonce,
  balance,
}: {
  readonly nonce: bigint
  readonly balance: bigint
}): Uint8Array {
  return frameStrings([fromBigInt(nonce), fromBigIntSigned(balance)])
}

/** Inverse of `encodeAccount`; throws a RangeError when malformed. */
export function decodeAccount(rlp: Uint8Array): { readonly nonce: bigint; readonly balance: bigint } {
  const [nonce, balance] = readFlatStrings(rlp) ?? []
  if (nonce === undefined || balance === undefined) throw new RangeError('malformed account in the state')
  return { nonce: toBigInt(nonce), balance: toBigIntSigned(balance) }
}

/** What a storage cell holds: a 256-bit word, or the bytes that a precompile wrote when they are no word's minimal form. */
export type StorageValue = bigint | Uint8Array

/** The bytes of a cell; none for an empty one. */
export function cellBytes(value: StorageValue): Uint8Array {
  if (typeof value !== 'bigint') return value
  return value === 0n ? EMPTY : fromBigInt(value)
}

/** The word that a cell's bytes stand for, as code reads it: their last 32 bytes. */
export function cellWord(value: StorageValue): bigint {
  return typeof value === 'bigint' ? value : toBigInt(value.subarray(-32))
}

/** The value of a cell's bytes: a word wherever its minimal form is these bytes. */
export function storageValue(bytes: Uint8Array): StorageValue {
  if (bytes.length === 0) return 0n
  return bytes.length <= 32 && bytes[0] !== 0 ? toBigInt(bytes) : bytes
}

/** Bytes of an account's key before its address. */
const ADDRESS_AT = 1 + HASH_PREFIX
/** Bytes of the key of an account whose address has 20 bytes; those of its code and storage are longer. */
const ACCOUNT_KEY_BYTES = ADDRESS_AT + 20
/** Bytes behind an account's key before the slot of a cell. */
const SLOT_AT = 1 + HASH_PREFIX

/** The address in a key of the state, whatever the key is of. */
export function addressIn(key: Uint8Array): Hex {
  return toHex(key.subarray(ADDRESS_AT, ACCOUNT_KEY_BYTES))
}

/** The slot in the key of a storage cell, `behind` the key of its account; `undefined` for the key of something else. */
export function slotIn(behind: Uint8Array): bigint | undefined {
  return behind.length > SLOT_AT ? toBigInt(behind.subarray(SLOT_AT)) : undefined
}

/** What follows the key of its account in a key of the state; empty for the account itself. */
export function behindAccount(key: Uint8Array): Uint8Array {
  return key.subarray(ACCOUNT_KEY_BYTES)
}
