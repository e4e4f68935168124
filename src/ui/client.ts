/** The client of the explorer: JSON-RPC calls by POST, the node's other APIs, and subscriptions over one WebSocket that reconnects. */
import { type Check, type Checked, isAnything, isNumber, isObject, isText, objectOf } from './checks.ts'

/** A JSON-RPC error: the message of the node, its code and its data. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(message: string, code: number, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** The node cannot be reached. */
export class ConnectionError extends Error {}

/** An answer to one call. */
interface Reply {
  readonly id: unknown
  readonly result: unknown
  readonly error: RpcError | undefined
}

const isError = objectOf({ code: isNumber, message: isText }, { data: isAnything })

/** Reads an answer. Throws `ConnectionError` where it is not a JSON-RPC answer. */
function replyOf(value: unknown): Reply {
  if (isObject(value)) {
    const { id, result, error } = value
    if (error === undefined && 'result' in value) return { id, result, error: undefined }
    if (isError(error)) return { id, result, error: new RpcError(error.message, error.code, error.data) }
  }
  throw new ConnectionError('The node gave an answer that is not JSON-RPC')
}

/** The result of an answer to a method, or its error. Throws `ConnectionError` where the result is of another type. */
function outcomeOf<Result>(
  isResult: Check<Result>,
  method: string,
  { result, error }: Reply,
): Result | RpcError {
  if (error !== undefined) return error
  if (isResult(result)) return result
  throw new ConnectionError(`The node gave an answer to ${method} that this page cannot read`)
}

/** The path of JSON-RPC: that of the page, which ends in a slash, without it. It holds the API key if there is one. */
const PATH = location.pathname.replace(/\/$/, '') || '/'

/** The name of the chain in its pool; `undefined` for a node without one. */
export const poolName = /^\/c\/([^/]+)/.exec(PATH)?.[1]

/** The address of JSON-RPC, for other tools. */
export function endpoint(): string {
  return new URL(PATH, location.href).href
}

/** Asks one of the node's HTTP APIs, whose answer has to be of a type. Throws `ConnectionError`. */
export async function apiFor<Result>(
  isResult: Check<Result>,
  path: string,
  init?: RequestInit,
): Promise<Result> {
  const address = `${PATH === '/' ? '' : PATH}${path}`
  const response = await fetch(address, { credentials: 'omit', ...init }).catch(() => {
    throw new ConnectionError('The node cannot be reached')
  })
  const body: unknown = await response.json().catch(() => undefined)
  if (response.ok && isResult(body)) return body
  throw new ConnectionError(`The node gave an answer to ${path} that this page cannot read`)
}

let lastId = 0

