/** Flat traces of transactions between given accounts, page by page (docs/internals/rpc-reference.md#710-trace). */
import { LRUCache } from 'lru-cache'
import { ZERO_ADDRESS } from '../../chain/account.ts'
import type { ExecutedBlock } from '../../chain/block.ts'
import { REMASC_SENDER } from '../../chain/config.ts'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { CallFrame } from '../../evm/tracing/call-frame.ts'
import { type FlatFrame, flatten } from '../../evm/tracing/flatten.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import type { HeightChunks } from '../model.ts'
import { atOneHead } from './at-one-head.ts'
import type { Lookup } from './lookup.ts'
import type { Replays, TransactionTrace } from './replay.ts'

/** Transactions whose number of traces is cached, so that a later page need not run the blocks of earlier ones. */
const COUNTS = 200_000

/** The selection of traces. */
export interface TraceQuery {
  /** Heights, both inclusive; may be empty. */
  readonly range: { readonly from: number; readonly to: number }
  /** Whether the pending block follows the range. */
  readonly pending: boolean
  /** Addresses; an empty list matches all. A creation has no receiver, as on the reference node. */
  readonly senders: readonly Hex[]
  readonly receivers: readonly Hex[]
  /** Leave out the traces of REMASC transactions. */
  readonly hideRemasc: boolean
  /** Number of traces to skip, and the most to return. */
  readonly after: number
  readonly count: number
  /** Milliseconds of wall clock that the query may take; 0 is no limit. */
  readonly timeoutMs: number
  /** Makes a check for one attempt: called with each frame of the answer, ends the query by throwing. */
  frameCheck(): (frame: CallFrame) => void
}

/** A row: a frame and its transaction. */
export interface FlatTrace extends FlatFrame {
  readonly trace: TransactionTrace
}

interface Parts extends Pick<ChainAccess, 'blockchain' | 'blocks'> {
  readonly replays: Pick<Replays, 'traces'>
  readonly blocksBetween: (
    senders: readonly Hex[],
    receivers: readonly Hex[],
    range: { readonly from: number; readonly to: number },
  ) => HeightChunks
  readonly lookup: Pick<Lookup, 'block'>
}

/** The rows of a transaction. */
export function flatTraces(trace: TransactionTrace): readonly FlatTrace[] {
  return flatten(trace.root).map((row) => ({ ...row, trace }))
}

function matcherOf({ senders, receivers, hideRemasc }: TraceQuery): (transaction: Transaction) => boolean {
  const from = new Set(senders)
  const to = new Set(receivers)
  return (transaction) => {
    if (hideRemasc && transaction.isRemasc) return false
    const sender = transaction.from === REMASC_SENDER ? ZERO_ADDRESS : transaction.from
    if (from.size > 0 && !from.has(sender)) return false
    return to.size === 0 || (transaction.to !== null && to.has(transaction.to))
  }
}

/** The trace query of a chain. */
export class TraceSearch {
  readonly #parts: Parts
  /** Number of traces per transaction, by block. */
  readonly #counts = new LRUCache<Hex, readonly number[]>({
    maxSize: COUNTS,
    sizeCalculation: (perTransaction) => Math.max(1, perTransaction.length),
  })

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The selected traces, in order. Throws `limit-exceeded` after the timeout. */
  async find(query: TraceQuery): Promise<readonly FlatTrace[]> {
    if (query.count === 0) return []
    return atOneHead(this.#parts.blockchain, () => this.#page(query), { upTo: query.range.to })
  }

  async #page(query: TraceQuery): Promise<readonly FlatTrace[]> {
    const matches = matcherOf(query)
    const end = query.timeoutMs > 0 ? performance.now() + query.timeoutMs : Number.POSITIVE_INFINITY
    const check = query.frameCheck()
    const found: FlatTrace[] = []
    let toSkip = query.after
    for await (const block of this.#candidates(query)) {
      const wanted = block.block.transactions.flatMap((transaction, index) =>
        matches(transaction) ? [index] : [],
      )
      if (wanted.length === 0) continue
      const left = end - performance.now()
      if (left <= 0) throw new NodeError('limit-exceeded', 'Execution has got timeout out.')
      const count = this.#knownCount(block, wanted)
      if (count !== undefined && count <= toSkip) {
        toSkip -= count
        continue
      }
      const rows = await this.#rowsOf(block, left)
      for (const index of wanted) {
        const all = rows[index] ?? []
        const skipped = Math.min(toSkip, all.length)
        toSkip -= skipped
        const page = all.slice(skipped, skipped + query.count - found.length)
        for (const { frame } of page) check(frame)
        found.push(...page)
        if (found.length >= query.count) return found
      }
    }
    return found
  }

  /** Blocks with matching transactions, in order. */
  async *#candidates(query: TraceQuery): AsyncGenerator<ExecutedBlock> {
    const { blockchain, blocks, blocksBetween } = this.#parts
    const { senders, receivers, range, pending } = query
    const to = Math.min(range.to, blockchain.head.block.header.number)
    if (range.from <= to) {
      for await (const heights of blocksBetween(senders, receivers, { from: range.from, to })) {
        for (const height of heights) {
          const hash = blockchain.hashAt(height)
          const block = hash === undefined ? undefined : blocks.get(hash)
          if (block !== undefined) yield block
        }
      }
    }
    const view = pending ? await this.#parts.lookup.block({ tag: 'pending' }) : undefined
    if (view !== undefined) yield view.executed
  }

  /** Number of traces of some transactions of a block, where it is cached. */
  #knownCount({ hash }: ExecutedBlock, indexes: readonly number[]): number | undefined {
    const counts = this.#counts.get(hash)
    return counts && indexes.reduce((sum, index) => sum + (counts[index] ?? 0), 0)
  }

  /** The traces of a block, by transaction. */
  async #rowsOf(block: ExecutedBlock, timeoutMs: number): Promise<readonly (readonly FlatTrace[])[]> {
    const rows = (await this.#parts.replays.traces(block, timeoutMs)).map(flatTraces)
    this.#counts.set(
      block.hash,
      rows.map(({ length }) => length),
    )
    return rows
  }
}
