/** Changes over a state that does not change itself, with an undo list for checkpoints and a cache of what was read. */
import { type Account, EMPTY_ACCOUNT, EMPTY_CODE_HASH } from '../chain/account.ts'
import { keccakHex } from '../encoding/hash.ts'
import type { Hex } from '../encoding/hex.ts'
import type { StateReader } from './model.ts'
import { cellWord, type StorageValue } from './state-keys.ts'

/** What an overlay changed of one contract's storage. */
export interface StorageChanges {
  /** Was everything below dropped? Then `slots` is the whole storage. */
  readonly wiped: boolean
  /** New words by slot; 0 empties a slot. May hold words equal to those below. */
  readonly slots: ReadonlyMap<bigint, StorageValue>
}

/** All that an overlay changed; what was only read is not in it. */
export interface StateChanges {
  /** New accounts by address; `null` when the account is gone. */
  readonly accounts: ReadonlyMap<Hex, Account | null>
  readonly storage: ReadonlyMap<Hex, StorageChanges>
  /** New code by hash, including code that no account refers to any more. */
  readonly code: ReadonlyMap<Hex, Uint8Array>
}

/** One storage slot. `value` is undefined until it is read from the state below. */
interface Cell {
  value: StorageValue | undefined
  written: boolean
  /** The number of its last change that can be undone; -1 when there is none. */
  change: number
}

/** All that is known of one address. */
interface Entry {
  /** Meaningless while `status` is `unread`. */
  account: Account | undefined
  status: 'unread' | 'read' | 'written'
  /** Replaced as a whole by a wipe, so that undoing the wipe is putting the old map back. */
  cells: ReadonlyMap<bigint, Cell>
  /** Is the storage below hidden? */
  wiped: boolean
}

/** Of an entry whose storage has not been read. */
const NO_CELLS: ReadonlyMap<bigint, Cell> = new Map()

/** The cells of an entry, to be added to. */
function cellsOf(entry: Entry): Map<bigint, Cell> {
  if (entry.cells === NO_CELLS) entry.cells = new Map()
  return entry.cells as Map<bigint, Cell>
}

/**
 * A private, changeable view of a state. An overlay is a reader too, so overlays stack; a state below must stay
 * as it is while something lies over it, since words read once are remembered.
 */
export class Overlay implements StateReader {
  readonly #below: StateReader
  readonly #entries = new Map<Hex, Entry>()
  readonly #code = new Map<Hex, Uint8Array>()
  readonly #undo: (() => void)[] = []
  /** Length of the undo list at each open checkpoint. */
  readonly #marks: number[] = []
  /** Changes that were dropped from the undo list; the others are numbered from it on. */
  #dropped = 0
  /** Counts the changes of storage, also those taken back. */
  storageVersion = 0
  /** Counts the changes of accounts, also those taken back. */
  accountVersion = 0
  /** A contract reads its own address repeatedly. */
  #lastAddress: Hex | undefined
  #lastEntry: Entry | undefined
  /** SSTORE reads a cell of that entry before it writes it. */
  #lastSlot: bigint | undefined
  #lastCell: Cell | undefined

  constructor(below: StateReader) {
    this.#below = below
  }

  /** How many checkpoints are open. */
  get depth(): number {
    return this.#marks.length
  }

  account(address: Hex): Account | undefined {
    const entry = this.#entry(address)
    if (entry.status === 'unread') {
      entry.account = this.#below.account(address)
      entry.status = 'read'
    }
    return entry.account
  }

  storage(address: Hex, slot: bigint): bigint {
    return cellWord(this.cell(address, slot))
  }

  cell(address: Hex, slot: bigint): StorageValue {
    const entry = this.#entry(address)
    const cell = entry.cells.get(slot)
    if (cell?.value !== undefined) {
      this.#lastSlot = slot
      this.#lastCell = cell
      return cell.value
    }
    if (entry.wiped) return 0n
    const value = this.#below.cell(address, slot)
    if (cell === undefined) cellsOf(entry).set(slot, { value, written: false, change: -1 })
    else cell.value = value
    return value
  }

  cells(address: Hex): ReadonlyMap<bigint, StorageValue> {
    const { cells, wiped } = this.#entry(address)
    const below = wiped ? new Map<bigint, StorageValue>() : this.#below.cells(address)
    if (cells.size === 0) return below
    const all = new Map(below)
    for (const [slot, { value }] of cells) {
      if (value === 0n) all.delete(slot)
      else if (value !== undefined) all.set(slot, value)
    }
    return all
  }

  code(codeHash: Hex): Uint8Array {
    return this.#code.get(codeHash) ?? this.#below.code(codeHash)
  }

  /** Sets an account. Its storage stays as it is. */
  putAccount(address: Hex, account: Account): void {
    const entry = this.#entry(address)
    this.#setAccount(entry, account)
  }

  /** Removes an account with its storage; created again in this overlay, it starts with empty storage. */
  deleteAccount(address: Hex): void {
    const entry = this.#entry(address)
    this.#setAccount(entry, undefined)
    this.#wipe(entry)
  }

  /** Sets a word of storage; 0 empties the slot. Does not create the account. */
  putStorage(address: Hex, slot: bigint, value: bigint): void {
    this.putCell(address, slot, value)
  }

