/** Calls between the nodes of a cluster: a request over NATS, its reply, and the end of the log when it was answered. */
import { createInbox, type Msg, type Subscription } from '@nats-io/transport-node'
import { fromHex, type Hex, toHex } from '../encoding/hex.ts'
import { type ErrorKind, type ExecutionFailure, NodeError } from '../errors.ts'
import type { Link } from './link.ts'
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

/** An error as JSON. */
interface ErrorJson {
  readonly kind: ErrorKind
  readonly message: string
  readonly data?: NodeError['data']
  readonly failure?: Omit<ExecutionFailure, 'output'> & { readonly output: Hex }
}

interface ReplyJson {
  readonly result?: unknown
  readonly error?: ErrorJson
  readonly sequence: number
}

/** Status of a reply that NATS makes itself, when nobody listens. */
const NO_RESPONDERS = 503
/** Requests in chunks of which not all have arrived; the oldest is dropped beyond it. */
const MOST_PARTIAL = 256

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
const jsonOf = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes))

/** Answers the calls of other nodes to this one. `sequence` is the log's end here. */
export function answerCalls(
  link: Link,
  subject: string,
  answer: AnswerCall,
  sequence: () => number,
): Subscription {
  const partial = new Map<string, ReturnType<typeof createChunkReader>>()

  async function reply(to: string, call: RemoteCall): Promise<void> {
    let json: ReplyJson
    try {
      if (call.expiresAt !== undefined && performance.now() > call.expiresAt) {
        throw new NodeError('overloaded', 'This call has arrived too late and had no effect; try again')
      }
      const result = await answer(call)
      json = { result: result === undefined ? null : result, sequence: sequence() }
    } catch (error) {
      json = { error: errorJson(error), sequence: sequence() }
    }
    for (const chunk of splitIntoChunks(bytesOf(json), link.messageBytes)) link.connection.publish(to, chunk)
  }

  return link.connection.subscribe(subject, {
    callback(error, message) {
      const to = message.reply
      if (error !== null || to === undefined) return
      const chunks = partial.get(to) ?? createChunkReader()
      const bytes = chunks.read(message.data)
      if (bytes !== undefined) {
        partial.delete(to)
        void reply(to, jsonOf(bytes) as RemoteCall)
        return
      }
      partial.set(to, chunks)
      const [oldest] = partial.keys()
      if (partial.size > MOST_PARTIAL && oldest !== undefined) partial.delete(oldest)
    },
  })
}

/** Resolves to the reply; `undefined` when there is none in time, or before `signal` aborts. Throws `NoSuchNodeError`. */
export function callNode(
  link: Link,
  names: Names,
  node: string,
  call: RemoteCall,
  signal?: AbortSignal,
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
    const onReply = (message: Msg) => {
      if (message.headers?.code === NO_RESPONDERS) {
        end(() => reject(new NoSuchNodeError(`no node ${node} answers`)))
        return
      }
      const bytes = chunks.read(message.data)
      if (bytes === undefined) return
      const { result, error, sequence } = jsonOf(bytes) as ReplyJson
      end(() => resolve(error === undefined ? { result, sequence } : { error: errorOf(error), sequence }))
    }
    const subscription = connection.subscribe(inbox, {
      callback(error, message) {
        if (error === null) onReply(message)
      },
    })
    const giveUp = () => end(() => resolve(undefined))
    const timer = setTimeout(giveUp, call.timeoutMs)
    signal?.addEventListener('abort', giveUp)
    for (const chunk of splitIntoChunks(bytesOf(call), link.messageBytes)) {
      connection.publish(names.calls(node), chunk, { reply: inbox })
    }
  })
}
