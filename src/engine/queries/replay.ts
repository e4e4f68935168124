/** Runs blocks again on their parent's state, with tracers. */
import { LRUCache } from 'lru-cache'
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { Vm } from '../../evm/rules.ts'
import type { CallFrame } from '../../evm/tracing/call-frame.ts'
import { CallTracer } from '../../evm/tracing/call-tracer.ts'
import { TraceBudget } from '../../evm/tracing/trace-budget.ts'
import type { Tracer } from '../../evm/tracing/tracer.ts'
import { type BlockResult, replayBlock } from '../../execution/apply-block.ts'
import type { OnDemand } from '../../state/fork/demand.ts'
import type { Overlay } from '../../state/overlay.ts'
import { type ChainAccess, environmentAt } from '../blockchain/ancestry.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { Lookup } from './lookup.ts'

/** Bytes of call trees in the cache. */
const CACHE_BYTES = 32 << 20
/** Blocks remembered after a trace of a single transaction. */
const RECENT_BLOCKS = 64

/** The tracer of the transaction at an index of a block, if any. */
export type TracerOf = (transaction: Transaction, index: number) => Tracer | undefined

/** A block run again. */
export interface Replay {
  /** Absent when the replay stopped before the end. */
  readonly result?: BlockResult
  /** The state at the end of the replay. */
  readonly state: Overlay
}

/** A transaction of a block with its call tree. */
export interface TransactionTrace {
  readonly block: ExecutedBlock
  readonly transaction: Transaction
  readonly index: number
  readonly root: CallFrame
}

/** Limits of a replay. */
export interface ReplayLimits {
  /** The last transaction to run. */
  readonly lastIndex?: number | undefined
  readonly timeoutMs?: number | undefined
}

/** Replays of blocks. */
export interface Replays {
  /**
   * Runs a block of the chain, or the pending one, as at its import.
   * Throws `limit-exceeded` after the timeout, `block-not-found` when its parent is unknown.
   * `timeoutMs` of wall clock, 0 for no limit, here and below; by default the node's own limit.
   */
  replay(block: ExecutedBlock, tracerOf: TracerOf, limits?: ReplayLimits): Promise<Replay>
  /** The call trees of a block's transactions, REMASC last; cached. Throws as `replay` does. */
  traces(block: ExecutedBlock, timeoutMs?: number): Promise<readonly TransactionTrace[]>
  /** The call tree of the transaction at an index. Throws as `replay` does. */
  trace(block: ExecutedBlock, index: number, timeoutMs?: number): Promise<TransactionTrace>
}

interface Parts extends ChainAccess {
  readonly vm: Vm
  readonly lookup: Pick<Lookup, 'stateAfter'>
  /** Milliseconds of wall clock for one replay; 0 is no limit. */
  readonly timeoutMs: number
  /** Bytes for the call trees of one replay. */
  readonly maxTraceBytes: number
  readonly onDemand: OnDemand
}

interface Traced {
  readonly traces: readonly TransactionTrace[]
  readonly bytes: number
}

const stateNotFound = (blockHash: Hex): NodeError =>
  new NodeError('block-not-found', `State not found for block with hash ${blockHash}`)

/** Makes the replays of one chain. */
export function createReplays(parts: Parts): Replays {
  const { config, blocks, vm, lookup, maxTraceBytes, onDemand } = parts
  const known = new LRUCache<Hex, Traced>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes),
  })
  const tracedSingly = new LRUCache<Hex, true>({ max: RECENT_BLOCKS })

  async function replay(
    executed: ExecutedBlock,
    tracerOf: TracerOf,
    { lastIndex, timeoutMs = parts.timeoutMs }: ReplayLimits = {},
  ): Promise<Replay> {
    const { block } = executed
    const { parentHash } = block.header
    const parent = blocks.get(parentHash)
    if (parent === undefined) throw stateNotFound(parentHash)
    const end = timeoutMs > 0 ? performance.now() + timeoutMs : Number.POSITIVE_INFINITY
    try {
      return await replayBlock({
        block,
        config,
        vm,
        parentState: lookup.stateAfter(parent),
        env: environmentAt(block.header, parts),
        tracerOf,
        lastIndex,
        yieldIfDue: createEventLoopYield('query'),
        remainingMs: () => end - performance.now(),
      })
    } catch (error) {
      // A rewind meanwhile removed ancestors that the block reads.
      throw blocks.header(parentHash) === undefined ? stateNotFound(parentHash) : error
    }
  }

  /** The call trees of all transactions, or of one only. */
  async function record(block: ExecutedBlock, timeoutMs: number | undefined, only?: number): Promise<Traced> {
    const budget = new TraceBudget(maxTraceBytes)
    const trees: { transaction: Transaction; index: number; tree: CallTracer }[] = []
    await replay(
      block,
      (transaction, index) => {
        if (only !== undefined && index !== only) return undefined
        const tree = new CallTracer(budget)
        trees.push({ transaction, index, tree })
        return tree
      },
      { lastIndex: only, timeoutMs },
    )
    const traces = trees.map(({ transaction, index, tree }) => ({
      block,
      transaction,
      index,
      root: tree.root,
    }))
    return { traces, bytes: budget.used }
  }

  async function traces(block: ExecutedBlock, timeoutMs?: number): Promise<readonly TransactionTrace[]> {
    const cached = known.get(block.hash)
    if (cached !== undefined) return cached.traces
    if (block.block.transactions.length === 0) return []
    const found = await onDemand(() => record(block, timeoutMs))
    if (found.bytes <= CACHE_BYTES) known.set(block.hash, found)
    return found.traces
  }

  /** The call trees of a whole block; `undefined` when they exceed the limit of memory together. */
  async function wholeBlock(
    block: ExecutedBlock,
    timeoutMs: number | undefined,
  ): Promise<readonly TransactionTrace[] | undefined> {
    try {
      return await traces(block, timeoutMs)
    } catch (error) {
      if (error instanceof NodeError && error.kind === 'limit-exceeded') return undefined
      throw error
    }
  }

  return {
    replay,
    traces,
    async trace(block, index, timeoutMs) {
      // The second request for a single transaction of a block traces the whole block into the cache.
      const isSecond = tracedSingly.get(block.hash) === true
      tracedSingly.set(block.hash, true)
      const found =
        (isSecond || known.get(block.hash) !== undefined
          ? (await wholeBlock(block, timeoutMs))?.[index]
          : undefined) ?? (await onDemand(() => record(block, timeoutMs, index))).traces[0]
      if (found === undefined) throw new Error(`block ${block.hash} has no transaction ${index}`)
      return found
    },
  }
}