  /** Sets a storage cell; 0 empties it. Does not create the account. */
  putCell(address: Hex, slot: bigint, value: StorageValue): void {
    const cell = this.#cellToWrite(this.#entry(address), slot)
    const mark = this.#marks.at(-1)
    // What the cell was at the last checkpoint is enough to take back all changes since.
    if (mark !== undefined && cell.change < this.#dropped + mark) {
      const { value: oldValue, written, change } = cell
      cell.change = this.#dropped + this.#undo.length
      this.#undo.push(() => {
        cell.value = oldValue
        cell.written = written
        cell.change = change
      })
    }
    cell.value = value
    cell.written = true
    this.storageVersion++
  }

  /** Empties the whole storage of an address. */
  clearStorage(address: Hex): void {
    this.#wipe(this.#entry(address))
  }

  /** Sets an account's code and code hash, creating the account if there is none. The array is kept, not copied. */
  putCode(address: Hex, code: Uint8Array): void {
    const codeHash = code.length === 0 ? EMPTY_CODE_HASH : keccakHex(code)
    if (code.length > 0 && !this.#code.has(codeHash)) {
      this.#code.set(codeHash, code)
      if (this.#marks.length > 0) this.#undo.push(() => this.#code.delete(codeHash))
    }
    const account = this.account(address) ?? EMPTY_ACCOUNT
    this.putAccount(address, { ...account, codeHash, isContract: account.isContract || code.length > 0 })
  }

  /** Marks an account as a contract; nothing happens when there is no such account. */
  markContract(address: Hex): void {
    const account = this.account(address)
    if (account !== undefined && !account.isContract)
      this.putAccount(address, { ...account, isContract: true })
  }

  /** Opens a checkpoint; they nest. */
  checkpoint(): void {
    this.#marks.push(this.#undo.length)
  }

  /** Keeps what was done since the last checkpoint. Throws when none is open. */
  commit(): void {
    this.#closeCheckpoint()
    if (this.#marks.length > 0) return
    this.#dropped += this.#undo.length
    this.#undo.length = 0
  }

  /** Takes back what was done since the last checkpoint. Throws when none is open. */
  revert(): void {
    const mark = this.#closeCheckpoint()
    if (this.#undo.length > mark) {
      this.storageVersion++
      this.accountVersion++
    }
    this.#lastCell = undefined
    while (this.#undo.length > mark) this.#undo.pop()?.()
  }

  /** Reads this view without keeping what it reads below: for one that outlives the run that made it. */
  view(): StateReader {
    const known = (address: Hex) => this.#entries.get(address)
    const cell = (address: Hex, slot: bigint): StorageValue => {
      const entry = known(address)
      const value = entry?.cells.get(slot)?.value
      return value ?? (entry?.wiped === true ? 0n : this.#below.cell(address, slot))
    }
    return {
      account: (address) => {
        const entry = known(address)
        return entry === undefined || entry.status === 'unread' ? this.#below.account(address) : entry.account
      },
      cell,
      storage: (address, slot) => cellWord(cell(address, slot)),
      cells: (address) => this.cells(address),
      code: (codeHash) => this.code(codeHash),
    }
  }

  /** What differs from the state below as of now, open checkpoints included. */
  changes(): StateChanges {
    const accounts = new Map<Hex, Account | null>()
    const storage = new Map<Hex, StorageChanges>()
    for (const [address, entry] of this.#entries) {
      if (entry.status === 'written') accounts.set(address, entry.account ?? null)
      if (entry.cells === NO_CELLS && !entry.wiped) continue
      const slots = new Map<bigint, StorageValue>()
      for (const [slot, cell] of entry.cells) {
        if (cell.written && cell.value !== undefined) slots.set(slot, cell.value)
      }
      if (entry.wiped || slots.size > 0) storage.set(address, { wiped: entry.wiped, slots })
    }
    return { accounts, storage, code: new Map(this.#code) }
  }

  #entry(address: Hex): Entry {
    if (address === this.#lastAddress && this.#lastEntry !== undefined) return this.#lastEntry
    let entry = this.#entries.get(address)
    if (entry === undefined) {
      entry = { account: undefined, status: 'unread', cells: NO_CELLS, wiped: false }
      this.#entries.set(address, entry)
    }
    this.#lastAddress = address
    this.#lastEntry = entry
    this.#lastCell = undefined
    return entry
  }

  #cellToWrite(entry: Entry, slot: bigint): Cell {
    if (this.#lastCell !== undefined && this.#lastSlot === slot) return this.#lastCell
    const cells = cellsOf(entry)
    let cell = cells.get(slot)
    if (cell === undefined) {
      cell = { value: undefined, written: false, change: -1 }
      cells.set(slot, cell)
    }
    return cell
  }

  #setAccount(entry: Entry, account: Account | undefined): void {
    if (this.#marks.length > 0) {
      const { account: oldAccount, status } = entry
      this.#undo.push(() => {
        entry.account = oldAccount
        entry.status = status
      })
    }
    entry.account = account
    entry.status = 'written'
    this.accountVersion++
  }

  #wipe(entry: Entry): void {
    if (this.#marks.length > 0) {
      const { cells, wiped } = entry
      this.#undo.push(() => {
        entry.cells = cells
        entry.wiped = wiped
      })
    }
    this.#lastCell = undefined
    entry.cells = NO_CELLS
    entry.wiped = true
    this.storageVersion++
  }

  #closeCheckpoint(): number {
    const mark = this.#marks.pop()
    if (mark === undefined) throw new Error('no checkpoint is open')
    return mark
  }
}