async function post(body: unknown, signal?: AbortSignal): Promise<unknown> {
  let response: Response
  try {
    response = await fetch(PATH, {
      method: 'POST',
      // The explorer shows what the chain is: chaos leaves its calls alone.
      headers: { 'Content-Type': 'application/json', 'X-Tandem-Chaos': 'off' },
      credentials: 'omit',
      body: JSON.stringify(body),
      ...(signal !== undefined && { signal }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ConnectionError('The node cannot be reached')
  }
  try {
    return await response.json()
  } catch {
    throw new ConnectionError(`The node answered with status ${response.status}`)
  }
}

/** Calls a method whose result has to be of a type. Throws `RpcError`, `ConnectionError`. */
export async function callFor<Result>(
  isResult: Check<Result>,
  method: string,
  params: readonly unknown[] = [],
  signal?: AbortSignal,
): Promise<Result> {
  const reply = replyOf(await post({ jsonrpc: '2.0', id: ++lastId, method, params }, signal))
  const outcome = outcomeOf(isResult, method, reply)
  if (outcome instanceof RpcError) throw outcome
  return outcome
}

/** Calls a method whose result is only shown, or of no interest. Throws `RpcError`, `ConnectionError`. */
export function call(method: string, params: readonly unknown[] = []): Promise<unknown> {
  return callFor(isAnything, method, params)
}

/** One call of a batch. */
export type Call = readonly [method: string, params: readonly unknown[]]

/** Most calls of one message, below the least limit that a preset sets. */
const MOST_IN_BATCH = 50

/**
 * Calls several methods, whose results have to be of a type, in as few messages as possible; each outcome is a result or
 * the error it was answered with. Throws `RpcError` where a message is refused, `ConnectionError`.
 */
export async function callAll<Result>(
  isResult: Check<Result>,
  calls: readonly Call[],
  signal?: AbortSignal,
): Promise<(Result | RpcError)[]> {
  const outcomes: (Result | RpcError)[] = []
  for (let at = 0; at < calls.length; at += MOST_IN_BATCH) {
    const part = calls.slice(at, at + MOST_IN_BATCH)
    const first = lastId + 1
    lastId += part.length
    const body = part.map(([method, params], i) => ({ jsonrpc: '2.0', id: first + i, method, params }))
    const answer = await post(body, signal)
    if (!Array.isArray(answer)) {
      // A batch that is refused has one answer.
      throw replyOf(answer).error ?? new ConnectionError('The node gave one answer to a batch')
    }
    const replies = new Map(answer.map(replyOf).map((reply) => [reply.id, reply]))
    for (const [i, [method]] of part.entries()) {
      const reply = replies.get(first + i)
      outcomes.push(
        reply === undefined ? new RpcError('No answer', -32603) : outcomeOf(isResult, method, reply),
      )
    }
  }
  return outcomes
}

/** The results that are there, in order. */
export function present<Result>(outcomes: readonly (Result | null | RpcError)[]): Result[] {
  return outcomes.flatMap((outcome) => (outcome === null || outcome instanceof RpcError ? [] : [outcome]))
}

const isNotification = objectOf({ subscription: isText, result: isAnything })

/** What a feed calls. */
export interface FeedListener {
  /** The socket is open; subscriptions of an earlier one are gone. */
  opened(): void
  /** The socket is closed; another attempt follows. */
  closed(): void
}

/** A subscription, and the id that the node gave it on the open socket. */
interface Subscription {
  readonly params: readonly unknown[]
  readonly onEvent: (event: unknown) => void
  id?: string
}

/** Milliseconds before the first attempts to reconnect, and between later ones. */
const RETRY_MS = [250, 500, 1000, 2000]

function socketUrl(): URL {
  const url = new URL(PATH, location.href)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  url.hash = ''
  url.search = '?chaos=off'
  return url
}

/** The notifications of a node, over a socket that is opened again whenever it closes. */
export class Feed {
  readonly #listener: FeedListener
  /** By the ids of the calls that subscribe. */
  readonly #wanted = new Map<number, Subscription>()
  #socket: WebSocket
  #failures = 0

  constructor(listener: FeedListener) {
    this.#listener = listener
    this.#socket = this.#connect()
  }

  /**
   * Subscribes now and after each reconnection. `onEvent` gets the results of the notifications. The returned function
   * ends the subscription.
   */
  subscribe(params: readonly unknown[], onEvent: (event: unknown) => void): () => void {
    const key = ++lastId
    this.#wanted.set(key, { params, onEvent })
    this.#send(key, 'eth_subscribe', params)
    return () => {
      const id = this.#wanted.get(key)?.id
      this.#wanted.delete(key)
      if (id !== undefined) this.#send(++lastId, 'eth_unsubscribe', [id])
    }
  }

  #connect(): WebSocket {
    const socket = new WebSocket(socketUrl())
    socket.onopen = () => {
      this.#failures = 0
      for (const [id, { params }] of this.#wanted) this.#send(id, 'eth_subscribe', params)
      this.#listener.opened()
    }
    socket.onmessage = ({ data }) => this.#receive(String(data))
    socket.onclose = () => {
      for (const each of this.#wanted.values()) delete each.id
      this.#listener.closed()
      const pause = RETRY_MS[Math.min(this.#failures++, RETRY_MS.length - 1)]
      setTimeout(() => {
        this.#socket = this.#connect()
      }, pause)
    }
    return socket
  }

  #send(id: number, method: string, params: readonly unknown[]): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  }

  #receive(text: string): void {
    const message: unknown = JSON.parse(text)
    if (!isObject(message)) return
    if (!('params' in message)) this.#begin(message.id, message.result)
    else if (isNotification(message.params)) this.#notify(message.params)
  }

  #notify({ subscription, result }: Checked<typeof isNotification>): void {
    for (const { id, onEvent } of this.#wanted.values()) if (id === subscription) onEvent(result)
  }

  /** Notes the id that the node gave to the subscription of a call. */
  #begin(call: unknown, id: unknown): void {
    const subscription = typeof call === 'number' ? this.#wanted.get(call) : undefined
    if (subscription !== undefined && typeof id === 'string') subscription.id = id
  }
}
