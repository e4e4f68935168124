/** Tools of development clients that no consensus rule allows: state edits, block overrides, impersonation, dropped transactions. */

import type { LoadedHead, PartialAccount, StateDump } from '../../chain/state-file/records.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import { MAX_GAS } from '../../evm/message.ts'
import { MAX_WORD } from '../../evm/word.ts'
import { Overlay } from '../../state/overlay.ts'
import type { ClockState } from '../clock.ts'
import type { MiningHandler } from '../mining/schedule.ts'
import type { HeaderOverrides, MiningMode } from '../model.ts'
import type { EngineParts } from '../parts.ts'
import type { Enqueue } from '../serial-queue.ts'
import type { BlockOverrideState } from './block-overrides.ts'
import type { Impersonation, ImpersonationState } from './impersonation.ts'
import type { NodeSnapshots, SnapshotView } from './node-snapshots.ts'
import { ChainRewinder, type PlacedTransaction, type RewindTools } from './rewind-tools.ts'
import type { SnapshotDiff } from './snapshot-diff.ts'
import { createDump } from './state-dump.ts'
import { type AccountEdit, applyEdits } from './state-edits.ts'
import { type ChainToLoad, type LoadCommands, StateLoader } from './state-load.ts'

/** Settings that a node keeps in memory only, and that a copy of it starts with. */
export interface NodeModes {
  readonly clock: ClockState
  readonly blockOverrides: BlockOverrideState
  readonly impersonation: ImpersonationState
  readonly mining: MiningMode
}

/** The tools. Those that return a promise run in the engine's queue of commands. */
export interface DevTools extends RewindTools, LoadCommands {
  /**
   * The state after the head, and with history all canonical blocks and the pool. Nothing is copied: the chain is read
   * during the iteration, which throws `block-not-found` when blocks of the dump have left the chain.
   */
  dump(history: boolean): StateDump
  /**
   * Edits the state after the head without a block; durable once it resolves. The head's header stays unchanged, later
   * blocks build on the edited state, and a revert to an earlier snapshot undoes the edit. Throws `invalid-params` for a
   * nonce below the account's, with nothing changed.
   */
  editState(edits: readonly AccountEdit[]): Promise<void>
  /** Adds wei to the balance of an account in the same way, up to 2^256 - 1. */
  addBalance(address: Hex, wei: bigint): Promise<void>
  /** Sets the beneficiary of blocks mined here from now on. */
  setCoinbase(address: Hex): Promise<void>
  /**
   * Sets the gas limit of blocks mined here from now on, of which one transaction may use all; it raises the gas caps of
   * calls and estimates to at least as much. Throws `invalid-params` below the gas of a transfer.
   */
  setBlockGasLimit(gas: bigint): Promise<void>
  /** Sets the minimum gas price of blocks mined here from now on and of the pool, wei per gas. */
  setMinimumGasPrice(price: bigint): Promise<void>
  /** Moves the clock of the next block to a Unix time, forward or back; resolves as `Clock.moveTo` returns. */
  setTime(timestamp: number): Promise<{ readonly offset: number; readonly moved: number }>
  /** Sets the seconds between blocks; `undefined` follows the clock again. Resolves to whether an interval was set before. */
  setBlockTimestampInterval(seconds: number | undefined): Promise<boolean>
  /** Drops a transaction from the pool; false when the pool does not hold it. */
  dropTransaction(hash: Hex): Promise<boolean>
  /** Drops all transactions of a sender from the pool. */
  dropTransactionsOf(sender: Hex): Promise<void>
  /** Clears the pool. */
  dropAllTransactions(): Promise<void>
  readonly impersonation: Pick<
    Impersonation,
    'covers' | 'start' | 'stop' | 'setEverybody' | 'impersonateSignature' | 'save' | 'restore'
  >
  /** When the head was set, or the node opened, by the wall clock, Unix seconds. */
  lastBlockTime(): number
  /** Whether the terminal shows calls, blocks and console output. */
  isLoggingEnabled(): boolean
  setLoggingEnabled(on: boolean): void
  /** The present mining mode. */
  miningMode(): MiningMode
  /** Has blocks that are mined without a request mined by a handler; `undefined` by the schedule again. */
  setMiningHandler(handler: MiningHandler | undefined): void
  /** The settings that a copy of the node starts with, beside its database. */
  modes(): NodeModes
  /** Fixed fields of the next header. */
  headerOverrides(): HeaderOverrides
  /** Snapshots that the node can revert to, in order of their ids. */
  snapshots(): readonly SnapshotView[]
  /** The id of the snapshot with a name. */
  snapshotNamed(name: string): number | undefined
  /**
   * What differs between two snapshots, or a snapshot and now; `undefined` for an unknown id. The cost is proportional to
   * the difference. Throws `block-not-found` when blocks of a snapshot are gone.
   */
  diffSnapshots(before: number, after: number | undefined): SnapshotDiff | undefined
  /** 32 random bytes, new for each run of the node and after each reset. */
  instanceId(): Hex
}

