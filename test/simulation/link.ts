/** The links of nodes to NATS: messages are late, lost or carried out twice, links break, and the server is away for a while. */
import { JetStreamError } from '@nats-io/jetstream'
import { errors } from '@nats-io/transport-node'
import type {
  Bucket,
  ObjectBucket,
  StreamLink,
  StreamMessages,
  Streams,
} from '../../src/replication/jetstream.ts'
import { type Message, refused, type SimulatedBucket, type SimulatedServer } from './server.ts'
import type { Owner, World } from './world.ts'

/** JetStream's refusal of a message that is not there. */
const NO_MESSAGE = 10_037

/** How long a node waits for an answer, in milliseconds. */
const LIMITS = { publish: 1_500, manager: 5_000, quick: 700, bucket: 1_000 }

/** An asynchronous list that grows until it is closed. */
class Feed<T> implements AsyncIterable<T> {
  readonly #items: T[] = []
  #wake: (() => void) | undefined
  #isClosed = false

  push(item: T): void {
    if (this.#isClosed) return
    this.#items.push(item)
    this.#wake?.()
  }

  close(): void {
    this.#isClosed = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const item = this.#items.shift()
      if (item !== undefined) yield item
      else if (this.#isClosed) return
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }
}

/** A reader of the log at one node. */
class Subscription implements StreamMessages {
  readonly #link: SimulatedLink
  readonly #messages = new Feed<Message>()
  readonly #status = new Feed<{ type: string }>()
  /** Sequence of the next message to be sent. */
  #next: number
  #isSending = false
  /** The server that sends has ended without a word. */
  isSilent = false

  constructor(link: SimulatedLink, from: number, heartbeatMs: number) {
    this.#link = link
    this.#next = from
    const beat = () => {
      if (!link.subscriptions.has(this)) return
      if (link.isConnected && !this.isSilent) this.#status.push({ type: 'heartbeat' })
      link.world.after(heartbeatMs, link.owner, beat)
    }
    link.world.after(heartbeatMs, link.owner, beat)
  }

  /** Sends the next message when there is one. */
  pump(): void {
    const { server, world } = this.#link
    const seq = Math.max(this.#next, server.first)
    const message = server.message(seq)
    if (message === undefined || this.#isSending || !this.#link.isConnected || this.isSilent) return
    this.#isSending = true
    world.after(this.#link.delay(), this.#link.owner, () => {
      this.#isSending = false
      if (!this.#link.isConnected || this.isSilent) return
      this.#next = seq + 1
      this.#messages.push(message)
      this.pump()
    })
  }

  status(): AsyncIterable<{ type: string }> {
    return this.#status
  }

  [Symbol.asyncIterator](): AsyncIterator<Message> {
    return this.#messages[Symbol.asyncIterator]()
  }

  async close(): Promise<void> {
    this.#link.subscriptions.delete(this)
    this.#messages.close()
    this.#status.close()
  }
}

/** The link of one process. */
export class SimulatedLink implements StreamLink {
  readonly server: SimulatedServer
  readonly owner: Owner
  readonly messageBytes: number
  readonly subscriptions = new Set<Subscription>()
  /** What holds, where `isUp` is what the client knows. */
  isConnected = true
  isUp = true

  constructor(server: SimulatedServer, owner: Owner, messageBytes: number) {
    this.server = server
    this.owner = owner
    this.messageBytes = messageBytes
    server.links.add(this)
  }

  get world(): World {
    return this.server.world
  }

  /** Breaks the link; the client learns of it after `noticeMs`. */
  cut(noticeMs: number): void {
    this.isConnected = false
    this.world.note(`the link of ${this.owner.name} breaks`)
    this.world.after(noticeMs, this.owner, () => {
      this.isUp = this.isConnected
    })
  }

  mend(): void {
    const { random } = this.world
    this.isConnected = true
    this.isUp = true
    this.world.note(`the link of ${this.owner.name} is back`)
    for (const subscription of this.subscriptions) {
      if (random.oneIn(4)) subscription.isSilent = true
      else subscription.pump()
    }
  }

  /** The process has ended. */
  drop(): void {
    this.server.links.delete(this)
  }

  pump(): void {
    for (const subscription of this.subscriptions) subscription.pump()
  }

  /** How long a message is on its way. */
  delay(): number {
    const { random } = this.world
    const { late, lateMs } = this.server.faults
    return late !== undefined && random.oneIn(late) ? random.below(lateMs) : 0.2 + random.below(2_000) / 1_000
  }

  /** Has the server carry out a request; rejects as NATS's client does. */
  request<T>(what: string, timeoutMs: number, execute: () => T): Promise<T> {
    const { world, server, owner } = this
    const { random } = world
    const { lostRequest, lostReply, twice } = server.faults
    return new Promise((resolve, reject) => {
      world.after(owner.durationOf(timeoutMs), owner, () => reject(new errors.TimeoutError()))
      if (lostRequest !== undefined && random.oneIn(lostRequest)) {
        world.note(`${what}: the request is lost`)
        return
      }
      const answer = (settle: () => void) => {
        if (lostReply !== undefined && random.oneIn(lostReply)) world.note(`${what}: the reply is lost`)
        else world.after(this.delay(), owner, () => this.isConnected && settle())
      }
      const repeat = () => {
        world.note(`${what}: it is carried out again`)
        try {
          execute()
        } catch {
          // Refused: the first one changed what it expects.
        }
      }
      const arrive = () => {
        // What the client has buffered leaves it when the link is back, unless its process has ended.
        if (!this.isConnected) {
          if (!owner.isDead) world.after(100 + random.below(100), undefined, arrive)
          return
        }
        if (server.isAway) {
          const cause = new errors.RequestError('', { cause: new errors.NoRespondersError(what) })
          answer(() => reject(new JetStreamError('jetstream is not enabled', { cause })))
          return
        }
        try {
          const result = execute()
          answer(() => resolve(result))
          if (twice !== undefined && random.oneIn(twice)) world.after(this.delay(), undefined, repeat)
        } catch (error) {
          world.note(`${what}: ${error instanceof Error ? error.message : error}`)
          answer(() => reject(error))
        }
      }
      world.after(this.delay(), undefined, arrive)
    })
  }

  readonly js: StreamLink['js'] = {
    publish: (_subject, message, { expect = {} }) =>
      this.request('publish', LIMITS.publish, () => ({ seq: this.server.append(message, expect) })),
    consumers: {
      get: async (_stream, { opt_start_seq: from = 1 }) => {
        await this.request('consumer', LIMITS.manager, () => undefined)
        return {
          consume: async (options) => {
            const heartbeatMs = 'idle_heartbeat' in options ? (options.idle_heartbeat ?? 5_000) : 5_000
            const subscription = new Subscription(this, from, heartbeatMs)
            this.subscriptions.add(subscription)
            subscription.pump()
            return subscription
          },
        }
      },
    },
  }

  readonly jsm = { streams: this.#streams(LIMITS.manager) }
  readonly quick = { streams: this.#streams(LIMITS.quick) }

  #streams(timeoutMs: number): Streams {
    const ask = <T>(what: string, execute: (server: SimulatedServer) => T) =>
      this.request(what, timeoutMs, () => execute(this.server))
    return {
      info: () =>
        ask('info', (server) => ({
          state: { first_seq: server.first, last_seq: server.last, bytes: server.bytes },
        })),
      add: () => ask('add', () => undefined),
      getMessage: (_name, { seq }) =>
        ask('message', (server) => {
          const message = server.message(seq)
          if (message === undefined) throw refused(NO_MESSAGE, 'no message found')
          return message
        }),
      purge: (_name, { seq }) => ask('purge', (server) => server.purge(seq)),
    }
  }

  /** A bucket as this node uses it. */
  bucket(bucket: SimulatedBucket): Bucket {
    const ask = <T>(what: string, execute: () => T) => this.request(what, LIMITS.bucket, execute)
    return {
      get: (key) =>
        ask(`get ${key}`, () => {
          const entry = bucket.get(key)
          if (entry === undefined) return null
          const { value, revision } = entry
          return { operation: 'PUT', revision, string: () => value, json: () => JSON.parse(value) }
        }),
      create: (key, value) => ask(`create ${key} ${value}`, () => bucket.put(key, value, 0)),
      update: (key, value, revision) => ask(`update ${key} ${value}`, () => bucket.put(key, value, revision)),
      delete: (key, options) => ask(`delete ${key}`, () => bucket.delete(key, options?.previousSeq)),
    }
  }

  /** The objects as this node uses them. */
  objects(): ObjectBucket {
    const { server } = this
    return {
      put: async ({ name }, content, { timeout }) => {
        const parts: Uint8Array[] = []
        for await (const part of content) parts.push(part)
        await this.request(`put object ${name}`, timeout, () =>
          server.objects.set(name, Buffer.concat(parts)),
        )
      },
      get: async (name) => {
        const bytes = await this.request(`get object ${name}`, 5_000, () => server.objects.get(name))
        if (bytes === undefined) return null
        const data = ReadableStream.from(split(bytes, 4_096)) as ReadableStream<Uint8Array>
        return { data, error: Promise.resolve(null) }
      },
      delete: (name) => this.request(`delete object ${name}`, 5_000, () => server.objects.delete(name)),
    }
  }
}

function* split(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
