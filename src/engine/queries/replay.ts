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
import { type BlockResult, type RecordedCalls, replayBlock } from '../../execution/apply-block.ts'
import { TransactionRejected } from '../../execution/apply-transaction.ts'
import type { ReplayChanges } from '../../execution/request.ts'
import type { OnDemand } from '../../state/fork/demand.ts'
import type { Overlay } from '../../state/overlay.ts'
import { type ChainAccess, environmentAt } from '../blockchain/ancestry.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { CallTrees } from '../recording/call-trees.ts'
import type { Lookup } from './lookup.ts'

/** Bytes of call trees in the cache. */
const CACHE_BYTES = 32 << 20

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
  /** For the last transaction, which has its index then. */
  readonly changes?: ReplayChanges | undefined
  readonly timeoutMs?: number | undefined
}

/** Replays of blocks. */
export interface Replays {
  /**
   * Runs a block of the chain, or the pending one, as at its import.
   * Throws `limit-exceeded` after the timeout, `block-not-found` when its parent is unknown, `transaction-refused` when a
   * transaction with changes can no longer be in the block, `invalid-params` for changes that cannot be made.
   * `timeoutMs` of wall clock, 0 for no limit, here and below; by default the node's own limit.
   */
  replay(block: ExecutedBlock, tracerOf: TracerOf, limits?: ReplayLimits): Promise<Replay>
  /** The call trees of a block's transactions, REMASC last; cached. Throws as `replay` does. */
  traces(block: ExecutedBlock, timeoutMs?: number): Promise<readonly TransactionTrace[]>
  /** The call tree of the transaction at an index; cached, unless it has changes. Throws as `replay` does. */
  trace(
    block: ExecutedBlock,
    index: number,
    limits?: Pick<ReplayLimits, 'changes' | 'timeoutMs'>,
  ): Promise<TransactionTrace>
}

interface Parts extends ChainAccess {
  readonly vm: Vm
  readonly lookup: Pick<Lookup, 'stateAfter'>
  readonly callTrees: CallTrees
  /** Milliseconds of wall clock for one replay; 0 is no limit. */
  readonly timeoutMs: number
  /** Bytes for the call trees of one replay. */
  readonly maxTraceBytes: number
  readonly onDemand: OnDemand
}

/** Call trees of a block: of all its transactions, or of one. */
interface Traced {
  readonly traces: readonly TransactionTrace[]
  readonly isWhole: boolean
  readonly bytes: number
}

const stateNotFound = (blockHash: Hex): NodeError =>
  new NodeError('block-not-found', `State not found for block with hash ${blockHash}`)

/** The replays of one chain. */
export class ChainReplays implements Replays {
  readonly #parts: Parts
  readonly #known = new LRUCache<Hex, Traced>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes),
  })

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async replay(
    executed: ExecutedBlock,
    tracerOf: TracerOf,
    { lastIndex, changes, timeoutMs = this.#parts.timeoutMs }: ReplayLimits = {},
  ): Promise<Replay> {
    const { config, blocks, vm, lookup } = this.#parts
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
        env: environmentAt(block.header, this.#parts),
        tracerOf,
        lastIndex,
        changes,
        yieldIfDue: createEventLoopYield('query'),
        remainingMs: () => end - performance.now(),
      })
    } catch (error) {
      if (changes !== undefined && error instanceof TransactionRejected) {
        throw new NodeError('transaction-refused', error.message)
      }
      // A rewind during the replay may have removed ancestors that the block reads.
      throw blocks.header(parentHash) === undefined ? stateNotFound(parentHash) : error
    }
  }

  async traces(block: ExecutedBlock, timeoutMs?: number): Promise<readonly TransactionTrace[]> {
    const cached = this.#known.get(block.hash)
    if (cached?.isWhole) return cached.traces
    const recorded = this.#recordedTraces(block)
    if (recorded !== undefined) return recorded
    if (block.block.transactions.length === 0) return []
    const found = await this.#parts.onDemand(() => this.#record(block, timeoutMs))
    this.#known.set(block.hash, found)
    return found.traces
  }

  async trace(
    block: ExecutedBlock,
    index: number,
    { changes, timeoutMs }: Pick<ReplayLimits, 'changes' | 'timeoutMs'> = {},
  ): Promise<TransactionTrace> {
    const known = changes === undefined ? await this.#knownTrace(block, index, timeoutMs) : undefined
    if (known !== undefined) return known
    const found = await this.#parts.onDemand(() => this.#record(block, timeoutMs, index, changes))
    if (changes === undefined) this.#known.set(block.hash, found)
    const [trace] = found.traces
    if (trace === undefined) throw new Error(`block ${block.hash} has no transaction ${index}`)
    return trace
  }

  /**
   * The trace from the cached ones of the block. When another transaction of the block was traced before, all of them
   * are now. `undefined` otherwise, and when the call trees of the block exceed the limit of memory together.
   */
  async #knownTrace(
    block: ExecutedBlock,
    index: number,
    timeoutMs: number | undefined,
  ): Promise<TransactionTrace | undefined> {
    const recorded = this.#recordedTrace(block, index)
    if (recorded !== undefined) return recorded
    const cached = this.#known.get(block.hash)
    const known = cached?.traces.find((trace) => trace.index === index)
    if (cached === undefined || known !== undefined) return known
    try {
      return (await this.traces(block, timeoutMs))[index]
    } catch (error) {
      if (error instanceof NodeError && error.kind === 'limit-exceeded') return undefined
      throw error
    }
  }

  /** What was recorded of a block; nothing where it exceeds the limit of memory. */
  #rootsOf({ hash }: ExecutedBlock): RecordedCalls['roots'] {
    const { callTrees, maxTraceBytes } = this.#parts
    const recorded = callTrees.of(hash)
    return recorded === undefined || recorded.bytes > maxTraceBytes ? [] : recorded.roots
  }

  #recordedTrace(block: ExecutedBlock, index: number): TransactionTrace | undefined {
    const root = this.#rootsOf(block)[index]
    const transaction = block.block.transactions[index]
    return root && transaction && { block, transaction, index, root }
  }

  /** Those of all transactions; `undefined` where one is missing. */
  #recordedTraces(block: ExecutedBlock): readonly TransactionTrace[] | undefined {
    const roots = this.#rootsOf(block)
    if (roots.length === 0 || roots.includes(undefined)) return undefined
    return roots.flatMap((_, index) => this.#recordedTrace(block, index) ?? [])
  }

  /** The call trees of all transactions, or of one only, which may have changes. */
  async #record(
    block: ExecutedBlock,
    timeoutMs: number | undefined,
    only?: number,
    changes?: ReplayChanges,
  ): Promise<Traced> {
    const budget = new TraceBudget(this.#parts.maxTraceBytes)
    const trees: { transaction: Transaction; index: number; tree: CallTracer }[] = []
    const tracerOf: TracerOf = (transaction, index) => {
      if (only !== undefined && index !== only) return undefined
      const tree = new CallTracer(budget)
      trees.push({ transaction, index, tree })
      return tree
    }
    await this.replay(block, tracerOf, { lastIndex: only, changes, timeoutMs })
    const traces = trees.map(({ transaction, index, tree }) => ({
      block,
      transaction,
      index,
      root: tree.root,
    }))
    return { traces, isWhole: only === undefined, bytes: budget.used }
  }
}
