/**
 * Filters on logs, blocks and pending transactions, which callers poll; one that is not polled expires
 * (docs/internals/rpc-reference.md#77-filters-and-logs).
 */
import { prepare } from '../../chain/log-filter.ts'
import { counted } from '../../counted.ts'
import { toBigInt } from '../../encoding/bytes.ts'
import { type Hex, toHex, toQuantity } from '../../encoding/hex.ts'
import type { CurrentEngine } from '../../engine/engine-holder.ts'
import type { LogView } from '../../engine/model.ts'
import type { RandomBytes } from '../../engine/randomness.ts'
import { NodeError } from '../../errors.ts'
import { fixedHeight, toLogQuery } from '../log-range.ts'
import type { RpcOptions } from '../rpc-options.ts'
import type { LogFilter } from '../wire/log-filter.ts'
import type { Backlog } from './backlog.ts'
import { FilterEvents } from './filter-events.ts'
import { createLogPoll, type LogCursor, type LogPoll } from './log-poll.ts'
import { Weights, weightOf } from './weight.ts'

/** Entries of a filter on blocks or transactions that can be read again after a poll. */
const KEPT_ENTRIES = 1000
/** Maximum number of steps or transactions kept for the slowest filter; a filter further behind expires. */
const MOST_WAITING = 262_144
/** Least number of events between two searches for those that all filters have read. */
const LEAST_HIGH_WATER = 1024
/** Least time between two searches for idle filters, milliseconds. */
const SWEEP_MS = 60_000
/** Attempts to read the past of a filter while the chain is reorganised. */
const MOST_ATTEMPTS = 10
/** Bytes of a hash in a reply, with its quotes and comma. */
const HASH_BYTES = 69

/** Result of a poll. */
export type Entries = readonly Hex[] | readonly LogView[]

interface LogSource extends LogCursor {
  readonly kind: 'logs'
}

interface HashSource {
  readonly kind: 'blocks' | 'transactions'
  /** What was returned last, `KEPT_ENTRIES` at most. */
  read: readonly Hex[]
}

interface Filter {
  readonly owner: string
  /** When it was last polled, milliseconds. */
  used: number
  /** Its current weight in its owner's limit. */
  weight: number
  /** Where in its backlog the next poll begins. */
  cursor: number
  /** The head when the filter was created, until the first change of the chain is received. */
  from?: Hex | undefined
  readonly of: LogSource | HashSource
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

/** A new id of what this node holds: the hex of a UUID. In a cluster other nodes find the node by it. */
export function heldId(random: RandomBytes): Hex {
  return toHex(new TextEncoder().encode(uuidOf(random('filter', 16))))
}

/** A new id of a filter; under a preset a number, since clients of Ethereum read at most 32 bytes (alloy). */
function filterId(random: RandomBytes, dialect: RpcOptions['dialect']): Hex {
  return dialect === 'rsk' ? heldId(random) : toQuantity(toBigInt(random('filter', 16)))
}

/**
 * The filters of a node. One belongs to the owner of the session that made it; to others it does not exist. While there
 * are none, no event is subscribed and nothing is kept.
 */
export class Filters {
  readonly #parts: Parts
  readonly #events: FilterEvents
  readonly #pollLogs: LogPoll
  readonly #filters = new Map<string, Filter>()
  readonly #weights = new Weights<string>()
  /** When idle filters were searched for last. */
  #swept = 0
  /** The number of events at which those that all filters have read are dropped next. */
  #highWaterMark = LEAST_HIGH_WATER

