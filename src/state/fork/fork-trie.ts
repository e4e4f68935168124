/**
 * The states of a fork. The trie holds only what was written since the fork began; the rest is the upstream's. Roots are
 * synthetic, yet deterministic: they depend on the block on which the fork stands and on what was written. States that
 * come out of an imported one are whole, as those of any chain.
 */
import { type Account, EMPTY_CODE_HASH } from '../../chain/account.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { AccountDifference } from '../account-differences.ts'
import type { CommittedState, NodeSource, StateReader } from '../model.ts'
import type { StateChanges, StorageChanges } from '../overlay.ts'
import { RecentMap } from '../recent-map.ts'
import type { RemoteBlockId, RemoteState } from '../remote/model.ts'
import { cellWord, type StorageValue } from '../state-keys.ts'
import { type StateProof, StateTrie } from '../state-trie.ts'
import type { Demand } from './demand.ts'
import { type Before, createForkReader, type ForkReader } from './fork-reader.ts'
import {
  escaped,
  FORK_ACCOUNT,
  flaggedAddress,
  flagSlot,
  flagsOf,
  forkPointIn,
  isDeleted,
  isTombstone,
  isWiped,
  unescaped,
} from './overlay-record.ts'
import type { RemoteStates } from './remote-states.ts'

/** Readers kept; calls and blocks of an upstream's past each have a root of their own. */
const READERS = 64

/** What the states stand on. */
export interface ForkStates {
  readonly demand: Demand
  /** The states of the upstream's blocks that are readable without the source. */
  readonly remoteStates: RemoteStates
  /** The upstream's state after a block. */
  stateAt(block: RemoteBlockId): RemoteState
}

/** All states of a fork, those of the upstream's past included. A whole state is read and written as in any trie. */
export class ForkTrie extends StateTrie {
  readonly #fork: ForkStates
  readonly #readers = new RecentMap<Hex, ForkReader>(READERS)
  readonly #before = new WeakMap<CommittedState, Before>()

  constructor(source: NodeSource, options: ConstructorParameters<typeof StateTrie>[1], fork: ForkStates) {
    const { remoteStates } = fork
    super(
      { node: (hash) => remoteStates.node(hash) ?? source.node(hash), code: (hash) => source.code(hash) },
      options,
    )
    this.#fork = fork
  }

  override reader(root: Hex): StateReader {
    return this.#readerAt(root) ?? super.reader(root)
  }

