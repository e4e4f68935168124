/** The nodes of a cluster: each node's entry in a bucket that expires, and the leader's announcements of the end of the log. */
import type { KV } from '@nats-io/kv'
import type { z } from 'zod'
import type { Engine } from '../engine/engine.ts'
import { LEASE_MS } from './lease.ts'
import type { Link } from './link.ts'
import type { Member } from './member.ts'
import { Beat, type NodeEntry, type Reading, read } from './messages.ts'
import type { Names } from './names.ts'

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
export class Presence {
  readonly #parts: Parts
  readonly #subscription: { unsubscribe(): void }
  readonly #timers: readonly NodeJS.Timeout[]
  /** When this node was last up to date, and the first announcement that it has not caught up with since. */
  #current = performance.now()
  #ahead: { readonly sequence: number; readonly at: number } | undefined
  /** The node that announced itself last, and how far its clock is ahead of this node's. */
  #announced: { readonly node: string; readonly ahead: number } | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#subscription = parts.link.connection.subscribe(parts.names.beat, {
      callback: (error, message) => {
        if (error === null) this.#hear(message.data)
      },
    })
    this.#announce()
    this.#timers = [
      setInterval(() => this.#beat(), BEAT_MS).unref(),
      setInterval(() => this.#announce(), ENTRY_MS).unref(),
    ]
  }

  /** Seconds since the node last had all that the leader had announced; for the leader, since it renewed its lease. */
  lag(): number {
    this.#catchUp()
    const { leadsUntil } = this.#parts.member
    const since = leadsUntil > 0 ? leadsUntil - LEASE_MS : this.#current
    return Math.max(0, performance.now() - since) / 1000
  }

  /** `performance.now()` of another node, by its last announcement as the leader. */
  clockOf(node: string): number | undefined {
    return this.#announced?.node === node ? performance.now() + this.#announced.ahead : undefined
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#subscription.unsubscribe()
    const { bucket, id } = this.#parts
    bucket.delete(`${NODE_KEY}${id}`).catch(() => {})
  }

  #catchUp(): void {
    if (this.#ahead === undefined || this.#parts.member.sequence < this.#ahead.sequence) return
    this.#current = this.#ahead.at
    this.#ahead = undefined
  }

  #hear(data: Uint8Array): void {
    this.#catchUp()
    const { reading, member } = this.#parts
    const beat = reading('announcement', () => read(Beat, data))
    if (beat === undefined) return
    const { node, term, sequence, clock } = beat
    member.noteLeader(node, term)
    this.#announced = { node, ahead: clock - performance.now() }
    this.#ahead ??= { sequence, at: performance.now() }
    this.#catchUp()
  }

  #beat(): void {
    const { link, names, id: node, member } = this.#parts
    if (member.leadsUntil <= performance.now() || !link.isUp) return
    const { term, sequence } = member
    const beat: z.infer<typeof Beat> = { node, term, sequence, clock: performance.now() }
    link.connection.publish(names.beat, JSON.stringify(beat))
    this.#current = performance.now()
  }

  #announce(): void {
    const { link, bucket, id, member, engine } = this.#parts
    if (!link.isUp) return
    const entry: z.infer<typeof NodeEntry> = {
      id,
      role: member.role,
      head: engine.queries.head().block.header.number,
      lag: Math.round(this.lag() * 1000) / 1000,
      term: member.term,
    }
    bucket.put(`${NODE_KEY}${id}`, JSON.stringify(entry)).catch(() => {})
  }
}
