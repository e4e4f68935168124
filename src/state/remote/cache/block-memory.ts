/** What is known about one block of the upstream, in memory. */
import type { Account } from '../../../chain/account.ts'
import { keccakHex } from '../../../encoding/hash.ts'
import type { Hex } from '../../../encoding/hex.ts'
import type { StorageValue } from '../../state-keys.ts'
import type { CacheRecord } from './records.ts'

/** Accounts, cells, code and answers. */
export interface BlockMemory {
  account(address: Hex): { readonly account: Account | undefined } | undefined
  cell(address: Hex, slot: bigint): StorageValue | undefined
  code(codeHash: Hex): Uint8Array | undefined
  answer(key: string): { readonly value: unknown } | undefined
  /** Takes a record over; false where it was known. */
  put(record: CacheRecord): boolean
  /** Everything, for a file of its own. */
  records(): Iterable<CacheRecord>
}

/** Knows nothing yet. */
export function createBlockMemory(): BlockMemory {
  const accounts = new Map<Hex, { readonly account: Account | undefined }>()
  const cells = new Map<Hex, Map<bigint, StorageValue>>()
  const codes = new Map<Hex, Uint8Array>()
  const answers = new Map<string, { readonly value: unknown }>()

  function putCell(address: Hex, slot: bigint, value: StorageValue): boolean {
    let own = cells.get(address)
    if (own === undefined) {
      own = new Map()
      cells.set(address, own)
    }
    if (own.has(slot)) return false
    own.set(slot, value)
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
          return putNew(accounts, record.address, { account: record.account })
        case 'cell':
          return putCell(record.address, record.slot, record.value)
        case 'code':
          return putNew(codes, keccakHex(record.code), record.code)
        case 'answer':
          return putNew(answers, record.key, { value: record.value })
      }
    },
    *records() {
      for (const [address, { account }] of accounts) yield { kind: 'account', address, account }
      for (const [address, own] of cells) {
        for (const [slot, value] of own) yield { kind: 'cell', address, slot, value }
      }
      for (const code of codes.values()) yield { kind: 'code', code }
      for (const [key, { value }] of answers) yield { kind: 'answer', key, value }
    },
  }
}