/** Minimum block gas limit, gas: that of a transfer. */
const MIN_GAS_LIMIT = 21_000n

/** What the tools of all calls share. */
export interface DevParts {
  readonly parts: EngineParts
  readonly snapshots: NodeSnapshots
  readonly rewinder: ChainRewinder
  readonly loader: StateLoader
  readonly dump: (history: boolean) => StateDump
  /** By the wall clock, Unix seconds. */
  lastBlockTime: number
  isLoggingEnabled: boolean
}

/** Makes what the tools of an engine share. */
export function createDevParts(parts: EngineParts, snapshots: NodeSnapshots): DevParts {
  const shared: DevParts = {
    parts,
    snapshots,
    rewinder: new ChainRewinder(parts),
    loader: new StateLoader(parts),
    dump: createDump(parts),
    lastBlockTime: parts.now(),
    isLoggingEnabled: true,
  }
  parts.events.on('chain', () => {
    shared.lastBlockTime = parts.now()
  })
  return shared
}

/** The tools of a call, whose changes are jobs of the queue that `enqueue` adds to. */
export class EngineDevTools implements DevTools {
  readonly #shared: DevParts
  readonly #parts: EngineParts
  readonly #enqueue: Enqueue

  constructor(shared: DevParts, enqueue: Enqueue) {
    this.#shared = shared
    this.#parts = shared.parts
    this.#enqueue = enqueue
  }

  get impersonation(): Impersonation {
    return this.#parts.impersonation
  }

  rollback(depth: number): Promise<void> {
    return this.#enqueue(() => this.#shared.rewinder.rollback(depth))
  }

  replaceBlocks(depth: number, transactions: readonly PlacedTransaction[]): Promise<void> {
    return this.#enqueue((call) => this.#shared.rewinder.replaceBlocks(depth, transactions, call))
  }

  loadAccounts(accounts: ReadonlyMap<Hex, PartialAccount>, head?: LoadedHead): Promise<void> {
    return this.#enqueue(() => this.#shared.loader.loadAccounts(accounts, head))
  }

  loadChain(chain: ChainToLoad): Promise<void> {
    return this.#enqueue((call) => this.#shared.loader.loadChain(chain, call))
  }

  dump(history: boolean): StateDump {
    return this.#shared.dump(history)
  }

  editState(edits: readonly AccountEdit[]): Promise<void> {
    return this.#enqueue(() => this.#editNow(edits))
  }

