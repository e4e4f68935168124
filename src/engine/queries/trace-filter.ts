/** The flat traces of transactions between given accounts, page by page (docs/rpc-reference.md#710-trace). */
import type { ExecutedBlock } from '../../chain/block.ts'
import { REMASC_SENDER } from '../../chain/config.ts'
import { contractAddress, type Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { CallFrame } from '../../evm/tracing/call-frame.ts'
import { type FlatFrame, flatten } from '../../evm/tracing/flatten.ts'
import { Lru } from '../../store/lru.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import type { HeightChunks } from '../model.ts'
import type { Lookup } from './lookup.ts'
import type { Replays, TransactionTrace } from './replay.ts'

/** Shown as the sender of REMASC transactions. */
const ZERO_ADDRESS: Hex = '0x0000000000000000000000000000000000000000'
/** Transactions whose number of traces is remembered, so that a later page need not run the blocks of earlier ones. */
const COUNTS = 200_000
/** Times that a query starts again because the chain moved under it. */
const MOST_RESTARTS = 3

/** Which traces. */
export interface TraceQuery {
  /** Heights, both included; nothing when there is none of them. */
  readonly range: { readonly from: number; readonly to: number }
  /** Whether the pending block comes after the range. */
  readonly pending: boolean
  /** Transactions of one of these to one of those; none is anybody. A created contract receives its creation. */
  readonly senders: readonly Hex[]
  readonly receivers: readonly Hex[]
  /** How many traces to pass over, and how many to give at most. */
  readonly after: number
  readonly count: number
  /** Milliseconds of wall clock that the query may take; 0 is no limit. */
  readonly timeoutMs: number
  /** Makes, anew for each attempt, a function called with each frame of the result; an exception of it ends the query. */
  admission(): (frame: CallFrame) => void
}

/** A frame of a transaction, as a row. */
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

function takesPart({ senders, receivers }: TraceQuery): (transaction: Transaction) => boolean {
  const from = new Set(senders)
  const to = new Set(receivers)
  return (transaction) => {
    const sender = transaction.from === REMASC_SENDER ? ZERO_ADDRESS : transaction.from
    if (from.size > 0 && !from.has(sender)) return false
    return to.size === 0 || to.has(transaction.to ?? contractAddress(transaction.from, transaction.nonce))
  }
}

/** Makes the query. It throws `limit-exceeded` when time is up. */
export function createTraceFilter(parts: Parts): (query: TraceQuery) => Promise<readonly FlatTrace[]> {
  const { blockchain, blocks, replays, blocksBetween } = parts
  /** Traces of each transaction of a block. */
  const counts = new Lru<Hex, readonly number[]>(COUNTS, (perTransaction) => perTransaction.length)

  /** Blocks that may hold what is asked for, in order. */
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
    const matches = takesPart(query)
    const end = query.timeoutMs > 0 ? performance.now() + query.timeoutMs : Number.POSITIVE_INFINITY
    const admit = query.admission()
    const found: FlatTrace[] = []
    let toPass = query.after
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
      if (known !== undefined && here <= toPass) {
        toPass -= here
        continue
      }
      const rows = (await replays.traces(block, left)).map(flatTraces)
      counts.set(
        block.hash,
        rows.map(({ length }) => length),
      )
      for (const index of wanted) {
        const all = rows[index] ?? []
        const passed = Math.min(toPass, all.length)
        toPass -= passed
        const page = all.slice(passed, passed + query.count - found.length)
        for (const { frame } of page) admit(frame)
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
      // A block's hash stands for all blocks below it.
      if (blockchain.hashAt(last) === tip || restarts === MOST_RESTARTS) return found
    }
  }
}
