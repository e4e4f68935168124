/** The part of JetStream that replication uses. The client of NATS implements it, and so does the simulated server of the tests. */
import type {
  ConsumeOptions,
  JetStreamPublishOptions,
  OrderedConsumerOptions,
  StreamConfig,
} from '@nats-io/jetstream'

/** Requests about streams, by their name. */
export interface Streams {
  info(name: string): Promise<{
    readonly state: { readonly first_seq: number; readonly last_seq: number; readonly bytes: number }
  }>
  add(config: Partial<StreamConfig> & { readonly name: string }): Promise<unknown>
  getMessage(name: string, query: { readonly seq: number }): Promise<{ readonly data: Uint8Array } | null>
  /** Deletes the messages before `seq`. */
  purge(name: string, options: { readonly seq: number }): Promise<unknown>
}

/** Messages of a stream as they arrive, until `close`. */
export interface StreamMessages extends AsyncIterable<{ readonly seq: number; readonly data: Uint8Array }> {
  status(): AsyncIterable<{ readonly type: string }>
  close(): Promise<unknown>
}

/** The part of a link that the log goes over. */
export interface StreamLink {
  readonly js: {
    publish(
      subject: string,
      message: Uint8Array,
      options: Partial<JetStreamPublishOptions>,
    ): Promise<{ readonly seq: number }>
    readonly consumers: {
      get(
        stream: string,
        options: Partial<OrderedConsumerOptions>,
      ): Promise<{ consume(options: ConsumeOptions): Promise<StreamMessages> }>
    }
  }
  readonly jsm: { readonly streams: Streams }
  /** The same, with less time for an answer. */
  readonly quick: { readonly streams: Streams }
  /** False from the loss of the connection until it is back. */
  readonly isUp: boolean
  /** Bytes of a message, without headers. */
  readonly messageBytes: number
}

/** An entry of a bucket, or the mark of a deleted one. */
interface BucketEntry {
  readonly operation: 'PUT' | 'DEL' | 'PURGE'
  readonly revision: number
  string(): string
  json<T>(): T
}

/** A bucket of entries with revisions; those of one with a time to live expire. Refusals are `JetStreamApiError`s. */
export interface Bucket {
  get(key: string): Promise<BucketEntry | null>
  /** Refused while there is an entry. */
  create(key: string, value: string): Promise<number>
  /** Refused unless `revision` is the entry's. */
  update(key: string, value: string, revision: number): Promise<number>
  delete(key: string, options?: { readonly previousSeq: number }): Promise<void>
}

/** Large objects by name. */
export interface ObjectBucket {
  put(
    info: { readonly name: string },
    content: ReadableStream<Uint8Array>,
    options: { readonly timeout: number },
  ): Promise<unknown>
  get(
    name: string,
  ): Promise<{ readonly data: ReadableStream<Uint8Array>; readonly error: Promise<Error | null> } | null>
  delete(name: string): Promise<unknown>
}
