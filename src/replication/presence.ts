/** Who is there: each node's entry in a bucket that expires, and the leader's announcements of the end of the log. */
import type { KV } from '@nats-io/kv'
import type { z } from 'zod'
import type { Engine } from '../engine/engine.ts'
import { LEASE_MS } from './lease.ts'
import type { Link } from './link.ts'
import type { Member } from './member.ts'
import { Beat, type NodeEntry, type Reading, read } from './messages.ts'
import type { Names } from './names.ts'

/** Presence of a node. */
export interface Presence {
  /** Seconds since the node last had all that the leader had announced; for the leader, since it renewed its lease. */
  lag(): number
  /** `performance.now()` of another node, by its last announcement as the leader. */
  clockOf(node: string): number | undefined
  stop(): void
}

const BEAT_MS = 500
const ENTRY_MS = 800

/** Prefix of the keys of the nodes in the bucket. */
export const NODE_KEY = 'node.'

interface Parts {
  readonly link: Link
  readonly names: Names
  readonly bucket: KV
  readonly id: string
  readonly member: Member
  readonly engine: Pick<Engine, 'queries'>
  readonly reading: Reading
}

/** Announces a node, and reads the announcements of the leader. */
export function createPresence({ link, names, bucket, id, member, engine, reading }: Parts): Presence {
  /** When this node was last up to date, and the announcement that it has not caught up with. */
  let current = performance.now()
  let ahead: { readonly sequence: number; readonly at: number } | undefined

  /** Who announced itself last, and how far its clock is ahead of that of this node. */
  let announced: { readonly node: string; readonly ahead: number } | undefined

  function catchUp(): void {
    if (ahead === undefined || member.sequence < ahead.sequence) return
    current = ahead.at
    ahead = undefined
  }

  function lag(): number {
    catchUp()
    const { leadsUntil } = member
    const since = leadsUntil > 0 ? leadsUntil - LEASE_MS : current
    return Math.max(0, performance.now() - since) / 1000
  }

  const subscription = link.connection.subscribe(names.beat, {
    callback(error, message) {
      if (error !== null) return
      catchUp()
      const beat = reading('announcement', () => read(Beat, message.data))
      if (beat === undefined) return
      const { node, term, sequence, clock } = beat
      member.noteLeader(node, term)
      announced = { node, ahead: clock - performance.now() }
      ahead ??= { sequence, at: performance.now() }
      catchUp()
    },
  })

  const beating = setInterval(() => {
    if (member.leadsUntil > performance.now() && link.isUp) {
      link.connection.publish(
        names.beat,
        JSON.stringify({
          node: id,
          term: member.term,
          sequence: member.sequence,
          clock: performance.now(),
        } satisfies z.infer<typeof Beat>),
      )
      current = performance.now()
    }
  }, BEAT_MS)
  beating.unref()

  function announce(): void {
    if (!link.isUp) return
    const entry: z.infer<typeof NodeEntry> = {
      id,
      role: member.role,
      head: engine.queries.head().block.header.number,
      lag: Math.round(lag() * 1000) / 1000,
      term: member.term,
    }
    bucket.put(`${NODE_KEY}${id}`, JSON.stringify(entry)).catch(() => {})
  }
  announce()
  const announcing = setInterval(announce, ENTRY_MS)
  announcing.unref()

  return {
    lag,
    clockOf: (node) => (announced?.node === node ? performance.now() + announced.ahead : undefined),
    stop() {
      clearInterval(beating)
      clearInterval(announcing)
      subscription.unsubscribe()
      bucket.delete(`${NODE_KEY}${id}`).catch(() => {})
    },
  }
}
