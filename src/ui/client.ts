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

interface Reply {
  readonly id: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** The path of JSON-RPC: that of the page, which ends in a slash, without it. It holds the API key if there is one. */
const PATH = location.pathname.replace(/\/$/, '') || '/'

let lastId = 0

function resultOf({ result, error }: Reply): unknown {
  if (error !== undefined) throw new RpcError(error.message, error.code, error.data)
  return result
}

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
  const reply = (await post({ jsonrpc: '2.0', id: ++lastId, method, params }, signal)) as Reply
  return resultOf(reply) as Result
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
    const replies = (await post(body, signal)) as readonly Reply[] | Reply
    if (!Array.isArray(replies)) resultOf(replies as Reply)
    const byId = new Map((replies as readonly Reply[]).map((reply) => [reply.id, reply]))
    part.forEach((_, i) => {
      const reply = byId.get(first + i)
      const error = reply === undefined ? { message: 'No answer', code: -32603 } : reply.error
      outcomes.push(
        error === undefined
          ? (reply?.result as Result)
          : new RpcError(error.message, error.code, reply?.error?.data),
      )
    })
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

/** The notifications of a node. */
export interface Feed {
  /**
   * Subscribes now and after each reconnection. `onEvent` gets the results of the notifications. The returned function
   * ends the subscription.
   */
  subscribe(params: readonly unknown[], onEvent: (event: unknown) => void): () => void
  /** Closes the socket for good. */
  close(): void
}

/** Milliseconds before the first attempts to reconnect, and between later ones. */
const RETRY_MS = [250, 500, 1000, 2000]

/** Opens the socket, and again whenever it closes. */
export function openFeed(listener: FeedListener): Feed {
  const url = new URL(PATH, location.href)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  url.hash = ''
  const wanted = new Map<
    number,
    { params: readonly unknown[]; onEvent: (event: unknown) => void; id?: string }
  >()
  let socket: WebSocket
  let failures = 0
  let isClosed = false

  function send(id: number, method: string, params: readonly unknown[]): void {
    if (socket.readyState === WebSocket.OPEN)
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  }

  function receive(text: string): void {
    const message = JSON.parse(text) as Reply & { params?: { subscription: string; result: unknown } }
    if (message.params === undefined) {
      const begun = wanted.get(message.id)
      if (begun !== undefined && typeof message.result === 'string') begun.id = message.result
      return
    }
    for (const { id, onEvent } of wanted.values()) {
      if (id === message.params.subscription) onEvent(message.params.result)
    }
  }

  function connect(): void {
    socket = new WebSocket(url)
    socket.onopen = () => {
      failures = 0
      for (const [id, { params }] of wanted) send(id, 'eth_subscribe', params)
      listener.opened()
    }
    socket.onmessage = ({ data }) => receive(String(data))
    socket.onclose = () => {
      if (isClosed) return
      for (const each of wanted.values()) delete each.id
      listener.closed()
      setTimeout(connect, RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)])
    }
  }

  connect()
  return {
    subscribe(params, onEvent) {
      const key = ++lastId
      wanted.set(key, { params, onEvent })
      send(key, 'eth_subscribe', params)
      return () => {
        const id = wanted.get(key)?.id
        wanted.delete(key)
        if (id !== undefined) send(++lastId, 'eth_unsubscribe', [id])
      }
    },
    close() {
      isClosed = true
      socket.close()
    },
  }
}
