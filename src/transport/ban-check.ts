/** Who may come in by address, and how each knock went, in the node's ledger of callers. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { plainAddress } from '../options/addresses.ts'
import { forbidden, type Refusal } from './refusal.ts'
import type { RemoteAddressOf } from './remote-address.ts'

/** The ledger as doors see it. Addresses are IPv4 without IPv6 dress. */
export interface CallerLedger {
  isBanned(address: string): boolean
  note(
    address: string,
    event: 'successfulHandshakes' | 'failedHandshakes' | 'invalidMessages' | 'timeoutMessages',
  ): void
  /** Hears of new bans; the returned function stops it. */
  onBan(listener: () => void): () => void
}

/** What a caller from a banned address is told. */
export const BANNED: Refusal = forbidden('Address is banned: see sco_unbanAddress')

/** Keeps the doors of one server. */
export interface BanCheck {
  /** Why the caller of a request is turned away; `undefined` when it may come in. */
  refusal(request: IncomingMessage): Refusal | undefined
  /** Notes how the first request of a connection is answered, once it is. */
  watch(request: IncomingMessage, response: ServerResponse): void
  /** Notes a connection that went on to be a WebSocket, or did not. */
  accepted(request: IncomingMessage, isAdmitted: boolean): void
  /** Notes a connection that never came to a request. */
  stumbled(socket: Duplex, event: 'invalidMessages' | 'timeoutMessages'): void
  /** Is the other end of this connection itself banned? */
  isBanned(socket: Duplex): boolean
}

const socketAddress = (socket: Duplex): string =>
  plainAddress('remoteAddress' in socket ? String(socket.remoteAddress ?? '') : '')

/** Makes the keeper. */
export function createBanCheck(ledger: CallerLedger, remoteAddressOf: RemoteAddressOf): BanCheck {
  const accepted = (address: string, isAdmitted: boolean) =>
    ledger.note(address, isAdmitted ? 'successfulHandshakes' : 'failedHandshakes')
  return {
    refusal: (request) => (ledger.isBanned(remoteAddressOf(request)) ? BANNED : undefined),
    watch(request, response) {
      const address = remoteAddressOf(request)
      response.once('finish', () => {
        const { statusCode } = response
        accepted(address, statusCode !== 401 && statusCode !== 403)
      })
    },
    accepted: (request, isAdmitted) => accepted(remoteAddressOf(request), isAdmitted),
    stumbled: (socket, event) => ledger.note(socketAddress(socket), event),
    isBanned: (socket) => ledger.isBanned(socketAddress(socket)),
  }
}

/** The ledger of what has none. */
export const NO_LEDGER: CallerLedger = { isBanned: () => false, note() {}, onBan: () => () => {} }
