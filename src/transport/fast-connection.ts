/** A connection of the fast path, and the exchange of the request that it is at. */
import { channel } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { STATUS_CODES } from '../upstream/node-http.ts'
import { CountedBuffer } from './byte-budget.ts'
import type { ReplyFields, RpcExchange } from './exchange.ts'
import { requestIdOf } from './incoming-request.ts'
import { type Policy, REQUEST_ID_HEADER } from './policy.ts'
import { MAX_HEAD, type PlainHead } from './request-head.ts'
import type { LongReply } from './text-dispatcher.ts'

const END_OF_HEAD = '\r\n\r\n'

/** Like `http.server.request.start` and `http.server.response.finish` of `node:http`, which does not see these requests. */
const requestStart = channel('tandem.http.request.start')
const responseFinish = channel('tandem.http.response.finish')

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

/** A head of a request that is answered here. */
export interface AcceptedHead extends PlainHead {
  /** CORS fields of each reply, as lines. */
  readonly cors: string
}

/** What a connection is served by. */
export interface FastConnectionParts {
  readonly policy: Policy
  /** How long a new connection may send nothing, and an idle one is kept; milliseconds. */
  readonly headersTimeout: number
  readonly keepAliveTimeout: number
  /** The head of a request; `undefined` for one that `node:http` has to answer, or to refuse. */
  acceptedHead(text: string): AcceptedHead | undefined
  answer(exchange: RpcExchange, body: string): void
  /** Called with the first complete request. */
  onFirstRequest(socket: Socket): void
  /** Called when the connection failed, or has sent nothing for too long. */
  onClientError(error: NodeJS.ErrnoException, socket: Socket): void
  /** Called once, when the connection is closed or about to be handed over. */
  onEnd(connection: FastConnection): void
  /** Hands the connection to `node:http`, with what was read of the next request. */
  handOver(socket: Socket, unread: Uint8Array): void
}

/** One request after another: read, answered, sent. */
export class FastConnection implements RpcExchange {
  requestId = ''
  headers: AcceptedHead['headers'] = {}
  remote = ''
  #url = ''
  #status = 0
  #cors = ''
  #hadRequest = false
  /** A request is being answered, or its reply is not written yet. */
  #isBusy = false
  #isSending = false
  #waiting: Buffer[] = []
  #release: (() => void) | undefined
  readonly #socket: Socket
  readonly #parts: FastConnectionParts
  readonly #keptOpen: string
  /** The body, until it is answered. */
  readonly #body: CountedBuffer