  /** `undefined` for the empty state. `before`: what is known of the state that it came out of. */
  #readerAt(root: Hex, before?: Before): ForkReader | undefined {
    const known = this.#readers.get(root)
    if (known !== undefined) return known
    const local = super.reader(root)
    const point = forkPointIn(local)
    if (point === undefined) return undefined
    const flags = (address: Hex) => cellWord(local.cell(FORK_ACCOUNT, flagSlot(address)))
    const reader = createForkReader(
      { reader: local, flags },
      this.#fork.stateAt(point),
      this.#fork.demand,
      before,
    )
    this.#readers.set(root, reader)
    return reader
  }

  override forgetRead(): void {
    super.forgetRead()
    this.#readers.clear()
  }

  override commit(root: Hex, changes: StateChanges): CommittedState {
    const before = this.#readerAt(root)
    if (before === undefined) return super.commit(root, changes)
    const recorded = this.#recorded(before, root, changes)
    const state = super.commit(root, recorded)
    const written = new Set([...recorded.accounts.keys(), ...recorded.storage.keys()])
    this.#before.set(state, { known: before.known, written })
    return state
  }

  override remember(state: CommittedState): void {
    super.remember(state)
    const before = this.#before.get(state)
    if (before !== undefined) this.#readerAt(state.root, before)
  }

  /** The changes as the trie keeps them: accounts in full, tombstones for what is emptied, flags. */
  #recorded(before: ForkReader, root: Hex, changes: StateChanges): StateChanges {
    const local = super.reader(root)
    const accounts = new Map<Hex, Account | null>(changes.accounts)
    const storage = new Map<Hex, StorageChanges>()
    const code = new Map(changes.code)
    const flags = new Map<bigint, bigint>()
    const flagsAt = (address: Hex) => cellWord(local.cell(FORK_ACCOUNT, flagSlot(address)))
    /** A contract where the upstream has no account: its storage is all here, and needs no fetch after a restart. */
    const isNew = (address: Hex, { isContract }: Account): boolean => {
      const found = isContract && flagsAt(address) === 0n ? before.remote.account(address) : undefined
      return found !== undefined && found.account === undefined
    }
    for (const [address, account] of changes.accounts) {
      if (account === null) flags.set(flagSlot(address), flagsOf({ deleted: true }))
      else if (isNew(address, account) || isDeleted(flagsAt(address))) {
        flags.set(flagSlot(address), flagsOf({ deleted: false }))
      }
    }
    for (const [address, { wiped, slots }] of changes.storage) {
      if (wiped && changes.accounts.get(address) !== null) {
        flags.set(flagSlot(address), flagsOf({ deleted: false }))
      }
      const isOverRemote = !wiped && !flags.has(flagSlot(address)) && !isWiped(flagsAt(address))
      const recorded = new Map<bigint, StorageValue>()
      for (const [slot, value] of slots) recorded.set(slot, escaped(value, isOverRemote))
      storage.set(address, { wiped, slots: recorded })
      if (accounts.has(address) || local.account(address) !== undefined) continue
      const account = before.account(address)
      if (account !== undefined) accounts.set(address, account)
      else storage.set(address, { wiped, slots })
    }
    for (const account of accounts.values()) {
      if (account === null || account.codeHash === EMPTY_CODE_HASH || code.has(account.codeHash)) continue
      const bytes = before.remote.code(account.codeHash)
      if (bytes !== undefined) code.set(account.codeHash, bytes)
    }
    if (flags.size > 0) storage.set(FORK_ACCOUNT, { wiped: false, slots: flags })
    return { accounts, storage, code }
  }

  /** Of a state after the fork point, the root in a header before RSKIP-126 is synthetic too. */
  override orchidRoot(state: CommittedState): Hex {
    return this.#before.has(state) ? state.root : super.orchidRoot(state)
  }

  /** Was the account, or its storage, written since the fork began? */
  isWritten(root: Hex, address: Hex): boolean {
    return this.#readerAt(root)?.isWritten(address) ?? true
  }

  override prove(root: Hex, address: Hex, slots: readonly bigint[]): StateProof {
    if (this.#readerAt(root) === undefined) return super.prove(root, address, slots)
    throw new NodeError(
      'upstream',
      `There is no proof of ${address}: the state of a fork has no true root once it was written to.`,
    )
  }

  override *cellsFrom(
    root: Hex,
    address: Hex,
    start: Hex,
  ): Generator<readonly [slot: bigint, value: StorageValue]> {
    const reader = this.#readerAt(root)
    if (reader === undefined) return yield* super.cellsFrom(root, address, start)
    // Throws where the upstream's storage counts, which cannot be listed.
    if (reader.cells(address).size === 0) return
    for (const [slot, value] of super.cellsFrom(root, address, start)) {
      if (!isTombstone(value)) yield [slot, unescaped(value)]
    }
  }

  override changedAccounts(before: Hex, after: Hex): readonly Hex[] {
    if (this.#areWhole(before, after)) return super.changedAccounts(before, after)
    return [...this.differences(before, after)].map(({ address }) => address)
  }

  /** Throws where one state is whole and the other is not: what differs and what was never read look alike. */
  #areWhole(before: Hex, after: Hex): boolean {
    const [old, now] = [before, after].map((root) => this.#readerAt(root) === undefined)
    if (old === now) return old === true
    throw new NodeError(
      'upstream',
      'The state of the block on which the fork stands cannot be compared with those before it, which are the upstream’s.',
    )
  }

  override *differences(before: Hex, after: Hex): Generator<AccountDifference, undefined> {
    if (this.#areWhole(before, after)) return yield* super.differences(before, after)
    const [old, now] = [this.reader(before), this.reader(after)]
    const seen = new Set<Hex>()
    const flagged: Hex[] = []
    for (const { address, cells } of super.differences(before, after)) {
      if (address === FORK_ACCOUNT) {
        for (const slot of cells.keys()) flagged.push(flaggedAddress(slot) ?? FORK_ACCOUNT)
        continue
      }
      seen.add(address)
      const read = [...cells.keys()].map(
        (slot) => [slot, { before: old.cell(address, slot), after: now.cell(address, slot) }] as const,
      )
      yield { address, before: old.account(address), after: now.account(address), cells: new Map(read) }
    }
    for (const address of flagged) {
      if (address === FORK_ACCOUNT || seen.has(address)) continue
      yield { address, before: old.account(address), after: now.account(address), cells: new Map() }
    }
  }
}
