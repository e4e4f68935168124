/** How accounts and storage words stand in their tries: hashed keys, RLP values. */
import type { Account } from '../chain/account.ts'
import { fromBigInt, fromBigIntFixed, toBigInt } from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { asBigInt, decodeRlp, encodeRlp } from '../encoding/rlp.ts'
import { frameStrings, readFlatStrings } from '../encoding/rlp-frame.ts'
import { RecentMap } from './recent-map.ts'

/** Keys by address and slot. They are hashed once and remembered, since blocks touch the same ones again. */
export interface StateKeys {
  /** keccak-256 of an address's bytes (20, or the single byte of the REMASC sender). */
  account(address: Hex): Uint8Array
  /** keccak-256 of a slot's 32 bytes. */
  slot(slot: bigint): Uint8Array
}

/** Remembers up to `capacity` keys of each sort. */
export function createStateKeys(capacity: number): StateKeys {
  const accounts = new RecentMap<Hex, Uint8Array>(capacity)
  const slots = new RecentMap<bigint, Uint8Array>(capacity)
  return {
    account(address) {
      let key = accounts.get(address)
      if (key === undefined) {
        key = keccak256(fromHex(address))
        accounts.set(address, key)
      }
      return key
    },
    slot(slot) {
      let key = slots.get(slot)
      if (key === undefined) {
        key = keccak256(fromBigIntFixed(slot, 32))
        slots.set(slot, key)
      }
      return key
    },
  }
}

/** RLP of [nonce, balance, storage root, code hash] (Yellow Paper 4.1). */
export function encodeAccount(account: Account): Uint8Array {
  const { nonce, balance, storageRoot, codeHash } = account
  return frameStrings([fromBigInt(nonce), fromBigInt(balance), fromHex(storageRoot), fromHex(codeHash)])
}

/** Inverse of `encodeAccount`; throws a RangeError when malformed. */
export function decodeAccount(rlp: Uint8Array): Account {
  const fields = readFlatStrings(rlp)
  if (fields?.length !== 4) throw new RangeError('malformed account in the state')
  const [nonce, balance, storageRoot, codeHash] = fields as [Uint8Array, Uint8Array, Uint8Array, Uint8Array]
  return {
    nonce: toBigInt(nonce),
    balance: toBigInt(balance),
    storageRoot: toHex(storageRoot),
    codeHash: toHex(codeHash),
  }
}

/** RLP of a storage word's minimal bytes; `undefined` for 0, which is not stored. */
export function encodeWord(word: bigint): Uint8Array | undefined {
  return word === 0n ? undefined : encodeRlp(fromBigInt(word))
}

/** Inverse of `encodeWord`. */
export function decodeWord(rlp: Uint8Array | undefined): bigint {
  return rlp === undefined ? 0n : asBigInt(decodeRlp(rlp), 'storage word')
}
