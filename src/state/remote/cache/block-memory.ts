/** What is known about one block of the upstream, in memory. */
import type { Account } from '../../../chain/account.ts'
import { keccakHex } from '../../../encoding/hash.ts'
import type { Hex } from '../../../encoding/hex.ts'
import type { StorageValue } from '../../state-keys.ts'
import type { CacheRecord } from './records.ts'

/** An account; `undefined`: it does not exist. */
export interface KnownAccount {
  readonly account: Account | undefined
  readonly isProven: boolean
}

/** The value of a storage cell. */
export interface KnownCell {
  readonly value: StorageValue
  readonly isProven: boolean
}

/** What is proven replaces what is not. False: nothing changed. */
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

/** Accounts, cells, code and answers of one block. */
export class BlockMemory {
  readonly #accounts = new Map<Hex, KnownAccount>()
  readonly #cells = new Map<Hex, Map<bigint, KnownCell>>()
  readonly #codes = new Map<Hex, Uint8Array>()
  readonly #answers = new Map<string, { readonly value: unknown }>()

  account(address: Hex): KnownAccount | undefined {
    return this.#accounts.get(address)
  }

  cell(address: Hex, slot: bigint): KnownCell | undefined {
    return this.#cells.get(address)?.get(slot)
  }

  code(codeHash: Hex): Uint8Array | undefined {
    return this.#codes.get(codeHash)
  }

  answer(key: string): { readonly value: unknown } | undefined {
    return this.#answers.get(key)
  }

  /** Adds a record. False where it is known already; a proven record replaces one that is not proven. */
  put(record: CacheRecord): boolean {
    switch (record.kind) {
      case 'account': {
        const { account, isProven } = record
        return putProvable(this.#accounts, record.address, { account, isProven })
      }
      case 'cell': {
        const { value, isProven } = record
        return putProvable(this.#cellsOf(record.address), record.slot, { value, isProven })
      }
      case 'code':
        return putNew(this.#codes, keccakHex(record.code), record.code)
      case 'answer':
        return putNew(this.#answers, record.key, { value: record.value })
    }
  }

  /** All records, each once. */
  *records(): Iterable<CacheRecord> {
    for (const [address, known] of this.#accounts) yield { kind: 'account', address, ...known }
    for (const [address, own] of this.#cells) {
      for (const [slot, known] of own) yield { kind: 'cell', address, slot, ...known }
    }
    for (const code of this.#codes.values()) yield { kind: 'code', code }
    for (const [key, { value }] of this.#answers) yield { kind: 'answer', key, value }
  }

  #cellsOf(address: Hex): Map<bigint, KnownCell> {
    let own = this.#cells.get(address)
    if (own === undefined) {
      own = new Map()
      this.#cells.set(address, own)
    }
    return own
  }
}