  addBalance(address: Hex, wei: bigint): Promise<void> {
    return this.#enqueue(async () => {
      const sum = (this.#parts.headState().account(address)?.balance ?? 0n) + wei
      await this.#editNow([{ address, balance: sum > MAX_WORD ? MAX_WORD : sum }])
    })
  }

  setCoinbase(address: Hex): Promise<void> {
    return this.#enqueue(async () => {
      this.#parts.blockOverrides.setCoinbase(address)
      this.#parts.mining.discardPending()
    })
  }

  async setBlockGasLimit(gas: bigint): Promise<void> {
    if (gas < MIN_GAS_LIMIT) throw invalidParams(`gasLimit: ${gas} is below ${MIN_GAS_LIMIT}`)
    if (gas > MAX_GAS) throw invalidParams(`gasLimit: ${gas} is above ${MAX_GAS}`)
    return this.#overrideHeader({ gasLimit: gas })
  }

  setMinimumGasPrice(price: bigint): Promise<void> {
    return this.#overrideHeader({ minimumGasPrice: price })
  }

  setTime(timestamp: number): ReturnType<DevTools['setTime']> {
    return this.#enqueue(async () => {
      const moved = this.#parts.clock.moveTo(timestamp)
      this.#parts.mining.discardPending()
      return moved
    })
  }

  setBlockTimestampInterval(seconds: number | undefined): Promise<boolean> {
    const { clock, mining } = this.#parts
    return this.#enqueue(async () => {
      const had = clock.save().interval !== undefined
      clock.setInterval(seconds)
      mining.discardPending()
      return had
    })
  }

  dropTransaction(hash: Hex): Promise<boolean> {
    return this.#enqueue(async () => {
      if (!this.#parts.pool.has(hash)) return false
      await this.#drop([hash])
      return true
    })
  }

  dropTransactionsOf(sender: Hex): Promise<void> {
    return this.#enqueue(() => {
      const { pending, queued } = this.#parts.pool.ofSender(sender)
      return this.#drop([...pending, ...queued].map(({ hash }) => hash))
    })
  }

  dropAllTransactions(): Promise<void> {
    const { store, pool, persistedPool, mining } = this.#parts
    return this.#enqueue(async () => {
      pool.clear()
      mining.discardPending()
      await store.batch(persistedPool.clear())
    })
  }

  lastBlockTime(): number {
    return this.#shared.lastBlockTime
  }

  isLoggingEnabled(): boolean {
    return this.#shared.isLoggingEnabled
  }

  setLoggingEnabled(on: boolean): void {
    this.#shared.isLoggingEnabled = on
  }

  miningMode(): MiningMode {
    return this.#parts.mining.schedule.mode
  }

  setMiningHandler(handler: MiningHandler | undefined): void {
    this.#parts.mining.schedule.handler = handler
  }

  modes(): NodeModes {
    const { clock, blockOverrides, impersonation, mining } = this.#parts
    return {
      clock: clock.save(),
      blockOverrides: blockOverrides.save(),
      impersonation: impersonation.save(),
      mining: mining.schedule.mode,
    }
  }

  headerOverrides(): HeaderOverrides {
    return this.#parts.blockOverrides.headerOverrides
  }

  snapshots(): readonly SnapshotView[] {
    return this.#shared.snapshots.list()
  }

  snapshotNamed(name: string): number | undefined {
    return this.#shared.snapshots.idOf(name)
  }

  diffSnapshots(before: number, after: number | undefined): SnapshotDiff | undefined {
    return this.#shared.snapshots.diff(before, after)
  }

  instanceId(): Hex {
    return this.#shared.snapshots.instanceId
  }

  async #editNow(edits: readonly AccountEdit[]): Promise<void> {
    const { blockchain, trie, chainWriter } = this.#parts
    const { postState } = blockchain.head
    const overlay = new Overlay(trie.reader(postState))
    applyEdits(overlay, edits)
    await blockchain.amendHead(trie.commit(postState, overlay.changes()))
    await chainWriter.revalidatePool(new Set(edits.map(({ address }) => address)))
  }

  #overrideHeader(fields: HeaderOverrides): Promise<void> {
    return this.#enqueue(() => {
      this.#parts.blockOverrides.overrideHeader(fields)
      return this.#parts.chainWriter.revalidatePool()
    })
  }

  async #drop(hashes: readonly Hex[]): Promise<void> {
    const { store, pool, persistedPool, mining } = this.#parts
    for (const hash of hashes) pool.drop(hash)
    mining.discardPending()
    await store.batch(persistedPool.drop(hashes))
  }
}
