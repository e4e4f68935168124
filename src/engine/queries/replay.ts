/** Blocks run again on their parent's state, for those who listen: any transaction, old or new, can be looked into. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { CallFrame } from '../../evm/tracing/call-frame.ts'
import { CallTracer } from '../../evm/tracing/call-tracer.ts'
import { TraceBudget } from '../../evm/tracing/trace-budget.ts'
import type { Tracer } from '../../evm/tracing/tracer.ts'
import type { Vm } from '../../evm/vm.ts'
import { type BlockResult, replayBlock } from '../../execution/apply-block.ts'
import type { Overlay } from '../../state/overlay.ts'
import { Lru } from '../../store/lru.ts'
import { type ChainAccess, environmentAt } from '../blockchain/ancestry.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { Lookup } from './lookup.ts'

/** Bytes of finished call trees kept at hand. */
const CACHE_BYTES = 32 << 20
/** So many blocks are remembered of which one transaction was traced for itself. */
const REMEMBERED = 64

/** Who listens to the transaction at an index of a block; nobody when `undefined`. */
export type TracerOf = (transaction: Transaction, index: number) => Tracer | undefined

/** A block run again. */
export interface Replay {
  /** Absent when the replay stopped before the end. */
  readonly result?: BlockResult
  /** The state as the replay left it. */
  readonly state: Overlay
}

/** A transaction of a block and the calls that it made. */
export interface TransactionTrace {
  readonly block: ExecutedBlock
  readonly transaction: Transaction
  readonly index: number
  readonly root: CallFrame
}

/** Where a replay ends. */
export interface ReplayLimits {
  /** Nothing behind this transaction is run. */
  readonly lastIndex?: number | undefined
  readonly timeoutMs?: number | undefined
}

/** Looks into blocks. */
export interface Replays {
  /**
   * Runs a block that stands, or the pending one, as it was run when it came.
   * Throws `limit-exceeded` when time is up, `block-not-found` when its parent is unknown.
   * `timeoutMs` of wall clock, 0 for no limit, here and below; the node's own limit unless given.
   */
  replay(block: ExecutedBlock, tracerOf: TracerOf, limits?: ReplayLimits): Promise<Replay>
  /** The calls of every transaction of a block, the REMASC transaction last; from a small cache. Throws as `replay` does. */
  traces(block: ExecutedBlock, timeoutMs?: number): Promise<readonly TransactionTrace[]>
  /** The calls of the transaction at an index. Throws as `replay` does. */
  trace(block: ExecutedBlock, index: number, timeoutMs?: number): Promise<TransactionTrace>
}

interface Parts extends ChainAccess {
  readonly vm: Vm
  readonly lookup: Pick<Lookup, 'stateAfter'>
  /** Milliseconds of wall clock that one replay may take; 0 is no limit. */
  readonly timeoutMs: number
  /** Bytes that the calls of one replay may take. */
  readonly maxTraceBytes: number
}

interface Traced {
  readonly traces: readonly TransactionTrace[]
  readonly bytes: number
}

/** Makes the replays of one chain. */
export function createReplays(parts: Parts): Replays {
  const { config, blocks, vm, lookup, maxTraceBytes } = parts
  const known = new Lru<Hex, Traced>(CACHE_BYTES, ({ bytes }) => bytes)
  const askedOnce = new Lru<Hex, true>(REMEMBERED)

  async function replay(
    executed: ExecutedBlock,
    tracerOf: TracerOf,
    { lastIndex, timeoutMs = parts.timeoutMs }: ReplayLimits = {},
  ): Promise<Replay> {
    const { block } = executed
    const parent = blocks.get(block.header.parentHash)
    if (parent === undefined) {
      throw new NodeError('block-not-found', `State not found for block with hash ${block.header.parentHash}`)
    }
    const end = timeoutMs > 0 ? performance.now() + timeoutMs : Number.POSITIVE_INFINITY
    return replayBlock({
      block,
      config,
      vm,
      parentState: lookup.stateAfter(parent),
      env: environmentAt(block.header, parts),
      tracerOf,
      lastIndex,
      breathe: createEventLoopYield('query'),
      remainingMs: () => end - performance.now(),
    })
  }

  /** The calls of all transactions, or of one only. */
  async function grow(
    block: ExecutedBlock,
    budget: TraceBudget,
    timeoutMs: number | undefined,
    only?: number,
  ): Promise<readonly TransactionTrace[]> {
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
    return trees.map(({ transaction, index, tree }) => ({ block, transaction, index, root: tree.root }))
  }

  async function traces(block: ExecutedBlock, timeoutMs?: number): Promise<readonly TransactionTrace[]> {
    const cached = known.get(block.hash)
    if (cached !== undefined) return cached.traces
    if (block.block.transactions.length === 0) return []
    const budget = new TraceBudget(maxTraceBytes)
    const found = await grow(block, budget, timeoutMs)
    if (budget.used <= CACHE_BYTES) known.set(block.hash, { traces: found, bytes: budget.used })
    return found
  }

  /** The calls of a whole block, unless they are too many to be kept together. */
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
      // Whoever asks for one transaction after another gets the rest of the block from the second on.
      const isSecond = askedOnce.get(block.hash) === true
      askedOnce.set(block.hash, true)
      const found =
        (isSecond || known.get(block.hash) !== undefined
          ? (await wholeBlock(block, timeoutMs))?.[index]
          : undefined) ?? (await grow(block, new TraceBudget(maxTraceBytes), timeoutMs, index))[0]
      if (found === undefined) throw new Error(`block ${block.hash} has no transaction ${index}`)
      return found
    },
  }
}
