/**
 * Keep-alive connections whose requests are all plain POSTs, answered without `node:http`: each request has to arrive
 * whole in one read. A connection is handed over to `node:http` with the first request that is anything else, before
 * any of it is answered, and stays there.
 *
 * Of the processor time of a small call, `node:http` takes more than the call (`npm run bench -- --rows read`).
 */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { corsFields, REQUEST_ID_HEADER } from './admission.ts'
import { type ByteBudget, SMALL_BYTES } from './byte-budget.ts'
import type { HostCheck } from './host-check.ts'
import { pathOf, type RemoteAddressOf, requestIdOf } from './incoming-request.ts'
import { MAX_HEAD, type PlainHead, parsePlainHead } from './request-head.ts'
import type { ReplyFields, RpcExchange } from './rpc-exchange.ts'
import { isJsonBody } from './rpc-handler.ts'
import type { LongReply } from './text-dispatcher.ts'

const END_OF_HEAD = '\r\n\r\n'
/** Heads that are remembered: a client sends the same again and again, but for the length of the body. */
const MAX_HEADS = 128

/** What plain connections are served by. */
export interface PlainHttpParts {
  readonly check: HostCheck
  readonly remoteAddressOf: RemoteAddressOf
  /** Bytes. */
  readonly maxBodyBytes: number
  /** Of requests and answers of all transports. */
  readonly budget: ByteBudget
  /** How long a new connection may send nothing, and an idle one is kept; milliseconds. */
  readonly headersTimeout: number
  readonly keepAliveTimeout: number
  /** Does a POST to this path go to the JSON-RPC of the node? */
  isRpcPath(path: string): boolean
  isBanned(address: string): boolean
  isClosing(): boolean
  /** Called once for each connection, with its first complete request. */
  onFirstRequest(socket: Socket, address: string): void
  /** Called when a connection failed, or has sent nothing for too long. */
  onClientError(error: NodeJS.ErrnoException, socket: Socket): void
  /** Hands a connection to `node:http`, with what was read of the next request. */
  handOver(socket: Socket, unread: Uint8Array): void
  answer(exchange: RpcExchange, body: string): void
}

/** The plain connections of one server. */
export interface PlainHttp {
  /** Takes a new connection. */
  accept(socket: Socket): void
  /** Destroys connections that wait for a further request. */
  closeIdle(): void
  /** Destroys all connections. */
  closeAll(): void
}

/** A head of a request that is answered here. */
interface AcceptedHead extends PlainHead {
  /** Fields of each reply, as lines. */
  readonly cors: string
}

let dateSecond = Number.NaN
let dateText = ''

/** The `Date` of a reply (RFC 9110, section 6.6.1), made once a second. */
function date(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = new Date(second * 1000).toUTCString()
  }
  return dateText
}

