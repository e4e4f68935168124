/** The accounts that a transaction changed, of those that it touched. */
import { EMPTY, equal } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import type { AccountSnapshot, TouchedAccount } from '../evm/tracing/prestate-tracer.ts'

/** A value before and after. */
export interface Change<T> {
  readonly from: T
  readonly to: T
}

/** A word of storage before and after; 0 where none is stored. */
export interface SlotChange extends Change<bigint> {
  readonly slot: bigint
}

/** What differs of an account; an account that does not exist has zeros. Balance in wei. */
export interface AccountChange {
  readonly address: Hex
  readonly balance?: Change<bigint>
  readonly nonce?: Change<bigint>
  readonly code?: Change<Uint8Array>
  readonly storage: readonly SlotChange[]
}

const NO_ACCOUNT: AccountSnapshot = { exists: false, balance: 0n, nonce: 0n, code: EMPTY, storage: new Map() }

function changeOf<T>(from: T, to: T, isEqual = from === to): Change<T> | undefined {
  return isEqual ? undefined : { from, to }
}

function accountChange({ address, before, after = NO_ACCOUNT }: TouchedAccount): AccountChange {
  const balance = changeOf(before.balance, after.balance)
  const nonce = changeOf(before.nonce, after.nonce)
  const code = changeOf(before.code, after.code, equal(before.code, after.code))
  const slots = new Set([...before.storage.keys(), ...after.storage.keys()])
  const storage = [...slots].flatMap((slot): readonly SlotChange[] => {
    const change = changeOf(before.storage.get(slot) ?? 0n, after.storage.get(slot) ?? 0n)
    return change === undefined ? [] : [{ slot, ...change }]
  })
  return { address, ...(balance && { balance }), ...(nonce && { nonce }), ...(code && { code }), storage }
}

/** The differences of touched accounts, in the order of first reads; accounts that are the same are left out. */
export function accountChanges(touched: readonly TouchedAccount[]): readonly AccountChange[] {
  return touched
    .map(accountChange)
    .filter(
      ({ balance, nonce, code, storage }) => (balance ?? nonce ?? code) !== undefined || storage.length > 0,
    )
}
