/**
 * How a trie of a fork keeps what was written since the fork began. Written accounts and cells stand as in any state; the
 * account of the fork point, whose address belongs to no key, holds what only a fork needs: in cell 0 the hash of
 * the block on which the fork stands, as nonce its height, and flags by address. The root is therefore bound to that block.
 */
import { type Account, EMPTY_ACCOUNT } from '../../chain/account.ts'
import { concat } from '../../encoding/bytes.ts'
import { type Hex, hexToBigInt, toFixedHex } from '../../encoding/hex.ts'
import type { StateReader } from '../model.ts'
import type { StateChanges } from '../overlay.ts'
import type { RemoteBlockId } from '../remote/model.ts'
import { cellWord, type StorageValue } from '../state-keys.ts'

/** The account of the fork point: ASCII `tandem.fork.point`. */
export const FORK_ACCOUNT: Hex = '0x74616e64656d2e666f726b2e706f696e74000000'

const HASH_SLOT = 0n
/** Slots of flags begin here: 20 bytes of address follow. */
const FLAG_SLOTS = 1n << 160n

const WIPED = 1n
const DELETED = 2n

/** The value of an empty cell where the upstream's cell may not be empty. */
const TOMBSTONE = Uint8Array.of(0)

/** Is the upstream's storage of the account hidden? */
export const isWiped = (flags: bigint): boolean => (flags & WIPED) !== 0n

/** Was the upstream's account deleted? */
export const isDeleted = (flags: bigint): boolean => (flags & DELETED) !== 0n

/** The flags of an account that was deleted, or of one whose storage was. */
export const flagsOf = ({ deleted }: { readonly deleted: boolean }): bigint =>
  deleted ? WIPED | DELETED : WIPED

const isBytes = (value: StorageValue): value is Uint8Array => typeof value !== 'bigint'

export const isTombstone = (value: StorageValue): boolean =>
  isBytes(value) && value.length === 1 && value[0] === 0

/** A cell as the trie keeps it: bytes that begin with zero get another zero, so that none is a tombstone. */
export function escaped(value: StorageValue, isOverRemote: boolean): StorageValue {
  if (value === 0n || (isBytes(value) && value.length === 0)) return isOverRemote ? TOMBSTONE : 0n
  return isBytes(value) && value[0] === 0 ? concat(TOMBSTONE, value) : value
}

/** The cell that the trie keeps in this form; no tombstone. */
export const unescaped = (value: StorageValue): StorageValue =>
  isBytes(value) && value[0] === 0 ? value.subarray(1) : value

/** The slot of the flags of an account. */
export const flagSlot = (address: Hex): bigint => FLAG_SLOTS + hexToBigInt(address)

/** The address whose flags a slot has; `undefined` for another slot. */
export const flaggedAddress = (slot: bigint): Hex | undefined =>
  slot < FLAG_SLOTS ? undefined : toFixedHex(slot - FLAG_SLOTS, 20)

/** The changes that make the state of a fork on which nothing was written yet, out of the empty trie. */
export function forkPointChanges({ number, hash }: RemoteBlockId): StateChanges {
  const account: Account = { ...EMPTY_ACCOUNT, nonce: BigInt(number), isContract: true }
  return {
    accounts: new Map([[FORK_ACCOUNT, account]]),
    storage: new Map([[FORK_ACCOUNT, { wiped: false, slots: new Map([[HASH_SLOT, hexToBigInt(hash)]]) }]]),
    code: new Map(),
  }
}

/** The block on which a fork's state stands; `undefined` for a state of no fork. */
export function forkPointIn(local: StateReader): RemoteBlockId | undefined {
  const account = local.account(FORK_ACCOUNT)
  if (account === undefined) return undefined
  const hash = cellWord(local.cell(FORK_ACCOUNT, HASH_SLOT))
  return { number: Number(account.nonce), hash: toFixedHex(hash, 32) }
}
