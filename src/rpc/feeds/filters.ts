/**
 * Filters on logs, blocks and pending transactions, which callers poll; one that is not polled expires
 * (docs/internals/rpc-reference.md#77-filters-and-logs).
 */
import { prepare } from '../../chain/log-filter.ts'
import { type Hex, toHex } from '../../encoding/hex.ts'
import type { CurrentEngine } from '../../engine/engine-holder.ts'
import type { ChainUpdate, LogView, PoolUpdate } from '../../engine/model.ts'
import type { RandomBytes } from '../../engine/randomness.ts'
import { NodeError } from '../../errors.ts'
import { fixedHeight, toLogQuery } from '../log-range.ts'
import type { RpcOptions } from '../rpc-options.ts'
import type { LogFilter } from '../wire/log-filter.ts'
import { Backlog } from './backlog.ts'
import { chainSteps, headAfter } from './chain-steps.ts'
import { type BlockStep, createLogPoll, type LogCursor } from './log-poll.ts'
import { weightOf } from './weight.ts'

/** Entries of a filter on blocks or transactions that can be read again after a poll. */
const KEPT_ENTRIES = 1000
/** Most steps or transactions that are kept for the slowest filter; one further behind expires. */
const MOST_WAITING = 262_144
/** Least time between two searches for idle filters, milliseconds. */
const SWEEP_MS = 60_000
/** Attempts to read the past of a filter while the chain is reorganised. */
const MOST_ATTEMPTS = 10
/** Bytes of a hash in a reply, with its quotes and comma. */
const HASH_BYTES = 69

/** Result of a poll. */
export type Entries = readonly Hex[] | readonly LogView[]

/** The filters of a node. One belongs to the owner of the session that made it; to others it does not exist. */
export interface Filters {
  /** Each gives the new filter's id. They throw `too-many`, and what a query for the filter's past throws. */
  onLogs(filter: LogFilter, owner: string): Promise<Hex>
  onBlocks(owner: string): Hex
  onTransactions(owner: string): Hex
  /**
   * The entries since the last call, in order; what does not fit a reply, or takes long, is returned by the next call.
   * `timeLimitMs` is that of the call; 0 is none. Throws `filter-not-found`.
   */
  changes(id: string, owner: string, timeLimitMs: number): Promise<Entries>
  /** All that a log filter matches now; of the others the entries still at hand. Throws as `changes` and as a query. */
  all(id: string, owner: string): Promise<Entries>
  /** False when there is none. */
  remove(id: string, owner: string): boolean
}

/** The hash of a block that joined the chain. */
function joined(step: BlockStep | undefined): Hex | undefined {
  return step?.removed ? undefined : step?.hash
}

interface Filter {
  readonly owner: string
  /** When it was last polled, milliseconds. */
  used: number
  /** What it counts for its owner now. */
  weight: number
  /** Where in its backlog the next poll begins. */
  cursor: number
  /** The head when it began, until the first change of the chain was received. */
  from?: Hex | undefined
  readonly of:
    | (LogCursor & { readonly kind: 'logs' })
    | { readonly kind: 'blocks' | 'transactions'; read: readonly Hex[] }
}

interface Parts {
  readonly node: CurrentEngine
  readonly options: RpcOptions
  /** Milliseconds from any start. */
  readonly elapsed: () => number
  readonly random: RandomBytes
}

function weigh({ of }: Filter): number {
  return of.kind === 'logs' ? weightOf(of.filter, of.waiting.length) : 1
}

