/** Upgrade requests: a WebSocket is checked and accepted as an HTTP request would be, any other protocol is ignored. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { BanCheck } from './ban-check.ts'
import type { HostCheck } from './host-check.ts'
import type { HttpServer } from './http-server.ts'
import { pathOf } from './incoming-request.ts'
import type { ApiKeyClient } from './keys/api-key-client.ts'
import type { Authentication } from './keys/authentication.ts'
import { forbidden, type Refusal, rawResponse, spentLimit, UNAUTHORIZED } from './refusal.ts'

/** What upgrades are decided by, and what takes the accepted ones. */
export interface UpgradeParts {
  readonly http: HttpServer
  readonly check: HostCheck
  readonly bans: BanCheck
  /** Absent where no API keys are in use. */
  readonly authentication: Authentication | undefined
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, client?: ApiKeyClient): void
}

/** Ends a connection that has no response object. */
export function refuseSocket(socket: Duplex, refusal: Refusal, statusText: string): void {
  if (!socket.writable) return void socket.destroy()
  socket.end(rawResponse(refusal, statusText))
}

/**
 * Hands a request for another protocol back to the HTTP server without its upgrade headers, as RFC 9110 allows: some
 * HTTP/2 clients ask for `h2c` with every request, and Node emits `upgrade` for all of them once it has a listener.
 */
function ignoreUpgrade(http: HttpServer, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`]
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i] as string
    if (!/^(upgrade|connection|http2-settings)$/i.test(name))
      lines.push(`${name}: ${request.rawHeaders[i + 1]}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  http.server.emit(http.connectionEvent, socket)
}

/** Makes the listener of the server's `upgrade` event. */
export function createUpgradeListener({
  http,
  check,
  bans,
  authentication,
  accept,
}: UpgradeParts): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  return (request, socket, head) => {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
      return ignoreUpgrade(http, request, socket, head)
    }
    // Until ws takes over, an error of the connection must not end the process.
    socket.on('error', () => {})
    const refuse = (refusal: Refusal, statusText: string) => {
      bans.countUpgrade(request, false)
      refuseSocket(socket, refusal, statusText)
    }
    const banned = bans.refusal(request)
    if (banned !== undefined) return refuse(banned, 'Forbidden')
    const reason = check.refusal(request.headers)
    if (reason !== undefined) return refuse(forbidden(reason), 'Forbidden')
    if (authentication === undefined) return accept(request, socket, head)
    const client = authentication.authenticate(pathOf(request.url))
    if (client === undefined) return refuse(UNAUTHORIZED, 'Unauthorized')
    void client.openSocket(socket).then((spent) => {
      if (spent === undefined) return accept(request, socket, head, client)
      refuse(spentLimit(spent.message, spent.retryAfterSeconds), 'Too Many Requests')
    })
  }
}