  constructor(parts: Parts) {
    const { node, options, elapsed } = parts
    this.#parts = parts
    this.#events = new FilterEvents(node, {
      recorded: () => this.#tidy(),
      replaced: () => this.#restart(),
    })
    const steps = () => this.#events.steps
    this.#pollLogs = createLogPoll({ node, elapsed, steps, hideRemasc: options.hideRemasc })
  }

  /** Makes a filter on logs and returns its id. Throws `too-many`, and what a query for its past throws. */
  async onLogs(filter: LogFilter, owner: string): Promise<Hex> {
    const of: LogSource = { kind: 'logs', filter, waiting: [] }
    const { id, made } = this.#add(owner, of)
    try {
      // A filter that starts at the head starts empty.
      const hasPast = filter.blockHash !== undefined || fixedHeight(filter.fromBlock) !== undefined
      if (hasPast) of.waiting = await this.#readPast(made, filter)
      this.#requireCapacity(made)
      this.#reweigh(id)
      prepare(filter.addresses, filter.topics)
    } catch (error) {
      this.#forget(id)
      throw error
    }
    return id
  }

  /** Makes a filter on the hashes of blocks or transactions and returns its id. Throws `too-many`. */
  onHashes(kind: HashSource['kind'], owner: string): Hex {
    return this.#add(owner, { kind, read: [] }).id
  }

  /**
   * The entries since the last call, in order; what does not fit a reply, or takes long, is returned by the next call.
   * `timeLimitMs` is that of the call; 0 is none. Throws `filter-not-found`.
   */
  async changes(id: string, owner: string, timeLimitMs: number): Promise<Entries> {
    const filter = this.#find(id, owner)
    const { of } = filter
    if (of.kind === 'logs') {
      return this.#logChanges(filter, of, timeLimitMs).finally(() => this.#reweigh(id))
    }
    const { hashes, end } = this.#hashesSince(filter, of.kind)
    filter.cursor = end
    of.read = [...of.read, ...hashes].slice(-KEPT_ENTRIES)
    return hashes
  }

  /** All that a log filter matches now; of the others the entries still at hand. Throws as `changes` and as a query. */
  async all(id: string, owner: string): Promise<Entries> {
    const filter = this.#find(id, owner)
    const { of } = filter
    if (of.kind !== 'logs') return [...of.read, ...this.#hashesSince(filter, of.kind).hashes]
    return this.#query(of.filter)
  }

  /** Removes a filter; false when there is none. */
  remove(id: string, owner: string): boolean {
    const filter = this.#filters.get(id)
    if (filter?.owner !== owner) return false
    const wasGone = this.#isGone(filter)
    this.#forget(id)
    return !wasGone
  }

  /** Moves all filters to the head of a new chain; what they have not returned of the old one is dropped. */
  #restart(): void {
    for (const filter of this.#filters.values()) {
      if (filter.of.kind === 'logs') filter.of.waiting = []
      else filter.of.read = []
      this.#begin(filter)
    }
  }

  #backlogOf({ of }: Filter): Pick<Backlog<unknown>, 'start' | 'end' | 'dropBefore'> {
    return of.kind === 'transactions' ? this.#events.transactions : this.#events.steps
  }

  /** Drops expired filters, and what all others have read. */
  #tidy(): void {
    if (this.#parts.elapsed() - this.#swept >= SWEEP_MS) this.#sweep()
    if (this.#events.size < this.#highWaterMark) return
    const oldest = new Map<Pick<Backlog<unknown>, 'end'>, number>()
    for (const filter of this.#filters.values()) {
      const backlog = this.#backlogOf(filter)
      oldest.set(backlog, Math.min(filter.cursor, oldest.get(backlog) ?? backlog.end))
    }
    for (const backlog of [this.#events.steps, this.#events.transactions]) {
      backlog.dropBefore(Math.max(oldest.get(backlog) ?? backlog.end, backlog.end - MOST_WAITING))
    }
    // Next after as many further events as there are filters, so that the search costs a constant time per event.
    this.#highWaterMark = 2 * this.#events.size + Math.max(LEAST_HIGH_WATER, this.#filters.size)
  }

  #isGone(filter: Filter): boolean {
    const { options, elapsed } = this.#parts
    const isIdle = options.filterTimeoutMs > 0 && elapsed() - filter.used > options.filterTimeoutMs
    return isIdle || filter.cursor < this.#backlogOf(filter).start
  }

  #sweep(): void {
    this.#swept = this.#parts.elapsed()
    for (const [id, filter] of this.#filters) if (this.#isGone(filter)) this.#forget(id)
  }

  /** Counts what a filter weighs now for its owner. */
  #hold(filter: Filter, weight: number): void {
    this.#weights.add(filter.owner, weight - filter.weight)
    filter.weight = weight
  }

  #forget(id: string): void {
    const filter = this.#filters.get(id)
    if (filter === undefined) return
    this.#hold(filter, 0)
    this.#filters.delete(id)
    if (this.#filters.size === 0) this.#events.stop()
  }

  /** After a poll, which changes how many logs wait. */
  #reweigh(id: string): void {
    const filter = this.#filters.get(id)
    if (filter !== undefined) this.#hold(filter, weigh(filter))
  }

  #add(owner: string, of: Filter['of']): { readonly id: Hex; readonly made: Filter } {
    const made: Filter = { owner, used: this.#parts.elapsed(), weight: 0, cursor: 0, of }
    this.#requireCapacity(made)
    this.#events.listen()
    const id = filterId(this.#parts.random, this.#parts.options.dialect)
    this.#begin(made)
    this.#filters.set(id, made)
    this.#hold(made, weigh(made))
    return { id, made }
  }

  /** Throws `too-many` when the owner's filters, with this one, are more than there may be. */
  #requireCapacity(added: Filter): void {
    const { maxFilters } = this.#parts.options
    if (maxFilters === 0) return
    const isFull = () => this.#weights.of(added.owner) - added.weight + weigh(added) > maxFilters
    if (!isFull()) return
    this.#sweep()
    if (!isFull()) return
    const hint = weigh(added) > 1 ? '; large ones count as several' : ''
    throw new NodeError(
      'too-many',
      `no more than ${counted(maxFilters, 'filter')} can be open at once${hint}`,
    )
  }

  /** Events from here on belong to the filter. */
  #begin(filter: Filter): void {
    filter.cursor = this.#backlogOf(filter).end
    filter.from = this.#parts.node.engine.queries.head().hash
  }

  /** Skips a change of the chain that had happened when the filter began, but was not yet reported. */
  #skipBegun(filter: Filter): void {
    const { steps } = this.#events
    const { head } = steps.at(filter.cursor) ?? {}
    if (head === undefined) return
    if (head === filter.from) while (steps.at(filter.cursor)?.head === head) filter.cursor++
    filter.from = undefined
  }

  /** The filter of this id, polled now. Throws `filter-not-found`. */
  #find(id: string, owner: string): Filter {
    const filter = this.#filters.get(id)
    if (filter?.owner === owner) {
      if (!this.#isGone(filter)) {
        filter.used = this.#parts.elapsed()
        if (filter.of.kind !== 'transactions') this.#skipBegun(filter)
        return filter
      }
      this.#forget(id)
    }
    throw new NodeError('filter-not-found', 'filter not found')
  }

  /** What a filter from an earlier block matches already; its cursor is set to where that ends. */
  async #readPast(filter: Filter, wanted: LogFilter): Promise<readonly LogView[]> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      this.#begin(filter)
      const { steps } = this.#events
      const past = await this.#query(wanted)
      const isSameChain = this.#events.steps === steps
      if (isSameChain && !steps.since(filter.cursor).some(({ removed }) => removed)) return past
    }
    throw new NodeError('limit-exceeded', 'the chain is reorganised faster than its logs can be read')
  }

  /** What the chain has of these logs now. */
  async #query(wanted: LogFilter): Promise<readonly LogView[]> {
    const { queries } = this.#parts.node.engine
    const query = toLogQuery(wanted, queries, this.#parts.options)
    return query === undefined ? [] : queries.logs(query)
  }

  /** Approximate bytes of the reply to a poll: the next one returns what does not fit. */
  #replyBytes(): number {
    const { maxResponseBytes } = this.#parts.options
    return maxResponseBytes > 0 ? maxResponseBytes * 0.9 : Number.POSITIVE_INFINITY
  }

  #logChanges(filter: Filter, of: LogSource, timeLimitMs: number): Promise<LogView[]> {
    // Entries are returned once: half of the time limit is left for the reply, or they would be lost.
    const until = timeLimitMs === 0 ? Number.POSITIVE_INFINITY : this.#parts.elapsed() + timeLimitMs / 2
    return this.#pollLogs(filter, of, { bytes: this.#replyBytes(), until })
  }

  /** The first hashes since the last poll, as many as a reply holds, and where the next poll begins. */
  #hashesSince({ cursor }: Filter, kind: HashSource['kind']): { hashes: Hex[]; end: number } {
    const { steps, transactions } = this.#events
    const most = Math.max(1, this.#replyBytes() / HASH_BYTES)
    const { end } = kind === 'transactions' ? transactions : steps
    const hashes: Hex[] = []
    let at = cursor
    for (; at < end && hashes.length < most; at++) {
      const step = steps.at(at)
      const joined = step?.removed ? undefined : step?.hash
      const hash = kind === 'transactions' ? transactions.at(at) : joined
      if (hash !== undefined) hashes.push(hash)
    }
    return { hashes, end: at }
  }
}
