/** Refuses banned addresses, and counts accepted and refused connections in the node's scoring of callers. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { plainAddress } from '../options/addresses.ts'
import type { RemoteAddressOf } from './incoming-request.ts'
import { forbidden, type Refusal } from './refusal.ts'

/** The scoring as a transport uses it. Addresses are plain: IPv4-mapped ones as IPv4. */
export interface PeerScoring {
  isBanned(address: string): boolean
  recordEvent(
    address: string,
    event: 'successfulHandshakes' | 'failedHandshakes' | 'invalidMessages' | 'timeoutMessages',
  ): void
  /** Calls back on each new ban; the returned function stops it. */
  onBan(listener: () => void): () => void
}

/** The scoring of a node that keeps none. */
export const NO_SCORING: PeerScoring = { isBanned: () => false, recordEvent() {}, onBan: () => () => {} }

/** The refusal of a banned address. */
export const BANNED: Refusal = forbidden('Address is banned: see sco_unbanAddress')

/** The bans and counts of one server. */
export interface BanCheck {
  /** Why a request is refused; `undefined` when its caller is not banned. */
  refusal(request: IncomingMessage): Refusal | undefined
  /** Is this caller banned? */
  isBannedAddress(address: string): boolean
  /** Counts a connection whose first request is accepted. */
  countAccepted(address: string): void
  /** Counts a connection by the answer to its first request, once that is sent. */
  countFirstRequest(request: IncomingMessage, response: ServerResponse): void
  /** Counts a connection whose WebSocket upgrade was accepted or refused. */
  countUpgrade(request: IncomingMessage, isAccepted: boolean): void
  /** Counts a connection that failed before a complete request. */
  countClientError(socket: Duplex, event: 'invalidMessages' | 'timeoutMessages'): void
  /** Is the peer of this connection itself banned? */
  isBanned(socket: Duplex): boolean
}

const socketAddress = (socket: Duplex): string =>
  plainAddress('remoteAddress' in socket ? String(socket.remoteAddress ?? '') : '')

/** Makes the check. */
export function createBanCheck(scoring: PeerScoring, remoteAddressOf: RemoteAddressOf): BanCheck {
  const countHandshake = (address: string, isAccepted: boolean) =>
    scoring.recordEvent(address, isAccepted ? 'successfulHandshakes' : 'failedHandshakes')
  return {
    refusal: (request) => (scoring.isBanned(remoteAddressOf(request)) ? BANNED : undefined),
    isBannedAddress: (address) => scoring.isBanned(address),
    countAccepted: (address) => countHandshake(address, true),
    countFirstRequest(request, response) {
      const address = remoteAddressOf(request)
      response.once('finish', () => {
        const { statusCode } = response
        countHandshake(address, statusCode !== 401 && statusCode !== 403)
      })
    },
    countUpgrade: (request, isAccepted) => countHandshake(remoteAddressOf(request), isAccepted),
    countClientError: (socket, event) => scoring.recordEvent(socketAddress(socket), event),
    isBanned: (socket) => scoring.isBanned(socketAddress(socket)),
  }
}
