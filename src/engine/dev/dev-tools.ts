/** What development clients do beside the chain's own business: edit the state, turn dials, impersonate, drop. */
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import { MAX_GAS } from '../../evm/message.ts'
import { Overlay } from '../../state/overlay.ts'
import type { StateTrie } from '../../state/state-trie.ts'
import type { Store } from '../../store/level.ts'
import type { Blockchain } from '../blockchain/blockchain.ts'
import type { ChainWriter } from '../blockchain/chain-writer.ts'
import type { Clock } from '../clock.ts'
import type { MiningMode } from '../mining/schedule.ts'
import type { KeptPool } from '../pool/kept-pool.ts'
import type { Pool } from '../pool/pool.ts'
import type { Pending } from '../queries/pending.ts'
import type { InTurn } from '../serial-queue.ts'
import type { BlockOverrides, HeaderOverrides } from './block-overrides.ts'
import type { Impersonation } from './impersonation.ts'
import type { Snapshots } from './snapshots.ts'
import { type AccountEdit, applyEdits } from './state-edits.ts'

/** A save point as clients list it. */
export interface SnapshotView {
  readonly id: number
  readonly height: number
  readonly hash: Hex
}

/** The tools. Those that return a promise take their turn among the commands. */
export interface DevTools {
  /**
   * Edits the state after the head without a block; durable once it resolves. The head's header stays as it is, later
   * blocks build on what was edited, and going back to an earlier save point takes it back. Throws `invalid-params`
   * for a nonce below the account's, with nothing changed.
   */
  editState(edits: readonly AccountEdit[]): Promise<void>
  /** Who is rewarded for blocks mined here from now on. */
  setCoinbase(address: Hex): Promise<void>
  /**
   * Gas that each block mined here from now on holds, all of it for one transaction if it asks for that; calls and
   * estimates may use as much. Throws `invalid-params` when no transaction would fit.
   */
  setBlockGasLimit(gas: bigint): Promise<void>
  /** Wei per gas that blocks mined here from now on, and the pool at once, ask for. */
  setMinimumGasPrice(price: bigint): Promise<void>
  /** Moves the clock of the next block, forward or back, to a Unix time; gives the seconds by which it was moved. */
  setTime(timestamp: number): Promise<number>
  /** Seconds between each block and the next; `undefined` follows the clock again. Was there an interval before? */
  setBlockTimestampInterval(seconds: number | undefined): Promise<boolean>
  /** Takes a waiting transaction out of the pool; false when none of this hash waits. */
  dropTransaction(hash: Hex): Promise<boolean>
  /** Empties the pool. */
  dropAllTransactions(): Promise<void>
  readonly impersonation: Pick<Impersonation, 'covers' | 'start' | 'stop' | 'setEverybody'>
  /** How the node mines by itself at this moment. */
  miningMode(): MiningMode
  /** What the next block was asked to be like. */
  asked(): HeaderOverrides
  /** Save points that can be gone back to, in order of their numbers. */
  snapshots(): readonly SnapshotView[]
  /** 32 random bytes that another run of the node, or one after a reset, does not share. */
  instanceId(): Hex
}

interface Parts {
  readonly inTurn: InTurn
  readonly store: Store
  readonly blockchain: Blockchain
  readonly chainWriter: ChainWriter
  readonly trie: StateTrie
  readonly pool: Pool
  readonly kept: KeptPool
  readonly pending: Pending
  readonly clock: Clock
  readonly blockOverrides: BlockOverrides
  readonly impersonation: Impersonation
  readonly snapshots: Snapshots
  readonly miningMode: () => MiningMode
  readonly instanceId: () => Hex
}

/** The least gas limit at which a block can hold a transaction. */
const LEAST_GAS_LIMIT = 21_000n

/** Makes the tools. */
export function createDevTools(parts: Parts): DevTools {
  const {
    inTurn,
    store,
    blockchain,
    chainWriter,
    trie,
    pool,
    kept,
    pending,
    clock,
    blockOverrides,
    snapshots,
  } = parts

  function ask(more: HeaderOverrides): Promise<void> {
    return inTurn(() => {
      blockOverrides.ask(more)
      return chainWriter.rejudge()
    })
  }

  return {
    editState: (edits) =>
      inTurn(async () => {
        const { postState } = blockchain.head
        const overlay = new Overlay(trie.reader(postState))
        applyEdits(overlay, edits)
        await blockchain.amendHead(trie.commit(postState, overlay.changes()))
        await chainWriter.rejudge(new Set(edits.map(({ address }) => address)))
      }),

    setCoinbase: (address) =>
      inTurn(async () => {
        blockOverrides.setCoinbase(address)
        pending.forget()
      }),

    async setBlockGasLimit(gas) {
      if (gas < LEAST_GAS_LIMIT) throw invalidParams(`gasLimit: ${gas} is below ${LEAST_GAS_LIMIT}`)
      if (gas > MAX_GAS) throw invalidParams(`gasLimit: ${gas} is above ${MAX_GAS}`)
      return ask({ gasLimit: gas })
    },

    setMinimumGasPrice: (price) => ask({ minimumGasPrice: price }),

    setTime: (timestamp) =>
      inTurn(async () => {
        const moved = clock.moveTo(timestamp)
        pending.forget()
        return moved
      }),

    setBlockTimestampInterval: (seconds) =>
      inTurn(async () => {
        const had = clock.save().interval !== undefined
        clock.setInterval(seconds)
        pending.forget()
        return had
      }),

    dropTransaction: (hash) =>
      inTurn(async () => {
        if (!pool.has(hash)) return false
        pool.drop(hash)
        pending.forget()
        await store.batch(kept.drop([hash]))
        return true
      }),

    dropAllTransactions: () =>
      inTurn(async () => {
        pool.clear()
        pending.forget()
        await store.batch(kept.clear())
      }),

    impersonation: parts.impersonation,
    miningMode: parts.miningMode,
    asked: () => blockOverrides.asked,
    snapshots: () => snapshots.all.map(({ head, height }, index) => ({ id: index + 1, height, hash: head })),
    instanceId: parts.instanceId,
  }
}
