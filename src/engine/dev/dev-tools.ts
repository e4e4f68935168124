/** Tools of development clients that no consensus rule allows: state edits, block overrides, impersonation, dropped transactions. */
import type { StateDump } from '../../chain/state-file/records.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import { MAX_GAS } from '../../evm/message.ts'
import { Overlay } from '../../state/overlay.ts'
import type { ClockState } from '../clock.ts'
import type { HeaderOverrides, MiningMode } from '../model.ts'
import type { EngineParts } from '../parts.ts'
import type { Enqueue } from '../serial-queue.ts'
import type { BlockOverrideState } from './block-overrides.ts'
import type { Impersonation, ImpersonationState } from './impersonation.ts'
import { createRewindTools, type RewindTools } from './rewind-tools.ts'
import { createSnapshots, type SnapshotCommands, type SnapshotView } from './snapshot-commands.ts'
import type { SnapshotDiff } from './snapshot-diff.ts'
import { createDump } from './state-dump.ts'
import { type AccountEdit, applyEdits } from './state-edits.ts'
import { createLoadCommands, type LoadCommands } from './state-load.ts'

/** What a node keeps in memory only and a copy of it begins with. */
export interface NodeModes {
  readonly clock: ClockState
  readonly blockOverrides: BlockOverrideState
  readonly impersonation: ImpersonationState
  readonly mining: MiningMode
}

/** The tools. Those that return a promise run in the engine's queue of commands. */
export interface DevTools extends RewindTools, LoadCommands {
  /**
   * The state after the head, and with history all canonical blocks and the pool. Nothing is copied: the dump is read
   * while it is iterated; throws `block-not-found` when its blocks have left the chain meanwhile.
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
  /** Moves the clock of the next block to a Unix time, forward or back; resolves to the clock offset in seconds. */
  setTime(timestamp: number): Promise<number>
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
  /** How the node mines by itself now. */
  miningMode(): MiningMode
  /** What a copy of the node begins with beside its database. */
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

const MAX_BALANCE = 2n ** 256n - 1n

/** Minimum block gas limit, gas: that of a transfer. */
const MIN_GAS_LIMIT = 21_000n

/** Makes the tools and the snapshot commands of a node. */
export async function createDev(parts: EngineParts): Promise<{
  /** For the calls whose jobs `enqueue` runs. */
  readonly tools: (enqueue: Enqueue) => DevTools
  readonly snapshotCommands: (enqueue: Enqueue) => SnapshotCommands
  readonly reloadSnapshots: () => Promise<void>
}> {
  const { store, blockchain, chainWriter, trie, pool, persistedPool, mining, clock, blockOverrides } = parts
  const snapshots = await createSnapshots(parts)

  function overrideHeader(enqueue: Enqueue, fields: HeaderOverrides): Promise<void> {
    return enqueue(() => {
      blockOverrides.overrideHeader(fields)
      return chainWriter.revalidatePool()
    })
  }

  async function editState(edits: readonly AccountEdit[]): Promise<void> {
    const { postState } = blockchain.head
    const overlay = new Overlay(trie.reader(postState))
    applyEdits(overlay, edits)
    await blockchain.amendHead(trie.commit(postState, overlay.changes()))
    await chainWriter.revalidatePool(new Set(edits.map(({ address }) => address)))
  }

  let lastBlockTime = parts.now()
  parts.events.on('chain', () => {
    lastBlockTime = parts.now()
  })
  let isLoggingEnabled = true

  const rewindTools = createRewindTools(parts)
  const loadCommands = createLoadCommands(parts)
  const dump = createDump(parts)

  const tools = (enqueue: Enqueue): DevTools => ({
    ...rewindTools(enqueue),
    dump,
    ...loadCommands(enqueue),

    editState: (edits) => enqueue(() => editState(edits)),

    addBalance: (address, wei) =>
      enqueue(async () => {
        const sum = (parts.headState().account(address)?.balance ?? 0n) + wei
        await editState([{ address, balance: sum > MAX_BALANCE ? MAX_BALANCE : sum }])
      }),

    setCoinbase: (address) =>
      enqueue(async () => {
        blockOverrides.setCoinbase(address)
        mining.discardPending()
      }),

    async setBlockGasLimit(gas) {
      if (gas < MIN_GAS_LIMIT) throw invalidParams(`gasLimit: ${gas} is below ${MIN_GAS_LIMIT}`)
      if (gas > MAX_GAS) throw invalidParams(`gasLimit: ${gas} is above ${MAX_GAS}`)
      return overrideHeader(enqueue, { gasLimit: gas })
    },

    setMinimumGasPrice: (price) => overrideHeader(enqueue, { minimumGasPrice: price }),

    setTime: (timestamp) =>
      enqueue(async () => {
        const offset = clock.moveTo(timestamp)
        mining.discardPending()
        return offset
      }),

    setBlockTimestampInterval: (seconds) =>
      enqueue(async () => {
        const had = clock.save().interval !== undefined
        clock.setInterval(seconds)
        mining.discardPending()
        return had
      }),

    dropTransaction: (hash) =>
      enqueue(async () => {
        if (!pool.has(hash)) return false
        pool.drop(hash)
        mining.discardPending()
        await store.batch(persistedPool.drop([hash]))
        return true
      }),

    dropTransactionsOf: (sender) =>
      enqueue(async () => {
        const { pending, queued } = pool.ofSender(sender)
        const hashes = [...pending, ...queued].map(({ hash }) => hash)
        for (const hash of hashes) pool.drop(hash)
        mining.discardPending()
        await store.batch(persistedPool.drop(hashes))
      }),

    dropAllTransactions: () =>
      enqueue(async () => {
        pool.clear()
        mining.discardPending()
        await store.batch(persistedPool.clear())
      }),

    impersonation: parts.impersonation,
    lastBlockTime: () => lastBlockTime,
    isLoggingEnabled: () => isLoggingEnabled,
    setLoggingEnabled(on) {
      isLoggingEnabled = on
    },
    miningMode: () => mining.schedule.mode,
    modes: () => ({
      clock: clock.save(),
      blockOverrides: blockOverrides.save(),
      impersonation: parts.impersonation.save(),
      mining: mining.schedule.mode,
    }),
    headerOverrides: () => blockOverrides.headerOverrides,
    snapshots: snapshots.list,
    snapshotNamed: snapshots.idOf,
    diffSnapshots: snapshots.diff,
    instanceId: snapshots.instanceId,
  })

  return { tools, snapshotCommands: snapshots.commands, reloadSnapshots: snapshots.reload }
}
