/** A state of a fork as running code reads it: what was written since the fork began, over the upstream's state. */
import type { Account } from '../../chain/account.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { StateReader } from '../model.ts'
import type { RemoteState } from '../remote/model.ts'
import { cellWord, type StorageValue } from '../state-keys.ts'
import type { Demand } from './demand.ts'
import { isDeleted, isTombstone, isWiped, unescaped } from './overlay-record.ts'

/** Accounts and cells kept per reader, together; beyond it all are dropped and gathered anew. */
const CAPACITY = 50_000

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
  const known = new Map<Hex, Known>()
  let size = 0

  function limitSize(): void {
    size++
    if (size <= CAPACITY) return
    known.clear()
    size = 1
  }

  function find(address: Hex): Known | undefined {
    const own = local.reader.account(address)
    const flags = local.flags(address)
    if (own === undefined && (isDeleted(flags) || address.length !== ADDRESS_LENGTH)) {
      return { account: undefined, isHidden: true, cells: undefined }
    }
    const found = remote.account(address)
    const isHidden = isWiped(flags) || (found !== undefined && found.account === undefined)
    if (own !== undefined) return { account: own, isHidden, cells: undefined }
    if (found !== undefined) demand.touched.noteRead(remote, { kind: 'account', address })
    return found && { account: found.account, isHidden, cells: undefined }
  }

  function look(address: Hex): Known | undefined {
    const entry = known.get(address)
    if (entry !== undefined) return entry
    const kept = before?.written.has(address) === false ? before.known.get(address) : undefined
    const found = kept ?? find(address)
    if (found === undefined) return undefined
    limitSize()
    known.set(address, found)
    return found
  }

  function cell(address: Hex, slot: bigint): StorageValue {
    const entry = look(address)
    const value = entry?.cells?.get(slot)
    if (value !== undefined) return value
    const found = lookCell(address, slot, entry?.isHidden === true)
    if (found === undefined) {
      demand.missItem(remote, { kind: 'cell', address, slot })
      return 0n
    }
    if (entry !== undefined) {
      limitSize()
      entry.cells ??= new Map()
      entry.cells.set(slot, found)
    }
    return found
  }

  function lookCell(address: Hex, slot: bigint, isHidden: boolean): StorageValue | undefined {
    const own = local.reader.cell(address, slot)
    if (isTombstone(own)) return 0n
    if (own !== 0n) return unescaped(own)
    if (isHidden) return 0n
    const found = remote.cell(address, slot)
    if (found !== undefined) demand.touched.noteRead(remote, { kind: 'cell', address, slot })
    return found
  }

  return {
    remote,
    known,
    account(address) {
      const entry = look(address)
      if (entry === undefined) demand.missItem(remote, { kind: 'account', address })
      return entry?.account
    },
    cell,
    storage: (address, slot) => cellWord(cell(address, slot)),
    cells(address) {
      if (look(address)?.isHidden !== true) {
        throw new NodeError(
          'upstream',
          `The storage of ${address} cannot be listed: a fork fetches single slots, not the whole storage of an account.`,
        )
      }
      const cells = new Map<bigint, StorageValue>()
      for (const [slot, value] of local.reader.cells(address)) {
        if (!isTombstone(value)) cells.set(slot, unescaped(value))
      }
      return cells
    },
    code: (codeHash) => remote.code(codeHash) ?? local.reader.code(codeHash),
    isWritten: (address) => local.reader.account(address) !== undefined || local.flags(address) !== 0n,
  }
}
