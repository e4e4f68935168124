/** A POST to `node:http` as an exchange: reads its body and writes its reply. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { decline, type ReplyFields, type RpcExchange } from './exchange.ts'
import type { Policy } from './policy.ts'
import { REQUEST_ID_HEADER } from './policy.ts'
import { BODY_CONSUMED, BUSY, type Refusal, refusalFields, tooLarge } from './refusal.ts'
import type { LongReply } from './text-dispatcher.ts'

/** How long the sender of a body that is too large may go on sending, so that it reads our answer; milliseconds. */
const LINGER_MS = 2000

/** The body that a middleware such as `express.json()` has read and parsed; `undefined` when it left none. */
function parsedBody(request: IncomingMessage): string | undefined {
  const body: unknown = 'body' in request ? request.body : undefined
  if (body === undefined || typeof body === 'string') return body
  return body instanceof Uint8Array ? Buffer.from(body).toString() : JSON.stringify(body)
}

/** A POST that `Policy.admit` has let through. */
export class HttpExchange implements RpcExchange {
  readonly requestId: string
  readonly headers: IncomingHttpHeaders
  readonly remote: string
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #policy: Policy
  readonly #isMounted: boolean

  /** @param isMounted part of an app of the user's, whose middleware may change the header until the end of the response */
  constructor(request: IncomingMessage, response: ServerResponse, policy: Policy, isMounted: boolean) {
    this.#request = request
    this.#response = response
    this.#policy = policy
    this.#isMounted = isMounted
    this.requestId = String(response.getHeader(REQUEST_ID_HEADER))
    this.headers = request.headers
    this.remote = policy.remoteAddressOf(request)
  }

  get isGone(): boolean {
    return this.#response.destroyed
  }

  hold(timeoutMs: number, release: () => void): void {
    const response = this.#response
    response.once('close', release)
    response.setTimeout(timeoutMs, () => response.destroy())
  }

  send(status: number, fields: ReplyFields, body: string | LongReply, length: number): void {
    const response = this.#response
    if (this.#policy.isClosing) response.setHeader('Connection', 'close')
    this.#writeHeader(status, { ...fields, 'Content-Type': 'application/json', 'Content-Length': length })
    if (typeof body !== 'string') {
      // The next piece is made when the one before is written. A caller that disconnects is no error of the node.
      pipeline(Readable.from(body.pieces(), { objectMode: false, highWaterMark: 1 }), response, () => {})
    }
    // ASCII alone needs no conversion.
    else if (length === body.length) response.end(body, 'latin1')
    else response.end(body)
  }

  cut(status: number, fields: ReplyFields, part: string, length: number): void {
    const response = this.#response
    this.#writeHeader(status, { ...fields, 'Content-Type': 'application/json', 'Content-Length': length })
    response.write(part, () => response.destroy())
  }

  destroy(): void {
    this.#response.destroy()
  }

  /** Passes on the body once it has arrived; refuses one that is too large, or that a middleware has consumed. */
  readBody(done: (body: string) => void): void {
    const request = this.#request
    if (request.readableDidRead || request.readableEnded) {
      const body = parsedBody(request)
      if (body === undefined) decline(this, BODY_CONSUMED)
      else done(body)
      return
    }
    const { maxBodyBytes } = this.#policy
    if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) {
      this.#declineUnread(tooLarge(maxBodyBytes))
      return
    }
    this.#policy.readBody(request, this.#response, (body, unread) => {
      if (unread === 'no room') this.#declineUnread(BUSY)
      else if (body === undefined) this.#declineUnread(tooLarge(maxBodyBytes))
      else done(body)
    })
  }

  /** All fields in one call where no middleware may change them: Node checks and keeps each field that is set alone. */
  #writeHeader(status: number, fields: ReplyFields): void {
    const response = this.#response
    if (!this.#isMounted) {
      response.writeHead(status, fields)
      return
    }
    for (const [name, value] of Object.entries(fields)) response.setHeader(name, value)
    response.statusCode = status
  }

  /** Refuses a body that is still arriving: answers at once, and gives the sender `LINGER_MS` to finish before the connection ends. */
  #declineUnread(refusal: Refusal): void {
    const response = this.#response
    response.writeHead(refusal.status, { ...refusalFields(refusal), Connection: 'close' })
    response.write(refusal.body)
    const end = () => {
      clearTimeout(timer)
      response.end()
    }
    const timer = setTimeout(end, LINGER_MS)
    this.#request.on('end', end).on('close', end).resume()
  }
}
