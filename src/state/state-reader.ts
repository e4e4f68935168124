/** A state at one root as running code reads it. What was read is kept, since a root never changes. */
import type { Account } from '../chain/account.ts'
import type { Hex } from '../encoding/hex.ts'
import type { TrieNode } from '../encoding/trie-node.ts'
import type { StateReader } from './model.ts'
import { cellWord, type StorageValue } from './state-keys.ts'

/** Accounts and cells kept per reader, together; beyond it all are dropped and gathered anew. */
const CAPACITY = 50_000

/** An account as it was found, and its node, below which its storage is. */
export interface AccountAt {
  readonly account: Account
  readonly node: TrieNode
}

/** Reads that walk the trie. */
export interface StateLookups {
  account(address: Hex): AccountAt | undefined
  cell(account: TrieNode, slot: bigint): StorageValue
  cells(account: TrieNode): ReadonlyMap<bigint, StorageValue>
  code(codeHash: Hex): Uint8Array
}

interface Known {
  readonly found: AccountAt | undefined
  /** Made with the first cell: most accounts have none. */
  cells: Map<bigint, StorageValue> | undefined
  /** All that are not empty, once they were asked for. */
  all: ReadonlyMap<bigint, StorageValue> | undefined
}

const NO_CELLS: ReadonlyMap<bigint, StorageValue> = new Map()

/** Puts a bounded cache in front of lookups at one root. */
export function createStateReader(lookups: StateLookups): StateReader {
  const known = new Map<Hex, Known>()
  let size = 0

  function limitSize(added = 1): void {
    size += added
    if (size <= CAPACITY) return
    known.clear()
    size = added
  }

  function look(address: Hex): Known {
    let entry = known.get(address)
    if (entry === undefined) {
      entry = { found: lookups.account(address), cells: undefined, all: undefined }
      limitSize()
      known.set(address, entry)
    }
    return entry
  }

  function cell(address: Hex, slot: bigint): StorageValue {
    const entry = look(address)
    if (entry.found === undefined || entry.found.node.isLeaf) return 0n
    let value = entry.cells?.get(slot)
    if (value === undefined) {
      value = lookups.cell(entry.found.node, slot)
      limitSize()
      entry.cells ??= new Map()
      entry.cells.set(slot, value)
    }
    return value
  }

  function cells(address: Hex): ReadonlyMap<bigint, StorageValue> {
    const entry = look(address)
    if (entry.found === undefined || entry.found.node.isLeaf) return NO_CELLS
    const all = entry.all ?? lookups.cells(entry.found.node)
    if (entry.all === undefined && all.size <= CAPACITY) {
      limitSize(all.size)
      entry.all = all
    }
    return all
  }

  return {
    account: (address) => look(address).found?.account,
    cell,
    storage: (address, slot) => cellWord(cell(address, slot)),
    cells,
    code: lookups.code,
  }
}
