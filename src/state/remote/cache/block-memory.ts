/** What is known about one block of the upstream, in memory. */
import type { Account } from '../../../chain/account.ts'
import { keccakHex } from '../../../encoding/hash.ts'
import type { Hex } from '../../../encoding/hex.ts'
import type { StorageValue } from '../../state-keys.ts'
import type { CacheRecord } from './records.ts'

/** An account; `undefined` does not exist. */
export interface KnownAccount {
  readonly account: Account | undefined
  readonly isProven: boolean
}

/** A cell. */
export interface KnownCell {
  readonly value: StorageValue
  readonly isProven: boolean
}

/** Accounts, cells, code and answers. */
export interface BlockMemory {
  account(address: Hex): KnownAccount | undefined
  cell(address: Hex, slot: bigint): KnownCell | undefined
  code(codeHash: Hex): Uint8Array | undefined
  answer(key: string): { readonly value: unknown } | undefined
  /** Takes a record over; false where it was known already, and not for an unproven one alone. */
  put(record: CacheRecord): boolean
  /** Everything, for a file of its own. */
  records(): Iterable<CacheRecord>
}

/** Knows nothing yet. */
export function createBlockMemory(): BlockMemory {
  const accounts = new Map<Hex, KnownAccount>()
  const cells = new Map<Hex, Map<bigint, KnownCell>>()
  const codes = new Map<Hex, Uint8Array>()
  const answers = new Map<string, { readonly value: unknown }>()

  function cellsOf(address: Hex): Map<bigint, KnownCell> {
    let own = cells.get(address)
    if (own === undefined) {
      own = new Map()
      cells.set(address, own)
    }
    return own
  }

  /** What is proven takes the place of what is not. */
  function putProvable<Key, Value extends { readonly isProven: boolean }>(
    map: Map<Key, Value>,
    key: Key,
    value: Value,
  ): boolean {
    const known = map.get(key)
    if (known !== undefined && (known.isProven || !value.isProven)) return false
    map.set(key, value)
    return true
  }

  function putNew<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): boolean {
    if (map.has(key)) return false
    map.set(key, value)
    return true
  }

  return {
    account: (address) => accounts.get(address),
    cell: (address, slot) => cells.get(address)?.get(slot),
    code: (codeHash) => codes.get(codeHash),
    answer: (key) => answers.get(key),
    put(record) {
      switch (record.kind) {
        case 'account':
          return putProvable(accounts, record.address, {
            account: record.account,
            isProven: record.isProven,
          })
        case 'cell':
          return putProvable(cellsOf(record.address), record.slot, {
            value: record.value,
            isProven: record.isProven,
          })
        case 'code':
          return putNew(codes, keccakHex(record.code), record.code)
        case 'answer':
          return putNew(answers, record.key, { value: record.value })
      }
    },
    *records() {
      for (const [address, known] of accounts) yield { kind: 'account', address, ...known }
      for (const [address, own] of cells) {
        for (const [slot, known] of own) yield { kind: 'cell', address, slot, ...known }
      }
      for (const code of codes.values()) yield { kind: 'code', code }
      for (const [key, { value }] of answers) yield { kind: 'answer', key, value }
    },
  }
}
