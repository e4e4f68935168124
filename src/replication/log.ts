/**
 * The cluster's log: a JetStream stream. A node that appends names the last message that it knows, so that of two nodes that
 * both consider themselves the leader only one can write.
 */
import { DeliverPolicy, DiscardPolicy, JetStreamApiError, StorageType } from '@nats-io/jetstream'
import { RequestError } from '@nats-io/transport-node'
import type { StreamLink, StreamMessages } from './jetstream.ts'
import { MESSAGE_BYTES } from './link.ts'
import type { Names } from './names.ts'
import {
  createChunkReader,
  decodeLogRecord,
  encodeLogRecord,
  type LogRecord,
  splitIntoChunks,
} from './record.ts'

/** Why a record was not appended. */
export type AppendFailure =
  /** The log has no room; the record is not in it. */
  | 'full'
  /** NATS cannot be reached; the record is not in the log. */
  | 'away'
  /** Another node has appended; the record is not in it. */
  | 'fenced'
  /** NATS did not answer in time; the record may be in the log. */
  | 'unanswered'

/** A record was not appended, or it is not known whether it was. */
export class AppendError extends Error {
  readonly failure: AppendFailure

  constructor(failure: AppendFailure, cause?: unknown) {
    super(`the log refused a record: ${failure}`, { cause })
    this.failure = failure
  }
}

/** A log that is being read. */
export interface Reading {
  /** Has NATS sent a message or a sign of life lately? */
  readonly isLive: boolean
  /** Is NATS connected, but sends nothing? Then the server of the consumer has ended, and another one has to be asked. */
  readonly isStuck: boolean
  /** Resolves when `handle` runs no more. */
  stop(): Promise<void>
  /** Resolves when reading has ended, rejects with what `handle` threw. */
  readonly ended: Promise<void>
}

/** Receives a message by its sequence, with the record that ends with it, if one does. */
type Handle = (sequence: number, record: LogRecord | undefined) => Promise<void>

/** The open log. */
export interface Log {
  /**
   * Appends a record behind message `after`, the last of the stream. Resolves to the sequence of its last message.
   * Throws `AppendError` within `APPEND_MS` after the last answer of NATS.
   */
  append(record: LogRecord, after: number): Promise<number>
  /** First and last sequence of the stream. */
  bounds(): Promise<{ readonly first: number; readonly last: number }>
  /** Bytes of the stream. */
  bytes(): Promise<number>
  /**
   * Reads the messages from a sequence on, one after another. Where messages from `from` on were dropped, the first one has
   * a greater sequence.
   */
  follow(from: number, handle: Handle): Promise<Reading>
  /** Deletes the messages before a sequence. */
  dropBefore(sequence: number): Promise<void>
}

/** Longest wait for the answer of NATS to one message, milliseconds. */
const ANSWER_MS = 1_500
/** Time in which an unanswered message is looked for in the stream. */
const SEARCH_MS = 1_000
const WRONG_LAST_SEQUENCE = 10_071
/** Bytes that a follower asks for at once. A server disconnects a client for which it holds 64 MiB. */
const READ_AHEAD_BYTES = 32 << 20
/** How a follower notices a lost consumer. */
const IDLE_HEARTBEAT_MS = 1_000
/** Without a sign of life for this time, what is appended may not arrive here. */
const LIVE_MS = 2_500

/** Did the server reply that the subject has no subscriber? Then the message was not stored. */
function isNoResponders(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  return cause instanceof RequestError && cause.isNoResponders()
}

/** Creates the stream unless it exists, and opens it. `maxBytes` and `replicas` count where it is created. */
export async function openLog(
  link: StreamLink,
  names: Names,
  options: { readonly maxBytes: number; readonly replicas: number },
): Promise<Log> {
  const { jsm } = link
  await jsm.streams.info(names.stream).catch((error) => {
    if (!(error instanceof JetStreamApiError)) throw error
    return jsm.streams.add({
      name: names.stream,
      subjects: [names.log],
      storage: StorageType.File,
      // A full log refuses; what followers have not read is never dropped.
      discard: DiscardPolicy.New,
      max_bytes: options.maxBytes,
      num_replicas: options.replicas,
      allow_direct: false,
      duplicate_window: 0,
    })
  })
  return new StreamLog(link, names)
}

class StreamLog implements Log {
  readonly #link: StreamLink
  readonly #names: Names