  constructor(socket: Socket, parts: FastConnectionParts) {
    this.#socket = socket
    this.#parts = parts
    this.#body = new CountedBuffer(parts.policy.budget)
    const seconds = Math.floor(parts.keepAliveTimeout / 1000)
    this.#keptOpen = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n\r\n`
    socket
      .on('data', this.#onData)
      .on('end', this.#onEnd)
      .on('error', this.#onError)
      .on('timeout', this.#onTimeout)
      .on('close', this.#onClose)
      .setTimeout(parts.headersTimeout)
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

  hold(timeoutMs: number, release: () => void): void {
    this.#release = release
    this.#socket.setTimeout(timeoutMs)
  }

  cut(status: number, fields: ReplyFields, part: string, length: number): void {
    this.#socket.write(this.#headOf(status, fields, length) + part, () => this.#socket.destroy())
  }

  send(status: number, fields: ReplyFields, body: string | LongReply, length: number): void {
    const head = this.#headOf(status, fields, length)
    this.#isSending = true
    this.#status = status
    if (typeof body !== 'string') {
      this.#socket.write(head, 'latin1')
      this.#sendPieces(body.pieces()[Symbol.iterator]())
    }
    // ASCII alone needs no conversion.
    else this.#sent(this.#socket.write(head + body, length === body.length ? 'latin1' : 'utf8'))
  }

  #headOf(status: number, fields: ReplyFields, length: number): string {
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${REQUEST_ID_HEADER}: ${this.requestId}\r\n${this.#cors}`
    for (const name in fields) head += `${name}: ${fields[name]}\r\n`
    head += `Content-Type: application/json\r\nContent-Length: ${length}\r\nDate: ${date()}\r\n`
    return head + (this.#parts.policy.isClosing ? 'Connection: close\r\n\r\n' : this.#keptOpen)
  }

  readonly #onData = (chunk: Buffer) => {
    if (!this.#isBusy) return this.#take(chunk)
    this.#waiting.push(chunk)
    this.#socket.pause()
  }

  /** A caller that ends its side is disconnected, as by `node:http`. */
  readonly #onEnd = () => void this.#socket.end()

  readonly #onError = (error: NodeJS.ErrnoException) => this.#parts.onClientError(error, this.#socket)

  readonly #onTimeout = () => {
    if (!this.#hadRequest) {
      const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      this.#parts.onClientError(error, this.#socket)
    } else if (this.#isSending || !this.#isBusy) this.#socket.destroy()
  }

  readonly #onClose = () => {
    this.#parts.onEnd(this)
    this.#giveBack()
  }

  #giveBack(): void {
    this.#body.resize(0)
    this.#release?.()
    this.#release = undefined
  }

  /** Takes a body from the budget; false when the budget is spent. */
  #hasRoom(bytes: number): boolean {
    if (this.#body.resize(bytes)) return true
    this.#body.resize(0)
    return false
  }

  #take(chunk: Buffer): void {
    const start = this.#begin(chunk)
    if (start === undefined) this.#handOver(chunk)
    else this.#parts.answer(this, chunk.toString('utf8', start))
  }

  /** Begins the exchange of a whole request; returns the offset of its body. `undefined` when it is not answered here. */
  #begin(chunk: Buffer): number | undefined {
    const { policy } = this.#parts
    const end = chunk.indexOf(END_OF_HEAD, 0, 'latin1')
    const head =
      end < 0 || end > MAX_HEAD ? undefined : this.#parts.acceptedHead(chunk.toString('latin1', 0, end))
    const start = end + END_OF_HEAD.length
    if (head === undefined || chunk.length !== start + head.contentLength || policy.isClosing) {
      return undefined
    }
    const { headers } = head
    const remote = policy.remoteAddressOf({ headers, socket: this.#socket })
    if (policy.bans.isBannedAddress(remote) || !this.#hasRoom(head.contentLength)) return undefined
    this.#isBusy = true
    this.headers = headers
    this.remote = remote
    this.requestId = requestIdOf(headers)
    this.#url = head.url
    this.#cors = head.cors
    if (!this.#hadRequest) this.#countFirst(remote)
    if (requestStart.hasSubscribers) requestStart.publish(this.#description())
    return start
  }

  #countFirst(remote: string): void {
    this.#hadRequest = true
    this.#socket.setTimeout(this.#parts.keepAliveTimeout)
    this.#parts.onFirstRequest(this.#socket)
    this.#parts.policy.bans.countAccepted(remote)
  }

  /** The request as subscribers of the channels get it. */
  #description() {
    const { requestId, headers, remote } = this
    return { method: 'POST', url: this.#url, headers, requestId, remote, socket: this.#socket }
  }

  #handOver(unread: Buffer): void {
    const socket = this.#socket
    this.#parts.onEnd(this)
    socket
      .off('data', this.#onData)
      .off('end', this.#onEnd)
      .off('error', this.#onError)
      .off('timeout', this.#onTimeout)
      .off('close', this.#onClose)
      .setTimeout(0)
    this.#parts.handOver(socket, unread)
  }

  /** Makes the next piece once the one before is written. */
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

  /** Ends the exchange, and reads what has arrived during it. */
  readonly #finish = () => {
    if (responseFinish.hasSubscribers) {
      responseFinish.publish({ ...this.#description(), status: this.#status })
    }
    this.#isBusy = false
    this.#isSending = false
    if (this.#release !== undefined) this.#socket.setTimeout(this.#parts.keepAliveTimeout)
    this.#giveBack()
    if (this.#parts.policy.isClosing) return void this.#socket.end()
    if (this.#waiting.length === 0) return
    const chunk = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#socket.resume()
    this.#take(chunk)
  }
}
