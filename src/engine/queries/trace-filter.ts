/** Flat traces of transactions between given accounts, page by page (docs/internals/rpc-reference.md#710-trace). */
import { LRUCache } from 'lru-cache'
import type { ExecutedBlock } from '../../chain/block.ts'
import { REMASC_SENDER } from '../../chain/config.ts'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { CallFrame } from '../../evm/tracing/call-frame.ts'
import { type FlatFrame, flatten } from '../../evm/tracing/flatten.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import type { HeightChunks } from '../model.ts'
import type { Lookup } from './lookup.ts'
import type { Replays, TransactionTrace } from './replay.ts'

/** The sender that REMASC transactions show. */
const ZERO_ADDRESS: Hex = '0x0000000000000000000000000000000000000000'
/** Transactions whose number of traces is cached, so that a later page need not run the blocks of earlier ones. */
const COUNTS = 200_000
/** How often a query starts again after a reorganisation. */
const MOST_RESTARTS = 3

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
  readonly replays: Replays
  readonly blocksBetween: (
    senders: readonly Hex[],
    receivers: readonly Hex[],
    range: { readonly from: number; readonly to: number },
  ) => HeightChunks
  readonly block: Lookup['block']
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

/** Makes the query, which throws `limit-exceeded` after its timeout. */
export function createTraceFilter(parts: Parts): (query: TraceQuery) => Promise<readonly FlatTrace[]> {
  const { blockchain, blocks, replays, blocksBetween } = parts
  /** Number of traces per transaction, by block. */
  const counts = new LRUCache<Hex, readonly number[]>({
    maxSize: COUNTS,
    sizeCalculation: (perTransaction) => Math.max(1, perTransaction.length),
  })

  /** Blocks with matching transactions, in order. */
  async function* candidates(query: TraceQuery): AsyncGenerator<ExecutedBlock> {
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
    const view = pending ? await parts.block({ tag: 'pending' }) : undefined
    if (view !== undefined) yield view.executed
  }

  async function page(query: TraceQuery): Promise<readonly FlatTrace[]> {
    const matches = matcherOf(query)
    const end = query.timeoutMs > 0 ? performance.now() + query.timeoutMs : Number.POSITIVE_INFINITY
    const check = query.frameCheck()
    const found: FlatTrace[] = []
    let toSkip = query.after
    for await (const block of candidates(query)) {
      const { transactions } = block.block
      const wanted = transactions.flatMap((transaction, index) => (matches(transaction) ? [index] : []))
      if (wanted.length === 0) continue
      const left = end - performance.now()
      if (left <= 0) {
        throw new NodeError('limit-exceeded', 'Execution has got timeout out.')
      }
      const known = counts.get(block.hash)
      const here = wanted.reduce((sum, index) => sum + (known?.[index] ?? 0), 0)
      if (known !== undefined && here <= toSkip) {
        toSkip -= here
        continue
      }
      const rows = (await replays.traces(block, left)).map(flatTraces)
      counts.set(
        block.hash,
        rows.map(({ length }) => length),
      )
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

  return async function traceFilter(query) {
    if (query.count === 0) return []
    for (let restarts = 0; ; restarts++) {
      const last = Math.min(query.range.to, blockchain.head.block.header.number)
      const tip = blockchain.hashAt(last)
      const found = await page(query)
      // An equal hash at the last height means that no block below changed.
      if (blockchain.hashAt(last) === tip || restarts === MOST_RESTARTS) return found
    }
  }
}
