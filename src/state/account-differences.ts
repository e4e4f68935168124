/** The keys in which two states differ, as differences of accounts. */
import type { Account } from '../chain/account.ts'
import type { Hex } from '../encoding/hex.ts'
import type { TrieValue } from '../encoding/trie-node.ts'
import type { KeyDifference } from './key-differences.ts'
import type { StateReader } from './model.ts'
import { addressIn, behindAccount, type StorageValue, slotIn } from './state-keys.ts'

/** How one account differs between two states. */
export interface AccountDifference {
  readonly address: Hex
  /** `undefined` where there is no such account. */
  readonly before: Account | undefined
  readonly after: Account | undefined
  /** The cells that differ, in the order of their keys. */
  readonly cells: ReadonlyMap<bigint, { readonly before: StorageValue; readonly after: StorageValue }>
}

interface States {
  readonly before: StateReader
  readonly after: StateReader
  /** The value of a storage cell, 0 where there is none. */
  readonly read: (value: TrieValue | undefined) => StorageValue
}

/** One difference for each account, of keys in their order: those of one account follow each other. */
export function* byAccount(
  differences: Iterable<KeyDifference>,
  { before, after, read }: States,
): Generator<AccountDifference, undefined> {
  let address: Hex | undefined
  let cells = new Map<bigint, { before: StorageValue; after: StorageValue }>()
  const differenceOf = (of: Hex): AccountDifference => ({
    address: of,
    before: before.account(of),
    after: after.account(of),
    cells,
  })
  for (const difference of differences) {
    const of = addressIn(difference.key)
    if (of !== address) {
      if (address !== undefined) yield differenceOf(address)
      address = of
      cells = new Map()
    }
    const slot = slotIn(behindAccount(difference.key))
    if (slot !== undefined) {
      cells.set(slot, { before: read(difference.before), after: read(difference.after) })
    }
  }
  if (address !== undefined) yield differenceOf(address)
}
