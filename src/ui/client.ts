/** The client of the explorer: JSON-RPC calls by POST, and subscriptions over one WebSocket that reconnects. */

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

/** The members of an object of the wire; none for anything else. */
const membersOf = (value: unknown): ReadonlyMap<string, unknown> =>
  new Map(typeof value === 'object' && value !== null ? Object.entries(value) : [])

/** Reads an answer. Throws `ConnectionError` where it is none of JSON-RPC. */
function replyOf(value: unknown): Reply {
  const members = membersOf(value)
  const [id, result] = [members.get('id'), members.get('result')]
  const given = members.get('error')
  if (given === undefined && members.has('result')) return { id, result, error: undefined }
  const error = membersOf(given)
  const [code, message] = [error.get('code'), error.get('message')]
  if (typeof code !== 'number' || typeof message !== 'string') {
    throw new ConnectionError('The node gave an answer that is not JSON-RPC')
  }
  return { id, result, error: new RpcError(message, code, error.get('data')) }
}

/** The path of JSON-RPC: that of the page, which ends in a slash, without it. It holds the API key if there is one. */
const PATH = location.pathname.replace(/\/$/, '') || '/'

let lastId = 0

async function post(body: unknown, signal?: AbortSignal): Promise<unknown> {
  let response: Response
  try {
    response = await fetch(PATH, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
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

/** Calls a method. The caller names the type of the result, which docs/methods/README.md states. Throws `RpcError`, `ConnectionError`. */
export async function call<Result>(
  method: string,
  params: readonly unknown[] = [],
  signal?: AbortSignal,
): Promise<Result> {
  const { result, error } = replyOf(await post({ jsonrpc: '2.0', id: ++lastId, method, params }, signal))
  if (error !== undefined) throw error
  return result as Result
}

/** One call of a batch. */
export type Call = readonly [method: string, params: readonly unknown[]]

/** Most calls of one message, below the least limit that a preset sets. */
const MOST_IN_BATCH = 50

/** Calls several methods in as few messages as possible; each outcome is a result or the error it was answered with. */
export async function callAll<Result>(
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
    for (const i of part.keys()) {
      const reply = replies.get(first + i)
      if (reply === undefined) outcomes.push(new RpcError('No answer', -32603))
      else outcomes.push(reply.error ?? (reply.result as Result))
    }
  }
  return outcomes
}

/** The results that are there, in order. */
export function present<Result>(outcomes: readonly (Result | null | RpcError)[]): Result[] {
  return outcomes.flatMap((outcome) => (outcome === null || outcome instanceof RpcError ? [] : [outcome]))
}

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
    const message = membersOf(JSON.parse(text))
    if (!message.has('params')) {
      this.#begin(message.get('id'), message.get('result'))
      return
    }
    const notification = membersOf(message.get('params'))
    for (const { id, onEvent } of this.#wanted.values()) {
      if (id !== undefined && id === notification.get('subscription')) onEvent(notification.get('result'))
    }
  }

  /** Notes the id that the node gave to the subscription of a call. */
  #begin(call: unknown, id: unknown): void {
    const subscription = typeof call === 'number' ? this.#wanted.get(call) : undefined
    if (subscription !== undefined && typeof id === 'string') subscription.id = id
  }
}