/** The text of a random UUID (version 4 of RFC 9562) with these 16 bytes. */
function uuidOf(bytes: Uint8Array): string {
  const digits = toHex(bytes).slice(2)
  const variant = '89ab'[(bytes[8] ?? 0) & 3]
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20)}`
}

/** Makes the filters of a node. While there are none, no event is subscribed and nothing is kept. */
export function createFilters({ node, options, elapsed, random }: Parts): Filters {
  const filters = new Map<string, Filter>()
  /** Total weight of an owner's filters. */
  const weights = new Map<string, number>()
  let steps = new Backlog<BlockStep>()
  let transactions = new Backlog<Hex>()
  const { hideRemasc } = options
  const pollLogs = createLogPoll({ node, elapsed, steps: () => steps, hideRemasc })
  let unsubscribe: (() => void) | undefined
  let swept = 0
  let highWaterMark = 1024

  function listen(): void {
    if (unsubscribe !== undefined) return
    const { events } = node
    const stops = [events.on('chain', onChain), events.on('pool', onPool), events.on('replaced', onReplaced)]
    unsubscribe = () => {
      for (const stop of stops) stop()
      unsubscribe = undefined
      steps = new Backlog<BlockStep>()
      transactions = new Backlog<Hex>()
    }
  }

  function onChain(update: ChainUpdate): void {
    const head = headAfter(update)
    if (head === undefined) return
    for (const { block, removed } of chainSteps(update)) {
      const { number, logsBloom } = block.block.header
      steps.push({ hash: block.hash, number, logsBloom, removed, head, ...(removed && { block }) })
    }
    tidy()
  }

  function onPool({ added }: PoolUpdate): void {
    for (const { hash } of added) transactions.push(hash)
    tidy()
  }

  /** All filters go on with the new chain, from its head; what they have not returned of the old one is dropped. */
  function onReplaced(): void {
    steps = new Backlog<BlockStep>()
    transactions = new Backlog<Hex>()
    for (const filter of filters.values()) {
      if (filter.of.kind === 'logs') filter.of.waiting = []
      else filter.of.read = []
      begin(filter)
    }
  }

  function backlogOf({ of }: Filter): Pick<Backlog<unknown>, 'start' | 'end'> {
    return of.kind === 'transactions' ? transactions : steps
  }

  /** Drops expired filters, and what all others have read. */
  function tidy(): void {
    if (elapsed() - swept >= SWEEP_MS) sweep()
    if (steps.end - steps.start + transactions.end - transactions.start < highWaterMark) return
    const oldest = new Map<Pick<Backlog<unknown>, 'end'>, number>()
    for (const filter of filters.values()) {
      const backlog = backlogOf(filter)
      oldest.set(backlog, Math.min(filter.cursor, oldest.get(backlog) ?? backlog.end))
    }
    for (const backlog of [steps, transactions]) {
      backlog.dropBefore(Math.max(oldest.get(backlog) ?? backlog.end, backlog.end - MOST_WAITING))
    }
    // The next time after as many events as there are filters to go through.
    const waiting = steps.end - steps.start + transactions.end - transactions.start
    highWaterMark = 2 * waiting + Math.max(1024, filters.size)
  }

  function isGone(filter: Filter): boolean {
    const isIdle = options.filterTimeoutMs > 0 && elapsed() - filter.used > options.filterTimeoutMs
    return isIdle || filter.cursor < backlogOf(filter).start
  }

  function sweep(): void {
    swept = elapsed()
    for (const [id, filter] of filters) if (isGone(filter)) forget(id)
  }

  /** Counts what a filter weighs now for its owner. */
  function hold(filter: Filter, weight: number): void {
    const total = (weights.get(filter.owner) ?? 0) + weight - filter.weight
    filter.weight = weight
    if (total === 0) weights.delete(filter.owner)
    else weights.set(filter.owner, total)
  }

  function forget(id: string): void {
    const filter = filters.get(id)
    if (filter === undefined) return
    hold(filter, 0)
    filters.delete(id)
    if (filters.size === 0) unsubscribe?.()
  }

  /** After a poll, which changes how many logs wait. */
  function reweigh(id: string): void {
    const filter = filters.get(id)
    if (filter !== undefined) hold(filter, weigh(filter))
  }

  function add(owner: string, of: Filter['of']): { id: Hex; filter: Filter } {
    const filter: Filter = { owner, used: elapsed(), weight: 0, cursor: 0, of }
    requireCapacity(filter)
    listen()
    const id = toHex(new TextEncoder().encode(uuidOf(random('filter', 16))))
    begin(filter)
    filters.set(id, filter)
    hold(filter, weigh(filter))
    return { id, filter }
  }

  /** Throws `too-many` when the owner's filters, with this one, are more than there may be. */
  function requireCapacity(added: Filter): void {
    const { maxFilters } = options
    if (maxFilters === 0) return
    const isFull = () => (weights.get(added.owner) ?? 0) - added.weight + weigh(added) > maxFilters
    if (!isFull()) return
    sweep()
    if (!isFull()) return
    const hint = weigh(added) > 1 ? '; large ones count as several' : ''
    throw new NodeError('too-many', `no more than ${maxFilters} filters can be open at once${hint}`)
  }

  /** Events from here on belong to the filter. */
  function begin(filter: Filter): void {
    filter.cursor = backlogOf(filter).end
    filter.from = node.engine.queries.head().hash
  }

  /** Skips a change of the chain that had happened when the filter began, but was not yet reported. */
  function passBegun(filter: Filter): void {
    const { head } = steps.at(filter.cursor) ?? {}
    if (head === undefined) return
    if (head === filter.from) while (steps.at(filter.cursor)?.head === head) filter.cursor++
    filter.from = undefined
  }

  /** The filter of this id, polled now. Throws `filter-not-found`. */
  function find(id: string, owner: string): Filter {
    const filter = filters.get(id)
    if (filter?.owner === owner) {
      if (!isGone(filter)) {
        filter.used = elapsed()
        if (filter.of.kind !== 'transactions') passBegun(filter)
        return filter
      }
      forget(id)
    }
    throw new NodeError('filter-not-found', 'filter not found')
  }

  /** What a filter from an earlier block matches already; its cursor is set to where that ends. */
  async function readPast(filter: Filter, wanted: LogFilter): Promise<readonly LogView[]> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      begin(filter)
      const backlog = steps
      const { queries } = node.engine
      const query = toLogQuery(wanted, queries, options)
      const past = query === undefined ? [] : await queries.logs(query)
      if (steps === backlog && !steps.since(filter.cursor).some(({ removed }) => removed)) return past
    }
    throw new NodeError('limit-exceeded', 'the chain is reorganised faster than its logs can be read')
  }

  /** Approximate bytes of the reply to a poll: the next one returns what does not fit. */
  function replyBytes(): number {
    return options.maxResponseBytes > 0 ? options.maxResponseBytes * 0.9 : Number.POSITIVE_INFINITY
  }

  function logChanges(
    filter: Filter,
    of: Filter['of'] & { kind: 'logs' },
    timeLimitMs: number,
  ): Promise<LogView[]> {
    // Entries are returned once: half of the time limit is left for the reply, or they would be lost.
    const until = timeLimitMs === 0 ? Number.POSITIVE_INFINITY : elapsed() + timeLimitMs / 2
    return pollLogs(filter, of, { bytes: replyBytes(), until })
  }

  return {
    async onLogs(filter, owner) {
      const of = { kind: 'logs' as const, filter, waiting: [] as readonly LogView[] }
      const { id, filter: made } = add(owner, of)
      try {
        // One that begins at the head starts empty.
        const hasPast = filter.blockHash !== undefined || fixedHeight(filter.fromBlock) !== undefined
        if (hasPast) of.waiting = await readPast(made, filter)
        requireCapacity(made)
        reweigh(id)
        prepare(filter.addresses, filter.topics)
      } catch (error) {
        forget(id)
        throw error
      }
      return id
    },
    onBlocks: (owner) => add(owner, { kind: 'blocks', read: [] }).id,
    onTransactions: (owner) => add(owner, { kind: 'transactions', read: [] }).id,
    async changes(id, owner, timeLimitMs) {
      const filter = find(id, owner)
      const { of } = filter
      if (of.kind === 'logs') return logChanges(filter, of, timeLimitMs).finally(() => reweigh(id))
      const fresh = hashesSince(filter, of.kind)
      filter.cursor = fresh.end
      of.read = [...of.read, ...fresh.hashes].slice(-KEPT_ENTRIES)
      return fresh.hashes
    },
    async all(id, owner) {
      const filter = find(id, owner)
      const { of } = filter
      if (of.kind !== 'logs') return [...of.read, ...hashesSince(filter, of.kind).hashes]
      const { queries } = node.engine
      const query = toLogQuery(of.filter, queries, options)
      return query === undefined ? [] : queries.logs(query)
    },
    remove(id, owner) {
      const filter = filters.get(id)
      if (filter?.owner !== owner) return false
      const wasGone = isGone(filter)
      forget(id)
      return !wasGone
    },
  }

  /** The first of what came since the last poll, as many as a reply holds, and where the next poll begins. */
  function hashesSince({ cursor }: Filter, kind: 'blocks' | 'transactions'): { hashes: Hex[]; end: number } {
    const most = Math.max(1, replyBytes() / HASH_BYTES)
    const { end } = kind === 'transactions' ? transactions : steps
    const hashes: Hex[] = []
    let at = cursor
    for (; at < end && hashes.length < most; at++) {
      const hash = kind === 'transactions' ? transactions.at(at) : joined(steps.at(at))
      if (hash !== undefined) hashes.push(hash)
    }
    return { hashes, end: at }
  }
}
