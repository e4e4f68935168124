/** A state at one root as running code reads it. What was read is kept, since a root never changes. */
import { type Account, EMPTY_CODE_HASH } from '../chain/account.ts'
import type { Hex } from '../encoding/hex.ts'
import type { TrieNode } from '../encoding/trie-node.ts'
import type { StateReader } from './model.ts'
import type { StateChanges } from './overlay.ts'
import { cellWord, type StorageValue, storageValue } from './state-keys.ts'

/** Accounts and cells kept per reader, together; beyond it all are dropped and gathered anew. */
export const READER_CAPACITY = 50_000

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
  account: Account | undefined
  /** The account's node when there is something below it; `unread` since its storage was changed. */
  node: TrieNode | undefined | 'unread'
  /** Made with the first cell: most accounts have none. */
  cells: Map<bigint, StorageValue> | undefined
  /** All that are not empty, once they were asked for. */
  all: ReadonlyMap<bigint, StorageValue> | undefined
}

const NO_CELLS: ReadonlyMap<bigint, StorageValue> = new Map()

function nodeWithStorage(found: AccountAt | undefined): TrieNode | undefined {
  return found === undefined || found.node.isLeaf ? undefined : found.node
}

/** Does a change leave code and marker as they are, so that all of the account is known? */
function isSimple(before: Account | undefined, { codeHash, isContract }: Account): boolean {
  if (before === undefined) return codeHash === EMPTY_CODE_HASH && !isContract
  return before.codeHash === codeHash && before.isContract === isContract
}

/** What was read of one state. */
export class StateKnowledge {
  readonly #accounts = new Map<Hex, Known>()
  #size = 0

  get(address: Hex): Known | undefined {
    return this.#accounts.get(address)
  }

  add(address: Hex, found: AccountAt | undefined): Known {
    const entry: Known = {
      account: found?.account,
      node: nodeWithStorage(found),
      cells: undefined,
      all: undefined,
    }
    this.count(1)
    this.#accounts.set(address, entry)
    return entry
  }

  /** Counts what is about to be kept. */
  count(added: number): void {
    this.#size += added
    if (this.#size <= READER_CAPACITY) return
    this.#accounts.clear()
    this.#size = added
  }

  /** Makes it the knowledge of the state with changes applied; what they do not show in full is dropped. */
  apply({ accounts, storage }: StateChanges): void {
    for (const [address, account] of accounts) {
      const entry = this.#accounts.get(address)
      if (entry === undefined) continue
      if (account !== null && isSimple(entry.account, account)) entry.account = account
      else this.#accounts.delete(address)
    }
    for (const [address, { wiped, slots }] of storage) {
      const entry = this.#accounts.get(address)
      if (entry === undefined) continue
      if (wiped) {
        this.#accounts.delete(address)
        continue
      }
      entry.node = 'unread'
      entry.all = undefined
      entry.cells ??= new Map()
      const before = entry.cells.size
      for (const [slot, value] of slots) {
        entry.cells.set(slot, typeof value === 'bigint' ? value : storageValue(value))
      }
      this.count(entry.cells.size - before)
    }
  }
}

/** A reader that keeps what it has read. */
export interface KeepingReader extends StateReader {
  /** Moves what it has read to another reader, and starts empty. */
  handOver(): StateKnowledge
}

/** Puts a bounded cache in front of lookups at one root; `known` is what is known of the state there. */
export function createStateReader(lookups: StateLookups, known = new StateKnowledge()): KeepingReader {
  let kept = known

  function look(address: Hex): Known {
    return kept.get(address) ?? kept.add(address, lookups.account(address))
  }

  function nodeOf(entry: Known, address: Hex): TrieNode | undefined {
    if (entry.node === 'unread') entry.node = nodeWithStorage(lookups.account(address))
    return entry.node
  }

  function cell(address: Hex, slot: bigint): StorageValue {
    const entry = look(address)
    const value = entry.cells?.get(slot)
    if (value !== undefined) return value
    const node = nodeOf(entry, address)
    if (node === undefined) return 0n
    const found = lookups.cell(node, slot)
    kept.count(1)
    entry.cells ??= new Map()
    entry.cells.set(slot, found)
    return found
  }

  function cells(address: Hex): ReadonlyMap<bigint, StorageValue> {
    const entry = look(address)
    const node = nodeOf(entry, address)
    if (node === undefined) return NO_CELLS
    const all = entry.all ?? lookups.cells(node)
    if (entry.all === undefined && all.size <= READER_CAPACITY) {
      kept.count(all.size)
      entry.all = all
    }
    return all
  }

  return {
    account: (address) => look(address).account,
    cell,
    storage: (address, slot) => cellWord(cell(address, slot)),
    cells,
    code: lookups.code,
    handOver() {
      const given = kept
      kept = new StateKnowledge()
      return given
    },
  }
}
