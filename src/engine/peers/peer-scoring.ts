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
/** Interval of writing counters, milliseconds: a crash loses at most this much of them. Bans are written at once. */
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
  const peers = new Map<string, Counters>()
  const bans = new Map<string, BannedRange>()
  const listeners = new Set<() => void>()
  const unwritten = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  for await (const [address, peerCounters] of tables.peerCounters.range()) {
    peers.set(address, { ...ZERO_COUNTERS, ...peerCounters })
  }
  const kept: { order: number; range: BannedRange }[] = []
  for await (const [text, order] of tables.bans.range()) {
    const range = parseBannedRange(text)
    if (range !== undefined) kept.push({ order, range })
  }
  kept.sort((a, b) => a.order - b.order)
  for (const { range } of kept) bans.set(range.key, range)
  let nextOrder = (kept.at(-1)?.order ?? 0) + 1
  let blocked = listOf(bans.values())

  const isBanned = (address: string): boolean =>
    bans.size > 0 && !isLoopback(address) && contains(blocked, address)

  async function write(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const writes: Write[] = []
    for (const address of unwritten) {
      const peerCounters = peers.get(address)
      writes.push(
        peerCounters === undefined
          ? tables.peerCounters.del(address)
          : tables.peerCounters.put(address, peerCounters),
      )
    }
    unwritten.clear()
    if (writes.length > 0) await store.batch(writes)
  }

  function changed(address: string): void {
    unwritten.add(address)
    // A failed write of counters is ignored; the next change writes them again.
    timer ??= setTimeout(() => void write().catch(() => {}), WRITE_MS).unref()
  }

  /** The counters of a caller, moved to the most recent place. */
  function touch(address: string): Counters {
    const known = peers.get(address)
    const counters = known ?? { ...ZERO_COUNTERS }
    if (known !== undefined) peers.delete(address)
    peers.set(address, counters)
    if (peers.size > MAX_PEERS) {
      for (const oldest of peers.keys()) {
        peers.delete(oldest)
        unwritten.add(oldest)
        break
      }
    }
    return counters
  }

  return {
    isBanned,
    recordEvent(address, event) {
      if (address === '' || isLoopback(address)) return
      const counters = touch(address)
      counters[event]++
      counters.score = nextScore(counters.score, event)
      changed(address)
    },
    async ban(text) {
      const range = parseBannedRange(text)
      if (range === undefined) return false
      if (bans.has(range.key)) return true
      bans.set(range.key, range)
      blocked = listOf(bans.values())
      const hit = listOf([range])
      for (const [address, counters] of peers) {
        if (!contains(hit, address)) continue
        counters.punishments++
        unwritten.add(address)
      }
      await store.batch([tables.bans.put(range.text, nextOrder++)])
      for (const listener of [...listeners]) listener()
      await write()
      return true
    },
    async unban(text) {
      const range = parseBannedRange(text)
      if (range === undefined) return false
      const banned = bans.get(range.key)
      if (banned === undefined) return true
      bans.delete(range.key)
      blocked = listOf(bans.values())
      await store.batch([tables.bans.del(banned.text)])
      return true
    },
    banned() {
      const ranges = [...bans.values()]
      const single = ranges.filter(({ bits }) => bits === undefined)
      return [...single, ...ranges.filter(({ bits }) => bits !== undefined)].map(({ text }) => text)
    },
    list: () =>
      [...peers].map(([address, peerCounters]) => ({
        ...peerCounters,
        address,
        isBanned: isBanned(address),
      })),
    async clearScore(address) {
      if (!peers.delete(address)) return
      unwritten.add(address)
      await write()
    },
    onBan(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: write,
  }
}