/** Serves plain connections. */
export function createPlainHttp(parts: PlainHttpParts): PlainHttp {
  const { check, maxBodyBytes, budget, headersTimeout, keepAliveTimeout } = parts
  const keptOpen = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeout / 1000)}\r\n\r\n`
  const connections = new Set<Connection>()
  const heads = new Map<string, AcceptedHead>()

  /** `undefined` for a request that `node:http` has to answer, or to refuse. */
  function acceptedHead(text: string): AcceptedHead | undefined {
    const known = heads.get(text)
    if (known !== undefined) return known
    const head = parsePlainHead(text)
    if (head === undefined || head.contentLength > maxBodyBytes) return undefined
    const { url, headers } = head
    const isAccepted =
      isJsonBody(headers) && parts.isRpcPath(pathOf(url)) && check.refusal(headers) === undefined
    if (!isAccepted) return undefined
    const cors = Object.entries(corsFields(check, headers)).map(([name, value]) => `${name}: ${value}\r\n`)
    const accepted = { ...head, cors: cors.join('') }
    if (heads.size === MAX_HEADS) heads.clear()
    heads.set(text, accepted)
    return accepted
  }

  /** A connection, and the exchange of the request that it is at. */
  class Connection implements RpcExchange {
    requestId = ''
    headers: AcceptedHead['headers'] = {}
    remote = ''
    #cors = ''
    #hadRequest = false
    /** A request is being answered, or its reply is not taken yet. */
    #isBusy = false
    #isSending = false
    #waiting: Buffer[] = []
    /** Bytes of the body that are taken from the budget until it is answered. */
    #counted = 0
    #release: (() => void) | undefined
    readonly #socket: Socket

    constructor(socket: Socket) {
      this.#socket = socket
      socket
        .on('data', this.#onData)
        .on('end', this.#onEnd)
        .on('error', this.#onError)
        .on('timeout', this.#onTimeout)
        .on('close', this.#onClose)
        .setTimeout(headersTimeout)
    }

    /** Does it wait for a further request? A new connection is about to send its first. */
    get isIdle(): boolean {
      return this.#hadRequest && !this.#isBusy
    }

    get isGone(): boolean {
      return !this.#socket.writable
    }

    destroy(): void {
      this.#socket.destroy()
    }

    readonly #onData = (chunk: Buffer) => {
      if (!this.#isBusy) return this.#take(chunk)
      this.#waiting.push(chunk)
      this.#socket.pause()
    }

    /** A caller that closes its half is gone, as `node:http` has it. */
    readonly #onEnd = () => void this.#socket.end()

    readonly #onError = (error: NodeJS.ErrnoException) => parts.onClientError(error, this.#socket)

    readonly #onTimeout = () => {
      if (!this.#hadRequest) {
        const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
        parts.onClientError(error, this.#socket)
      } else if (this.#isSending || !this.#isBusy) this.#socket.destroy()
    }

    readonly #onClose = () => {
      connections.delete(this)
      this.#giveBack()
    }

    #giveBack(): void {
      budget.give(this.#counted)
      this.#counted = 0
      this.#release?.()
      this.#release = undefined
    }

    /** Takes a body from the budget; false when the budget is spent. */
    #count(bytes: number): boolean {
      if (bytes <= SMALL_BYTES) return true
      budget.take(bytes)
      this.#counted = bytes
      if (budget.isSpent) this.#giveBack()
      return this.#counted > 0
    }

    #take(chunk: Buffer): void {
      const start = this.#begin(chunk)
      if (start === undefined) this.#handOver(chunk)
      else parts.answer(this, chunk.toString('utf8', start))
    }

    /** Begins the exchange of a whole request; returns the offset of its body. `undefined` when it is not answered here. */
    #begin(chunk: Buffer): number | undefined {
      const end = chunk.indexOf(END_OF_HEAD, 0, 'latin1')
      const head = end < 0 || end > MAX_HEAD ? undefined : acceptedHead(chunk.toString('latin1', 0, end))
      const start = end + END_OF_HEAD.length
      if (head === undefined || chunk.length !== start + head.contentLength || parts.isClosing()) {
        return undefined
      }
      const { headers } = head
      const remote = parts.remoteAddressOf({ headers, socket: this.#socket })
      if (parts.isBanned(remote) || !this.#count(head.contentLength)) return undefined
      this.#isBusy = true
      this.headers = headers
      this.remote = remote
      this.requestId = requestIdOf(headers)
      this.#cors = head.cors
      if (!this.#hadRequest) {
        this.#hadRequest = true
        this.#socket.setTimeout(keepAliveTimeout)
        parts.onFirstRequest(this.#socket, remote)
      }
      return start
    }

    #handOver(unread: Buffer): void {
      const socket = this.#socket
      connections.delete(this)
      socket
        .off('data', this.#onData)
        .off('end', this.#onEnd)
        .off('error', this.#onError)
        .off('timeout', this.#onTimeout)
        .off('close', this.#onClose)
        .setTimeout(0)
      parts.handOver(socket, unread)
    }

    hold(timeoutMs: number, release: () => void): void {
      this.#release = release
      this.#socket.setTimeout(timeoutMs)
    }

    send(status: number, fields: ReplyFields, body: string | LongReply, length: number): void {
      let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${REQUEST_ID_HEADER}: ${this.requestId}\r\n${this.#cors}`
      for (const name in fields) head += `${name}: ${fields[name]}\r\n`
      head += `Content-Type: application/json\r\nContent-Length: ${length}\r\nDate: ${date()}\r\n`
      head += parts.isClosing() ? 'Connection: close\r\n\r\n' : keptOpen
      this.#isSending = true
      if (typeof body !== 'string') {
        this.#socket.write(head, 'latin1')
        this.#sendPieces(body.pieces()[Symbol.iterator]())
      }
      // Of ASCII alone, which takes no conversion.
      else this.#sent(this.#socket.write(head + body, length === body.length ? 'latin1' : 'utf8'))
    }

    /** Each piece after the one before has been taken. */
    #sendPieces(pieces: Iterator<Uint8Array>): void {
      let isTaken = true
      while (isTaken) {
        if (this.isGone) return
        const { done, value } = pieces.next()
        if (done) {
          this.#finish()
          return
        }
        isTaken = this.#socket.write(value)
      }
      this.#socket.once('drain', () => this.#sendPieces(pieces))
    }

    #sent(isTaken: boolean): void {
      if (isTaken) this.#finish()
      else this.#socket.once('drain', this.#finish)
    }

    /** Goes on with what has arrived meanwhile. */
    readonly #finish = () => {
      this.#isBusy = false
      this.#isSending = false
      if (this.#release !== undefined) this.#socket.setTimeout(keepAliveTimeout)
      this.#giveBack()
      if (parts.isClosing()) return void this.#socket.end()
      if (this.#waiting.length === 0) return
      const chunk = Buffer.concat(this.#waiting)
      this.#waiting = []
      this.#socket.resume()
      this.#take(chunk)
    }
  }

  return {
    accept(socket) {
      connections.add(new Connection(socket))
    },
    closeIdle() {
      for (const connection of connections) if (connection.isIdle) connection.destroy()
    },
    closeAll() {
      for (const connection of connections) connection.destroy()
    },
  }
}
