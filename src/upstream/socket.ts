/** JSON-RPC over WebSocket to one URL: one connection, opened when it is needed, replies matched by their ids. */

import type { LookupFunction } from 'node:net'
import { type RawData, WebSocket } from 'ws'
import { messageOf } from '../errors.ts'
import type { RemoteClock } from './clock.ts'
import { ForbiddenAddress, forbiddenHost, guardedLookup, type Resolver } from './forbidden-address.ts'
import { idsIn } from './replies.ts'
import { LONGEST_ANSWER, type Outcome, type RequestBody, type Sender, type Target } from './sender.ts'

/** A request that has no answer yet. */
interface Waiting {
  readonly ids: ReadonlySet<unknown>
  readonly settle: (outcome: Outcome) => void
}

/** Is the URL one of WebSocket? */
export const isSocketUrl = (url: string): boolean => /^wss?:/i.test(url)

const failed = (why: string): Outcome => ({ kind: 'failed', why })

/** A connection that was opened, or is being opened. */
class Connection {
  readonly #waiting = new Set<Waiting>()
  readonly #socket: WebSocket
  readonly opened: Promise<void>
  isClosed = false
  /** Messages received. */
  received = 0

  constructor({ url, headers }: Target, lookup: LookupFunction) {
    const options = { headers: Object.fromEntries(headers), maxPayload: LONGEST_ANSWER, lookup }
    this.#socket = new WebSocket(url, options)
    this.opened = new Promise((resolve, reject) => {
      this.#socket.once('open', resolve)
      this.#socket.on('error', (error) => {
        reject(error)
        this.#end(messageOf(error))
      })
      this.#socket.on('close', () => {
        reject(new Error('the connection was closed'))
        this.#end('the connection was closed')
      })
    })
    // Each sender waits for it too and handles the failure.
    this.opened.catch(() => {})
    this.#socket.on('message', (data) => this.#receive(data))
  }

  #end(why: string): void {
    this.isClosed = true
    for (const { settle } of this.#waiting) settle(failed(why))
    this.#waiting.clear()
  }

  #receive(data: RawData): void {
    this.received++
    let message: unknown
    try {
      message = JSON.parse(String(data))
    } catch {
      // What comes later cannot be distinguished from the answer to another request.
      this.abandon('the answer is not JSON')
      return
    }
    const ids = idsIn(message)
    // An error that concerns no request in particular has the id null: it can only be given to a request that is alone.
    const entry =
      [...this.#waiting].find(({ ids: own }) => ids.some((id) => own.has(id))) ??
      (ids.every((id) => id == null) && this.#waiting.size === 1 ? [...this.#waiting][0] : undefined)
    entry?.settle({ kind: 'answered', body: message, retryAfterMs: undefined })
  }

  /** Sends a body; its answer goes to `settle`. The returned function stops waiting. */
  send({ text, ids }: RequestBody, settle: (outcome: Outcome) => void): () => void {
    const entry: Waiting = { ids: new Set(ids), settle }
    this.#waiting.add(entry)
    this.#socket.send(text)
    return () => this.#waiting.delete(entry)
  }

  /** Fails all waiting requests with the reason, and closes the connection. */
  abandon(why: string): void {
    this.#end(why)
    this.#socket.terminate()
  }
}

/** The outcome of a message on a connection, within the target's time. */
async function exchange(
  connection: Connection,
  { timeoutMs }: Target,
  body: RequestBody,
  clock: RemoteClock,
  signal: AbortSignal,
): Promise<Outcome> {
  const endings: (() => void)[] = []
  const before = connection.received
  const outcome = new Promise<Outcome>((resolve) => {
    const abort = () => resolve(failed('the fork was closed'))
    signal.addEventListener('abort', abort, { once: true })
    const cancel = clock.deadline(timeoutMs, () => {
      const why = `no answer within ${timeoutMs} ms`
      resolve(failed(why))
      // Not open yet, or dead: it would hang the next request too.
      if (connection.received === before) connection.abandon(why)
    })
    endings.push(() => signal.removeEventListener('abort', abort), cancel)
    connection.opened
      .then(() => endings.push(connection.send(body, resolve)))
      .catch((error) => {
        const why = messageOf(error)
        resolve(error instanceof ForbiddenAddress ? { kind: 'refused', why } : failed(why))
      })
  })
  try {
    return await outcome
  } finally {
    for (const end of endings) end()
  }
}

/** Sends over WebSocket. Opens nothing yet; all connections are closed when `closing` is aborted. */
export function createSocketSender(closing: AbortSignal, resolve: Resolver): Sender {
  const lookup = guardedLookup(resolve)
  const connections = new Map<string, Connection>()
  closing.addEventListener('abort', () => {
    for (const connection of connections.values()) connection.abandon('the fork was closed')
  })

  function connectionTo(target: Target): Connection {
    let connection = connections.get(target.url)
    if (connection === undefined || connection.isClosed) {
      connection = new Connection(target, lookup)
      connections.set(target.url, connection)
    }
    return connection
  }

  return {
    async post(target, body, clock, signal) {
      const forbidden = forbiddenHost(target.url)
      if (forbidden !== undefined) return { kind: 'refused', why: forbidden }
      return exchange(connectionTo(target), target, body, clock, signal)
    },
  }
}
