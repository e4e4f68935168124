/** Filters of logs: whether a log matches, and whether a block with a bloom may hold one that does. */
import { fromHex, type Hex } from '../encoding/hex.ts'
import { bloomBits } from './bloom.ts'
import type { Log } from './receipt.ts'

/** For each position, the topics of which the log must have one; `null` or an empty list is a wildcard. */
export type TopicFilter = readonly (readonly Hex[] | null)[]

/**
 * Does a log come from one of the addresses (none is any) and have the topics asked for? Wildcards beyond the log's own
 * topics match (docs/internals/rpc-reference.md#77-filters-and-logs).
 */
export function matchesLog(log: Log, addresses: readonly Hex[], topics: TopicFilter): boolean {
  if (addresses.length > 0 && !addresses.includes(log.address)) return false
  for (let position = 0; position < topics.length; position++) {
    const wanted = topics[position]
    if (wanted === undefined || wanted === null || wanted.length === 0) continue
    const topic = log.topics[position]
    if (topic === undefined || !wanted.includes(topic)) return false
  }
  return true
}

/**
 * Makes a function that says whether encoded receipts may hold a matching log: they hold its address and topics as they
 * are. False is certain. One item is looked for, since a pass over the bytes takes a small part of the time that reading
 * each log does, and many passes take more: that of the last clause with a single item, as topics select more than addresses.
 */
export function encodedLogs(
  addresses: readonly Hex[],
  topics: TopicFilter,
): (receipts: Uint8Array) => boolean {
  const [item] = [addresses, ...topics].findLast((items) => items?.length === 1) ?? []
  if (item === undefined) return () => true
  const sought = Buffer.from(fromHex(item))
  return ({ buffer, byteOffset, length }) => Buffer.from(buffer, byteOffset, length).includes(sought)
}

/** Could a block with this bloom (256 bytes) hold a matching log? False is certain. */
export function bloomMightMatch(bloom: Uint8Array, addresses: readonly Hex[], topics: TopicFilter): boolean {
  if (!mightHoldAny(bloom, addresses)) return false
  for (const wanted of topics) if (wanted !== null && !mightHoldAny(bloom, wanted)) return false
  return true
}

/** One byte of a bloom and the bit that must be set in it. */
interface Probe {
  readonly at: number
  readonly mask: number
}

/** Hashed items: a query tests every bloom of its range for the same ones. */
const probesOf = new WeakMap<readonly Hex[], readonly (readonly Probe[])[]>()

/** Hashes the items of a filter in advance, so that the caller that sets it bears the cost. */
export function prepare(addresses: readonly Hex[], topics: TopicFilter): void {
  for (const items of [addresses, ...topics]) if (items !== null) probesFor(items)
}

function mightHoldAny(bloom: Uint8Array, items: readonly Hex[]): boolean {
  if (items.length === 0) return true
  return probesFor(items).some((item) => item.every(({ at, mask }) => ((bloom[at] ?? 0) & mask) !== 0))
}

function probesFor(items: readonly Hex[]): readonly (readonly Probe[])[] {
  let probes = probesOf.get(items)
  if (probes === undefined) {
    probes = items.map((item) =>
      bloomBits(item).map((bit) => ({ at: 255 - (bit >> 3), mask: 1 << (bit & 7) })),
    )
    probesOf.set(items, probes)
  }
  return probes
}
