/** Calls between the nodes of a cluster. A reply carries the end of the log on the node that answered. */
import { createInbox, type Msg, type Subscription } from '@nats-io/transport-node'
import type { z } from 'zod'
import { fromHex, toHex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import type { Link } from './link.ts'
import { Answer, type Reading, type ReplyMessage, Request, read } from './messages.ts'
import type { AnswerCall, RemoteCall } from './model.ts'
import type { Names } from './names.ts'
import { type ChunkReader, createChunkReader, splitIntoChunks } from './record.ts'

/** The reply to a call. */
export interface RemoteReply {
  /** JSON value; absent where there is an `error`. */
  readonly result?: unknown
  readonly error?: NodeError
  /** The log's end on the node that answered: what the call changed is at or before it. */
  readonly sequence: number
}

type ReplyJson = z.infer<typeof ReplyMessage>
type ErrorJson = NonNullable<ReplyJson['error']>

/** Status of NATS's own reply where no node has subscribed to the subject. */
const NO_RESPONDERS = 503
/** Most requests of which some chunks have arrived; beyond it the oldest is dropped. */
const MOST_PARTIAL = 256
/** Between two signs of life of a node that works on a call, milliseconds. */
const SIGN_MS = 500
/** A node without a sign of life for this long is considered gone, milliseconds. */
const SILENCE_MS = 5_000
/** Time for the refusal of a call that did not begin in time to arrive, milliseconds. */
const GRACE_MS = 200

/** No node has this name. */
export class NoSuchNodeError extends Error {}

function errorJson(error: unknown): ErrorJson {
  if (!(error instanceof NodeError)) return { kind: 'internal', message: 'Internal server error' }
  const { kind, message, data, failure } = error
  return {
    kind,
    message,
    ...(data !== undefined && { data }),
    ...(failure !== undefined && { failure: { ...failure, output: toHex(failure.output) } }),
  }
}

function errorOf({ kind, message, data, failure }: ErrorJson): NodeError {
  return new NodeError(kind, message, data, failure && { ...failure, output: fromHex(failure.output) })
}

const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

function send(link: Link, subject: string, value: unknown, reply?: string): void {
  for (const chunk of splitIntoChunks(bytesOf(value), link.messageBytes)) {
    link.connection.publish(subject, chunk, reply === undefined ? undefined : { reply })
  }
}

/** Answers calls of other nodes until it is unsubscribed. */
class Answers {
  readonly #link: Link
  readonly #answer: AnswerCall
  readonly #sequence: () => number
  /** Requests of which some chunks have arrived, by the inbox of their reply. */
  readonly #partial = new Map<string, ChunkReader>()
  /** Calls that are not answered yet, by the inbox of their reply. */
  readonly #running = new Map<string, AbortController>()

  constructor(link: Link, answer: AnswerCall, sequence: () => number) {
    this.#link = link
    this.#answer = answer
    this.#sequence = sequence
  }

  /** Takes a chunk of a request. Throws for one that is malformed. */
  take(inbox: string, chunk: Uint8Array): void {
    const chunks = this.#partial.get(inbox) ?? createChunkReader()
    this.#partial.delete(inbox)
    const bytes = chunks.read(chunk)
    if (bytes !== undefined) {
      const request = read(Request, bytes)
      if ('cancel' in request) this.#running.get(inbox)?.abort()
      else if (!this.#running.has(inbox)) void this.#reply(inbox, request)
      return
    }
    this.#partial.set(inbox, chunks)
    const [oldest] = this.#partial.keys()
    if (this.#partial.size > MOST_PARTIAL && oldest !== undefined) this.#partial.delete(oldest)
  }

  async #reply(inbox: string, call: RemoteCall): Promise<void> {
    const gone = new AbortController()
    this.#running.set(inbox, gone)
    const signs = setInterval(
      () => send(this.#link, inbox, { working: true }),
      Math.min(SIGN_MS, call.timeoutMs / 3),
    )
    const json = await this.#resultOf(call, gone.signal)
    clearInterval(signs)
    this.#running.delete(inbox)
    send(this.#link, inbox, json)
  }

  async #resultOf(call: RemoteCall, signal: AbortSignal): Promise<ReplyJson> {
    try {
      const left = Math.min(call.timeoutMs, (call.expiresAt ?? Number.POSITIVE_INFINITY) - performance.now())
      if (left <= 0) {
        throw new NodeError('overloaded', 'This call has arrived too late and had no effect; try again')
      }
      const result = await this.#answer({ ...call, timeoutMs: left }, signal)
      return { result: result === undefined ? null : result, sequence: this.#sequence() }
    } catch (error) {
      return { error: errorJson(error), sequence: this.#sequence() }
    }
  }
}

/** Answers the calls of other nodes to this one. `sequence` is the log's end here. */
export function answerCalls(
  link: Link,
  subject: string,
  answer: AnswerCall,
  sequence: () => number,
  reading: Reading,
): Subscription {
  const answers = new Answers(link, answer, sequence)
  return link.connection.subscribe(subject, {
    callback(error, { reply: inbox, data }) {
      if (error === null && inbox !== undefined) reading('call', () => answers.take(inbox, data))
    },
  })
}

/** How a call is waited for. */
interface Waiting {
  readonly reading: Reading
  /** Has the caller gone? Then the node that answers is told, and ends what it can. */
  readonly isGone: () => boolean
  /** Aborts when the node can no longer answer. */
  readonly signal?: AbortSignal | undefined
}

/** Settles the promise of a call; `undefined`: there is no reply. */
interface Settle {
  resolve(reply: RemoteReply | undefined): void
  reject(error: NoSuchNodeError): void
}

/** A call of this node to another one, until its reply. */
class SentCall {
  readonly #link: Link
  readonly #subject: string
  readonly #waiting: Waiting
  readonly #inbox = createInbox()
  readonly #chunks = createChunkReader()
  readonly #subscription: Subscription
  readonly #settle: Settle
  #timer: NodeJS.Timeout | undefined
  #isCancelled = false

  constructor(link: Link, subject: string, waiting: Waiting, settle: Settle) {
    this.#link = link
    this.#subject = subject
    this.#waiting = waiting
    this.#settle = settle
    this.#subscription = link.connection.subscribe(this.#inbox, {
      callback: (error, message) => {
        if (error === null) waiting.reading('answer', () => this.#take(message))
      },
    })
  }

  send(call: RemoteCall): void {
    this.#waitFor(call.timeoutMs + GRACE_MS)
    this.#waiting.signal?.addEventListener('abort', this.#giveUp)
    send(this.#link, this.#subject, call, this.#inbox)
  }

  #take(message: Msg): void {
    if (message.headers?.code === NO_RESPONDERS) {
      this.#end()
      this.#settle.reject(new NoSuchNodeError(`nothing answers on ${this.#subject}`))
      return
    }
    const bytes = this.#chunks.read(message.data)
    if (bytes === undefined) {
      this.#waitFor(SILENCE_MS)
      return
    }
    const answer = read(Answer, bytes)
    if ('working' in answer) {
      this.#noteWorking()
      return
    }
    const { result, error, sequence } = answer
    this.#end()
    this.#settle.resolve(error === undefined ? { result, sequence } : { error: errorOf(error), sequence })
  }

  #noteWorking(): void {
    this.#waitFor(SILENCE_MS)
    if (this.#isCancelled || !this.#waiting.isGone()) return
    this.#isCancelled = true
    send(this.#link, this.#subject, { cancel: true }, this.#inbox)
  }

  #waitFor(milliseconds: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#giveUp, milliseconds)
  }

  readonly #giveUp = (): void => {
    this.#end()
    this.#settle.resolve(undefined)
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#waiting.signal?.removeEventListener('abort', this.#giveUp)
    this.#subscription.unsubscribe()
  }
}

/**
 * Resolves to the reply, however long the node works on it; to `undefined` when the node is silent, or `signal` aborts: it is
 * then unknown whether the call was carried out. Throws `NoSuchNodeError`: it was not.
 */
export function callNode(
  link: Link,
  names: Names,
  node: string,
  call: RemoteCall,
  waiting: Waiting,
): Promise<RemoteReply | undefined> {
  return new Promise((resolve, reject) => {
    new SentCall(link, names.calls(node), waiting, { resolve, reject }).send(call)
  })
}