  constructor(link: StreamLink, names: Names) {
    this.#link = link
    this.#names = names
  }

  async append(record: LogRecord, after: number): Promise<number> {
    let last = after
    for (const chunk of splitIntoChunks(encodeLogRecord(record), this.#link.messageBytes)) {
      last = await this.#publish(chunk, last)
    }
    return last
  }

  async bounds(): Promise<{ readonly first: number; readonly last: number }> {
    const { state } = await this.#link.jsm.streams.info(this.#names.stream)
    return { first: state.first_seq, last: state.last_seq }
  }

  async bytes(): Promise<number> {
    return (await this.#link.jsm.streams.info(this.#names.stream)).state.bytes
  }

  async follow(from: number, handle: Handle): Promise<Reading> {
    const consumer = await this.#link.js.consumers.get(this.#names.stream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
    })
    const messages = await consumer.consume({
      max_messages: READ_AHEAD_BYTES / MESSAGE_BYTES,
      idle_heartbeat: IDLE_HEARTBEAT_MS,
    })
    return new StreamReading(this.#link, messages, handle)
  }

  async dropBefore(sequence: number): Promise<void> {
    await this.#link.jsm.streams.purge(this.#names.stream, { seq: sequence })
  }

  async #publish(message: Uint8Array, after: number): Promise<number> {
    if (!this.#link.isUp) throw new AppendError('away')
    try {
      const { seq } = await this.#link.js.publish(this.#names.log, message, {
        timeout: ANSWER_MS,
        // The sequence 0 fences by the subject only.
        expect: { lastSequence: after, ...(after === 0 && { lastSubjectSequence: 0 }) },
      })
      return seq
    } catch (error) {
      if (error instanceof JetStreamApiError) {
        throw new AppendError(error.code === WRONG_LAST_SEQUENCE ? 'fenced' : 'full', error)
      }
      if (isNoResponders(error)) throw new AppendError('away', error)
      return await this.#search(message, after + 1, error)
    }
  }

  /**
   * Finds out whether a message that NATS did not answer is in the stream. Its absence proves nothing: it may still arrive, or
   * a snapshot has replaced it. Only its presence, or another message at its sequence, ends the search before the
   * time is up.
   */
  async #search(message: Uint8Array, sequence: number, cause: unknown): Promise<number> {
    const until = performance.now() + SEARCH_MS
    while (performance.now() < until) {
      if (this.#link.isUp) {
        const found = await this.#isAt(sequence, message)
        if (found === true) return sequence
        if (found === false) throw new AppendError('fenced', cause)
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new AppendError('unanswered', cause)
  }

  /** Is this message at the sequence? False when another one is, `undefined` when none is or NATS does not answer. */
  async #isAt(sequence: number, message: Uint8Array): Promise<boolean | undefined> {
    const { quick } = this.#link
    const found = await quick.streams.getMessage(this.#names.stream, { seq: sequence }).catch(() => null)
    return found === null ? undefined : Buffer.compare(found.data, message) === 0
  }
}

class StreamReading implements Reading {
  readonly ended: Promise<void>
  readonly #link: StreamLink
  readonly #messages: StreamMessages
  #isStopped = false
  #lastSign = performance.now()

  constructor(link: StreamLink, messages: StreamMessages, handle: Handle) {
    this.#link = link
    this.#messages = messages
    void this.#noteHeartbeats()
    this.ended = this.#read(handle)
    this.ended.catch(() => {})
  }

  get isLive(): boolean {
    return this.#link.isUp && performance.now() - this.#lastSign < LIVE_MS
  }

  get isStuck(): boolean {
    return this.#link.isUp && performance.now() - this.#lastSign > 2 * LIVE_MS
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#messages.close()
    await this.ended.catch(() => {})
  }

  async #noteHeartbeats(): Promise<void> {
    for await (const { type } of this.#messages.status()) {
      if (type === 'heartbeat') this.#lastSign = performance.now()
    }
  }

  async #read(handle: Handle): Promise<void> {
    const chunks = createChunkReader()
    for await (const message of this.#messages) {
      if (this.#isStopped) break
      this.#lastSign = performance.now()
      const bytes = chunks.read(message.data)
      await handle(message.seq, bytes && decodeLogRecord(bytes))
      if (this.#isStopped) break
    }
  }
}
