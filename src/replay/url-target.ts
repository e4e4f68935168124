/** A node behind a URL as the target of a replay: requests by POST, those of connections over one WebSocket each. */
import { WebSocket } from 'ws'
import { isObject } from '../encoding/json-object.ts'
import { NodeError } from '../errors.ts'
import type { RequestLine } from '../recording/lines.ts'
import { StandIns } from './stand-ins.ts'
import type { Target } from './target.ts'

/** A socket, and the replies that it owes, oldest first: a connection answers in order. */
interface Connection {
  readonly socket: Promise<WebSocket>
  readonly waiting: Waiting[]
}

interface Waiting {
  resolve(reply: unknown): void
  reject(error: NodeError): void
}

/** A node that runs on its own: its clock and its intervals are its own. */
export class UrlTarget implements Target {
  readonly hasClock = false
  readonly eventDelay = 2000
  readonly #url: URL
  readonly #secrets: StandIns
  readonly #connections = new Map<string, Connection>()
  #listener: (to: string, event: unknown) => void = () => {}

  constructor(url: URL, secrets = new StandIns()) {
    this.#url = url
    this.#secrets = secrets
  }

  async answer({ from, text }: RequestLine, recorded: unknown): Promise<unknown> {
    const request = this.#secrets.fill(recorded)
    const body = text ?? JSON.stringify(from === 'in process' ? envelope(request) : request)
    if (from === 'http') return this.#post(body)
    const reply = await this.#send(from, body)
    return from === 'in process' ? withoutEnvelope(reply) : reply
  }

  async tick(): Promise<undefined> {}

  setTime(): void {}

  async reach(): Promise<void> {}

  onEvent(listener: (to: string, event: unknown) => void): void {
    this.#listener = listener
  }

  disconnect(from: string): void {
    const connection = this.#connections.get(from)
    this.#connections.delete(from)
    void connection?.socket.then((socket) => socket.close())
  }

  async loadState(text: string): Promise<void> {
    await this.#post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_loadState', params: [text] }))
  }

  async close(): Promise<void> {
    for (const from of [...this.#connections.keys()]) this.disconnect(from)
  }

  async #post(body: string): Promise<unknown> {
    const headers = { 'Content-Type': 'application/json' }
    const response = await fetch(this.#url, { method: 'POST', headers, body }).catch(() => {
      throw new NodeError('internal', `No node answers at ${this.#url.origin}.`)
    })
    const text = await response.text()
    try {
      return text === '' ? null : JSON.parse(text)
    } catch {
      throw new NodeError(
        'internal',
        `The server at ${this.#url.origin} is not a node: HTTP ${response.status}.`,
      )
    }
  }

  async #send(from: string, body: string): Promise<unknown> {
    const { socket, waiting } = this.#connectionOf(from)
    const open = await socket
    if (isNotification(body)) {
      open.send(body)
      return null
    }
    return new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      open.send(body)
    })
  }

  #connectionOf(from: string): Connection {
    const known = this.#connections.get(from)
    if (known !== undefined) return known
    const url = new URL(this.#url)
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
    const socket = new WebSocket(url)
    const waiting: Connection['waiting'] = []
    socket.on('message', (data) => {
      const message: unknown = JSON.parse(data.toString())
      if (isObject(message) && message.method !== undefined) this.#listener(from, message)
      else waiting.shift()?.resolve(message)
    })
    socket.on('close', () => {
      const error = new NodeError('internal', `The node at ${url.origin} closed the connection ${from}.`)
      for (const { reject } of waiting.splice(0)) reject(error)
    })
    const opened = new Promise<WebSocket>((resolve, reject) => {
      socket.once('open', () => resolve(socket))
      socket.on('error', () => reject(new NodeError('internal', `No node answers at ${url.origin}.`)))
    })
    const connection = { socket: opened, waiting }
    this.#connections.set(from, connection)
    return connection
  }
}

/** A call in process as a message. */
function envelope(request: unknown): unknown {
  return isObject(request) ? { jsonrpc: '2.0', id: 1, ...request } : request
}

/** The result or error of a reply, as calls in process are recorded. */
function withoutEnvelope(reply: unknown): unknown {
  if (!isObject(reply)) return reply
  return 'error' in reply ? { error: reply.error } : { result: reply.result }
}

/** Is this a message that nothing answers? */
function isNotification(body: string): boolean {
  try {
    const message: unknown = JSON.parse(body)
    return isObject(message) && !('id' in message) && typeof message.method === 'string'
  } catch {
    return false
  }
}
