/** Who is at the other end: the socket's address, or behind proxies that we were told of, the one they vouch for. */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { createAddressSet, plainAddress } from '../options/addresses.ts'

/** Gives the address of a request's caller, IPv4 without IPv6 dress; empty when the socket is already gone. */
export type RemoteAddressOf = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string

/** The address of one entry of `X-Forwarded-For`, which some proxies write with a port; `undefined` when it is none. */
function entryAddress(entry: string): string | undefined {
  const bracketed = /^\[([^\]]+)\](:\d+)?$/.exec(entry)
  const address = plainAddress(bracketed?.[1] ?? entry.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1'))
  return isIP(address) === 0 ? undefined : address
}

/**
 * Makes the reader. `X-Forwarded-For` counts only when the socket's own peer is in `trustedProxies` (addresses and
 * ranges), and is read from the right: each proxy appends whom it heard, so the first that is no trusted proxy is the
 * caller, and what stands left of it is the caller's own word.
 */
export function createRemoteAddressOf(trustedProxies: readonly string[]): RemoteAddressOf {
  if (trustedProxies.length === 0) return ({ socket }) => plainAddress(socket.remoteAddress ?? '')
  const isTrusted = createAddressSet(trustedProxies)
  return ({ headers, socket }) => {
    let address = plainAddress(socket.remoteAddress ?? '')
    const header = headers['x-forwarded-for']
    if (header === undefined) return address
    const entries = (typeof header === 'string' ? header : header.join(',')).split(',')
    while (isTrusted(address) && entries.length > 0) {
      const next = entryAddress((entries.pop() as string).trim())
      if (next === undefined) return address
      address = next
    }
    return address
  }
}
