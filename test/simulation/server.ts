/** NATS with JetStream: the log, the buckets and the objects of a cluster. */
import { JetStreamApiError } from '@nats-io/jetstream'
import type { World } from './world.ts'

/** A message of the log. */
export interface Message {
  readonly seq: number
  readonly data: Uint8Array
}

/** Codes of JetStream's refusals. */
const WRONG_LAST_SEQUENCE = 10_071
const NO_ROOM = 10_077

/** JetStream's refusal of a request. */
export const refused = (code: number, description: string) =>
  new JetStreamApiError({ code: 400, err_code: code, description })

/** What goes wrong on the way, each in one of so many requests; `undefined` never does. */
export interface LinkFaults {
  readonly lostRequest?: number | undefined
  readonly lostReply?: number | undefined
  /** Held back for up to `lateMs`. */
  readonly late?: number | undefined
  readonly lateMs: number
  readonly twice?: number | undefined
}

interface Entry {
  readonly value: string
  readonly revision: number
  readonly at: number
}

/** The server: one log, the buckets, the objects. */
export class SimulatedServer {
  readonly world: World
  /** Bytes of the log beyond which it refuses. */
  maxBytes = Number.POSITIVE_INFINITY
  /** Is there nobody who answers for JetStream? */
  isAway = false
  faults: LinkFaults = { lateMs: 0 }
  /** All messages that were ever in the log, by sequence from 1 on. */
  readonly history: Message[] = []
  first = 1
  bytes = 0
  readonly objects = new Map<string, Uint8Array>()
  /** Told of each message. */
  readonly links = new Set<{ pump(): void }>()

  constructor(world: World) {
    this.world = world
  }

  get last(): number {
    return this.history.length
  }

  append(data: Uint8Array, expect: { lastSequence?: number; lastSubjectSequence?: number }): number {
    const isEmpty = this.first > this.last
    const isNext = !expect.lastSequence || expect.lastSequence === this.last
    if (!isNext || (expect.lastSubjectSequence === 0 && !isEmpty)) {
      throw refused(WRONG_LAST_SEQUENCE, `wrong last sequence: ${this.last}`)
    }
    if (this.bytes + data.length > this.maxBytes) throw refused(NO_ROOM, 'maximum bytes exceeded')
    const seq = this.last + 1
    this.history.push({ seq, data: Uint8Array.from(data) })
    this.bytes += data.length
    this.world.note(`log: message ${seq} of ${data.length} bytes`)
    for (const link of this.links) link.pump()
    return seq
  }

  message(seq: number): Message | undefined {
    return seq < this.first ? undefined : this.history[seq - 1]
  }

  purge(before: number): void {
    while (this.first < before && this.first <= this.last) {
      this.bytes -= this.history[this.first - 1]?.data.length ?? 0
      this.first++
    }
    this.world.note(`log: begins at ${this.first}`)
  }
}

/** A bucket on the server; its entries live for `ttl` milliseconds. */
export class SimulatedBucket {
  readonly #world: World
  readonly #ttl: number
  readonly #entries = new Map<string, Entry>()
  #revision = 0

  constructor(world: World, ttl: number) {
    this.#world = world
    this.#ttl = ttl
  }

  get(key: string): Entry | undefined {
    const entry = this.#entries.get(key)
    return entry !== undefined && this.#world.now < entry.at + this.#ttl ? entry : undefined
  }

  /** Writes where the entry has this revision, 0 for none. */
  put(key: string, value: string, revision: number): number {
    this.#require(key, revision)
    this.#revision++
    this.#entries.set(key, { value, revision: this.#revision, at: this.#world.now })
    return this.#revision
  }

  delete(key: string, revision?: number): void {
    this.#require(key, revision)
    this.#revision++
    this.#entries.delete(key)
  }

  #require(key: string, revision: number | undefined): void {
    const present = this.get(key)?.revision ?? 0
    if (revision === undefined || revision === present) return
    throw refused(WRONG_LAST_SEQUENCE, `wrong last sequence: ${present}`)
  }
}
