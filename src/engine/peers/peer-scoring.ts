/** Scores and bans of the remote callers of this node. On disk. */
import { BlockList, isIPv4 } from 'node:net'
import { isLoopback } from '../../options/addresses.ts'
import type { Store } from '../../store/level.ts'
import type { Write } from '../../store/table.ts'
import { peerTables } from '../../store/tables.ts'
import { type BannedRange, parseBannedRange } from './banned-range.ts'
import { nextScore, type PeerCounters, type PeerEvent, ZERO_COUNTERS } from './score.ts'

/** A caller with its event counters. */
export interface PeerRecord extends PeerCounters {
  readonly address: string
  readonly isBanned: boolean
}

/** Scores and bans. Loopback callers are not counted and cannot be banned. */
export interface Peers {
  /** Counts an event of a caller. IPv4-mapped addresses must be given as IPv4. */
  recordEvent(address: string, event: PeerEvent): void
  isBanned(address: string): boolean
  /** Durable once it resolves; false when the text is no valid ban. Idempotent. */
  ban(text: string): Promise<boolean>
  /** Durable once it resolves; false when the text is no valid ban. Idempotent. */
  unban(text: string): Promise<boolean>
  /** Addresses, then ranges, each in the order of banning. */
  banned(): readonly string[]
  /** All known callers, the most recently active last. */
  list(): readonly PeerRecord[]
  /** Deletes a caller's counters, not its ban. */
  clearScore(address: string): Promise<void>
  /** Registers a listener for new bans; the returned function removes it. */
  onBan(listener: () => void): () => void
  /** Writes what is only in memory. */
  close(): Promise<void>
}

/** Number of callers whose counters are kept; the least recently active are dropped. */
const MAX_PEERS = 1000
/** Interval of writing counters, milliseconds: a crash loses the events of at most this time. Bans are written at once. */
const WRITE_MS = 5000

type Counters = { -readonly [K in keyof PeerCounters]: PeerCounters[K] }

function listOf(ranges: Iterable<BannedRange>): BlockList {
  const list = new BlockList()
  for (const { address, family, bits } of ranges) {
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, bits, family)
  }
  return list
}

const contains = (list: BlockList, address: string): boolean =>
  list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')

/** Opens the scores and bans of a store. */
export async function openPeers(store: Store): Promise<Peers> {
  const tables = peerTables(store)
  const counters = new Map<string, Counters>()
  for await (const [address, stored] of tables.peerCounters.range()) {
    counters.set(address, { ...ZERO_COUNTERS, ...stored })
  }
  const bans: StoredBan[] = []
  for await (const [text, order] of tables.bans.range()) {
    const range = parseBannedRange(text)
    if (range !== undefined) bans.push({ order, range })
  }
  bans.sort((a, b) => a.order - b.order)
  return new StoredPeers(store, counters, bans)
}

/** A ban and its place in the order of banning. */
interface StoredBan {
  readonly order: number
  readonly range: BannedRange
}

class StoredPeers implements Peers {
  readonly #store: Store
  readonly #tables: ReturnType<typeof peerTables>
  /** By address, the most recently active last. */
  readonly #counters: Map<string, Counters>
  readonly #bans: Map<string, BannedRange>
  /** The same ranges, for look-ups. */
  #banned: BlockList
  #nextOrder: number
  readonly #listeners = new Set<() => void>()
  readonly #unwritten = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(store: Store, counters: Map<string, Counters>, bans: readonly StoredBan[]) {
    this.#store = store
    this.#tables = peerTables(store)
    this.#counters = counters
    this.#bans = new Map(bans.map(({ range }) => [range.key, range]))
    this.#banned = listOf(this.#bans.values())
    this.#nextOrder = (bans.at(-1)?.order ?? 0) + 1
  }

  recordEvent(address: string, event: PeerEvent): void {
    if (address === '' || isLoopback(address)) return
    const counters = this.#touch(address)
    counters[event]++
    counters.score = nextScore(counters.score, event)
    this.#unwritten.add(address)
    // A failed write of counters is ignored; the next change writes them again.
    this.#timer ??= setTimeout(() => void this.#write().catch(() => {}), WRITE_MS).unref()
  }

  isBanned(address: string): boolean {
    return this.#bans.size > 0 && !isLoopback(address) && contains(this.#banned, address)
  }

  async ban(text: string): Promise<boolean> {
    const range = parseBannedRange(text)
    if (range === undefined) return false
    if (this.#bans.has(range.key)) return true
    this.#bans.set(range.key, range)
    this.#banned = listOf(this.#bans.values())
    this.#punish(range)
    await this.#store.batch([this.#tables.bans.put(range.text, this.#nextOrder++)])
    for (const listener of [...this.#listeners]) listener()
    await this.#write()
    return true
  }

  async unban(text: string): Promise<boolean> {
    const range = parseBannedRange(text)
    if (range === undefined) return false
    const banned = this.#bans.get(range.key)
    if (banned === undefined) return true
    this.#bans.delete(range.key)
    this.#banned = listOf(this.#bans.values())
    await this.#store.batch([this.#tables.bans.del(banned.text)])
    return true
  }

  banned(): readonly string[] {
    const ranges = [...this.#bans.values()]
    const single = ranges.filter(({ bits }) => bits === undefined)
    return [...single, ...ranges.filter(({ bits }) => bits !== undefined)].map(({ text }) => text)
  }

  list(): readonly PeerRecord[] {
    return [...this.#counters].map(([address, counters]) => ({
      ...counters,
      address,
      isBanned: this.isBanned(address),
    }))
  }

  async clearScore(address: string): Promise<void> {
    if (!this.#counters.delete(address)) return
    this.#unwritten.add(address)
    await this.#write()
  }

  onBan(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): Promise<void> {
    return this.#write()
  }

  async #write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { peerCounters } = this.#tables
    const writes: Write[] = []
    for (const address of this.#unwritten) {
      const counters = this.#counters.get(address)
      writes.push(counters === undefined ? peerCounters.del(address) : peerCounters.put(address, counters))
    }
    this.#unwritten.clear()
    if (writes.length > 0) await this.#store.batch(writes)
  }

  /** Counts a ban for the known callers in a range. */
  #punish(range: BannedRange): void {
    const list = listOf([range])
    for (const [address, counters] of this.#counters) {
      if (!contains(list, address)) continue
      counters.punishments++
      this.#unwritten.add(address)
    }
  }

  /** The counters of a caller, moved to the most recent place. */
  #touch(address: string): Counters {
    const known = this.#counters.get(address)
    const counters = known ?? { ...ZERO_COUNTERS }
    if (known !== undefined) this.#counters.delete(address)
    this.#counters.set(address, counters)
    if (this.#counters.size > MAX_PEERS) {
      for (const oldest of this.#counters.keys()) {
        this.#counters.delete(oldest)
        this.#unwritten.add(oldest)
        break
      }
    }
    return counters
  }
}
