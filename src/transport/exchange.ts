/** A request over HTTP and the way back to its caller, whatever carries the two. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Refusal } from './refusal.ts'
import type { LongReply } from './text-dispatcher.ts'

/** What chaos did to a message; in a request, `off` leaves its calls alone. */
export const CHAOS_HEADER = 'X-Tandem-Chaos'
const CHAOS_FIELD = CHAOS_HEADER.toLowerCase()

/**
 * Does a caller ask that chaos leaves its calls alone? A page in a browser cannot set a header of a WebSocket, and asks by
 * the address, `?chaos=off`.
 */
export function asksForCalm({
  headers,
  url = '',
}: {
  readonly headers: IncomingHttpHeaders
  readonly url?: string | undefined
}): boolean {
  return headers[CHAOS_FIELD] === 'off' || new URLSearchParams(url.split('?')[1]).get('chaos') === 'off'
}

/** Header fields beyond those that every reply has, which are its type, its length and the ID of its request. */
export type ReplyFields = Readonly<Record<string, string | number>>

/** A request that has passed all checks, and the way back to its caller. */
export interface RpcExchange {
  /** Names the request in the logs and in its reply. */
  readonly requestId: string
  readonly headers: IncomingHttpHeaders
  /** Address of the caller. */
  readonly remote: string
  /** Has the caller disconnected? It is sent nothing then. */
  readonly isGone: boolean
  /**
   * Sends the reply, which is JSON.
   * @param length of the body in bytes
   */
  send(status: number, fields: ReplyFields, body: string | LongReply, length: number): void
  /**
   * Calls back once the reply is sent or its caller disconnects. A caller that reads nothing of it for `timeoutMs`
   * is disconnected. Called before `send`, for large replies only.
   */
  hold(timeoutMs: number, release: () => void): void
  /** Sends a reply of `length` bytes up to the end of `part`, and closes the connection. */
  cut(status: number, fields: ReplyFields, part: string, length: number): void
  /** Closes the connection without a reply. */
  destroy(): void
}

/** Sends a refusal in the place of a reply. */
export function decline(exchange: RpcExchange, { status, body, allow, retryAfter }: Refusal): void {
  if (exchange.isGone) return
  const fields = {
    ...(retryAfter !== undefined && { 'Retry-After': retryAfter }),
    ...(allow !== undefined && { Allow: allow }),
  }
  exchange.send(status, fields, body, Buffer.byteLength(body))
}
