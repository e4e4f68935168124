/** Calls between the nodes of a cluster: a request over NATS, its reply, and the end of the log when it was answered. */
import { createInbox, type Msg, type Subscription } from '@nats-io/transport-node'
import type { z } from 'zod'
import { fromHex, toHex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'
import type { Link } from './link.ts'
import { Answer, type Reading, type ReplyMessage, Request, read } from './messages.ts'
import type { AnswerCall, RemoteCall } from './model.ts'
import type { Names } from './names.ts'
import { createChunkReader, splitIntoChunks } from './record.ts'

/** The reply to a call. */
export interface RemoteReply {
  /** JSON value; `error` takes its place. */
  readonly result?: unknown
  readonly error?: NodeError
  /** The log's end on the node that answered: what the call changed is at or before it. */
  readonly sequence: number
}

type ReplyJson = z.infer<typeof ReplyMessage>
type ErrorJson = NonNullable<ReplyJson['error']>

/** Status of a reply that NATS makes itself, when nobody listens. */
const NO_RESPONDERS = 503
/** Requests in chunks of which not all have arrived; the oldest is dropped beyond it. */
const MOST_PARTIAL = 256
/** Between two signs of life of a call that is not answered yet, milliseconds. */
const SIGN_MS = 500
/** Without a further sign for this time the node that has to answer is taken for gone, milliseconds. */
const SILENCE_MS = 5_000
/** What the refusal of a call that did not begin in time may take to arrive, milliseconds. */
const GRACE_MS = 200

/** Nobody answers under this name. */
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

/** Answers the calls of other nodes to this one. `sequence` is the log's end here. */
export function answerCalls(
  link: Link,
  subject: string,
  answer: AnswerCall,
  sequence: () => number,
  reading: Reading,
): Subscription {
  const partial = new Map<string, ReturnType<typeof createChunkReader>>()
  /** Calls that are not answered yet, by the inbox of their reply. */
  const running = new Map<string, AbortController>()

  async function reply(to: string, call: RemoteCall): Promise<void> {
    const gone = new AbortController()
    running.set(to, gone)
    const signs = setInterval(() => send(link, to, { working: true }), Math.min(SIGN_MS, call.timeoutMs / 3))
    let json: ReplyJson
    try {
      const left = Math.min(call.timeoutMs, (call.expiresAt ?? Number.POSITIVE_INFINITY) - performance.now())
      if (left <= 0) {
        throw new NodeError('overloaded', 'This call has arrived too late and had no effect; try again')
      }
      const result = await answer({ ...call, timeoutMs: left }, gone.signal)
      json = { result: result === undefined ? null : result, sequence: sequence() }
    } catch (error) {
      json = { error: errorJson(error), sequence: sequence() }
    }
    clearInterval(signs)
    running.delete(to)
    send(link, to, json)
  }

  function take(to: string, message: Msg): void {
    const chunks = partial.get(to) ?? createChunkReader()
    partial.delete(to)
    const bytes = chunks.read(message.data)
    if (bytes !== undefined) {
      const request = read(Request, bytes)
      if ('cancel' in request) running.get(to)?.abort()
      else if (!running.has(to)) void reply(to, request)
      return
    }
    partial.set(to, chunks)
    const [oldest] = partial.keys()
    if (partial.size > MOST_PARTIAL && oldest !== undefined) partial.delete(oldest)
  }

  return link.connection.subscribe(subject, {
    callback(error, message) {
      const to = message.reply
      if (error === null && to !== undefined) reading('call', () => take(to, message))
    },
  })
}

/** Whom a call is for, and until when it is waited for. */
interface Waiting {
  readonly reading: Reading
  /** Has its caller gone? The node that answers is given, and ends what it may. */
  readonly isGone: () => boolean
  /** Aborts when the node that has to answer does not any more. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Resolves to the reply, however long the node is busy with it; `undefined` when the node is silent, or `signal` aborts:
 * whether the call was carried out is not known then. Throws `NoSuchNodeError`: it was not.
 */
export function callNode(
  link: Link,
  names: Names,
  node: string,
  call: RemoteCall,
  { reading, isGone, signal }: Waiting,
): Promise<RemoteReply | undefined> {
  const { connection } = link
  const inbox = createInbox()
  const chunks = createChunkReader()
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
      subscription.unsubscribe()
      settle()
    }
    const giveUp = () => end(() => resolve(undefined))
    let isCancelled = false
    /** The node is busy with the call. */
    function onSign(): void {
      waitFor(SILENCE_MS)
      if (isCancelled || !isGone()) return
      isCancelled = true
      send(link, names.calls(node), { cancel: true }, inbox)
    }
    function onReply(message: Msg): void {
      if (message.headers?.code === NO_RESPONDERS) {
        end(() => reject(new NoSuchNodeError(`no node ${node} answers`)))
        return
      }
      const bytes = chunks.read(message.data)
      if (bytes === undefined) {
        waitFor(SILENCE_MS)
        return
      }
      const answer = read(Answer, bytes)
      if ('working' in answer) {
        onSign()
        return
      }
      const { result, error, sequence } = answer
      end(() => resolve(error === undefined ? { result, sequence } : { error: errorOf(error), sequence }))
    }
    const subscription = connection.subscribe(inbox, {
      callback(error, message) {
        if (error === null) reading('answer', () => onReply(message))
      },
    })
    let timer: NodeJS.Timeout | undefined
    function waitFor(milliseconds: number): void {
      clearTimeout(timer)
      timer = setTimeout(giveUp, milliseconds)
    }
    waitFor(call.timeoutMs + GRACE_MS)
    signal?.addEventListener('abort', giveUp)
    send(link, names.calls(node), call, inbox)
  })
}
