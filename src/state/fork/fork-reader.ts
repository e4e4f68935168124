/** A state of a fork as running code reads it: what was written since the fork began, over the upstream's state. */

import type { Account } from '../../chain/account.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { StateReader } from '../model.ts'
import type { RemoteState } from '../remote/model.ts'
import { cellWord, type StorageValue } from '../state-keys.ts'
import { READER_CAPACITY } from '../state-reader.ts'
import type { Demand } from './demand.ts'
import { isDeleted, isTombstone, isWiped, unescaped } from './overlay-record.ts'

/** Hex digits of an address, with the prefix; the sender of REMASC's transaction has a shorter one. */
const ADDRESS_LENGTH = 42

/** What was written since the fork began, at one root. */
export interface LocalState {
  readonly reader: StateReader
  /** The flags of an account: `isDeleted`, `isWiped`. */
  flags(address: Hex): bigint
}

interface Known {
  readonly account: Account | undefined
  /** Is the storage of the upstream hidden, or known to be empty? */
  readonly isHidden: boolean
  cells: Map<bigint, StorageValue> | undefined
}

/** What a reader has read, by address. */
type Knowledge = ReadonlyMap<Hex, Known>

/** A fork's state at one root. Nothing is kept of what was missing. */
export interface ForkReader extends StateReader {
  readonly known: Knowledge
  /** Was the account, or a cell of its storage, written since the fork began? */
  isWritten(address: Hex): boolean
  readonly remote: RemoteState
}

/** What is known of the state before a commit, and the accounts that the commit wrote or whose storage it did. */
export interface Before {
  readonly known: Knowledge
  readonly written: ReadonlySet<Hex>
}

/**
 * Reads `local` over `remote`; what is not fetched yet is missed (`Demand`), and reads as if it did not exist. What
 * `before` has of accounts that were not written since is taken from there.
 */
export function createForkReader(
  local: LocalState,
  remote: RemoteState,
  demand: Demand,
  before?: Before,
): ForkReader {
  return new LayeredReader(local, remote, demand, before)
}

class LayeredReader implements ForkReader {
  readonly remote: RemoteState
  readonly known = new Map<Hex, Known>()
  readonly #local: LocalState
  readonly #demand: Demand
  readonly #before: Before | undefined
  #size = 0

  constructor(local: LocalState, remote: RemoteState, demand: Demand, before: Before | undefined) {
    this.#local = local
    this.remote = remote
    this.#demand = demand
    this.#before = before
  }

  account(address: Hex): Account | undefined {
    const entry = this.#look(address)
    if (entry === undefined) this.#demand.missItem(this.remote, { kind: 'account', address })
    return entry?.account
  }

  cell(address: Hex, slot: bigint): StorageValue {
    const entry = this.#look(address)
    const value = entry?.cells?.get(slot)
    if (value !== undefined) return value
    const found = this.#findCell(address, slot, entry?.isHidden === true)
    if (found === undefined) {
      this.#demand.missItem(this.remote, { kind: 'cell', address, slot })
      return 0n
    }
    if (entry !== undefined) {
      this.#limitSize()
      entry.cells ??= new Map()
      entry.cells.set(slot, found)
    }
    return found
  }

  storage(address: Hex, slot: bigint): bigint {
    return cellWord(this.cell(address, slot))
  }

  cells(address: Hex): Map<bigint, StorageValue> {
    if (this.#look(address)?.isHidden !== true) {
      throw new NodeError(
        'upstream',
        `The storage of ${address} cannot be listed: a fork fetches single slots, not the whole storage of an account.`,
      )
    }
    const cells = new Map<bigint, StorageValue>()
    for (const [slot, value] of this.#local.reader.cells(address)) {
      if (!isTombstone(value)) cells.set(slot, unescaped(value))
    }
    return cells
  }

  code(codeHash: Hex): Uint8Array {
    return this.remote.code(codeHash) ?? this.#local.reader.code(codeHash)
  }

  isWritten(address: Hex): boolean {
    return this.#local.reader.account(address) !== undefined || this.#local.flags(address) !== 0n
  }

  #limitSize(): void {
    this.#size++
    if (this.#size <= READER_CAPACITY) return
    this.known.clear()
    this.#size = 1
  }

  #look(address: Hex): Known | undefined {
    const entry = this.known.get(address)
    if (entry !== undefined) return entry
    const before = this.#before
    const kept = before?.written.has(address) === false ? before.known.get(address) : undefined
    const found = kept ?? this.#find(address)
    if (found === undefined) return undefined
    this.#limitSize()
    this.known.set(address, found)
    return found
  }

  #find(address: Hex): Known | undefined {
    const own = this.#local.reader.account(address)
    const flags = this.#local.flags(address)
    if (own === undefined && (isDeleted(flags) || address.length !== ADDRESS_LENGTH)) {
      return { account: undefined, isHidden: true, cells: undefined }
    }
    const found = this.remote.account(address)
    const isHidden = isWiped(flags) || (found !== undefined && found.account === undefined)
    if (own !== undefined) return { account: own, isHidden, cells: undefined }
    if (found !== undefined) this.#demand.touched.noteRead(this.remote, { kind: 'account', address })
    return found && { account: found.account, isHidden, cells: undefined }
  }

  #findCell(address: Hex, slot: bigint, isHidden: boolean): StorageValue | undefined {
    const own = this.#local.reader.cell(address, slot)
    if (isTombstone(own)) return 0n
    if (own !== 0n) return unescaped(own)
    if (isHidden) return 0n
    const found = this.remote.cell(address, slot)
    if (found !== undefined) this.#demand.touched.noteRead(this.remote, { kind: 'cell', address, slot })
    return found
  }
}
