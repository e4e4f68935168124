/** Upgrade requests: a WebSocket is checked and accepted as an HTTP request would be, any other protocol is ignored. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { pathOf } from './incoming-request.ts'
import type { ApiKeyClient } from './keys/api-key-client.ts'
import type { Policy } from './policy.ts'
import { type Refusal, refuseSocket, spentLimit, UNAUTHORIZED } from './refusal.ts'

/** Takes over a connection whose upgrade request was accepted; `client` holds its key where keys are in use. */
export type AcceptUpgrade = (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  client: ApiKeyClient | undefined,
) => void

/** Does a request ask for a WebSocket? */
export function asksForWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

/**
 * The bytes of a request for another protocol without its upgrade headers, to be read again as RFC 9110 allows: some
 * HTTP/2 clients ask for `h2c` with every request, and Node emits `upgrade` for all of them once it has a listener.
 */
export function withoutUpgrade(request: IncomingMessage, head: Buffer): Buffer {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`]
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i] ?? ''
    if (!/^(upgrade|connection|http2-settings)$/i.test(name))
      lines.push(`${name}: ${request.rawHeaders[i + 1]}`)
  }
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head])
}

/** Accepts or refuses a request for a WebSocket by the policy of the server. */
export function admitUpgrade(
  policy: Policy,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  accept: AcceptUpgrade,
): void {
  // Until ws takes over, an error of the connection must not end the process.
  socket.on('error', () => {})
  const { authentication, bans } = policy
  const refuse = (refusal: Refusal) => {
    bans.countUpgrade(request, false)
    refuseSocket(socket, refusal)
  }
  const refusal = bans.refusal(request) ?? policy.hostRefusal(request.headers)
  if (refusal !== undefined) return void refuse(refusal)
  if (authentication === undefined) return void accept(request, socket, head, undefined)
  const client = authentication.authenticate(pathOf(request.url))
  if (client === undefined) return void refuse(UNAUTHORIZED)
  void client.openSocket(socket).then((spent) => {
    if (spent === undefined) return void accept(request, socket, head, client)
    refuse(spentLimit(spent.message, spent.retryAfterSeconds))
  })
}
