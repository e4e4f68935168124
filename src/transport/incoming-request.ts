/** What a transport reads from an HTTP request before anything else: its path, its ID and the address of the caller. */
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { createAddressSet, plainAddress } from '../options/addresses.ts'

/** The path of a request target, without query; an absolute target (as a proxy's client sends) loses its origin. */
export function pathOf(url: string | undefined): string {
  if (url === '/') return url
  const target = url?.startsWith('/') === false ? url.replace(/^[a-z]+:\/\/[^/]*/i, '') : (url ?? '')
  const end = target.search(/[?#]/)
  return (end === -1 ? target : target.slice(0, end)) || '/'
}

/** Paths that are pages, whatever the verb; every other path is the JSON-RPC address. */
export const RESERVED_PATHS: ReadonlySet<string> = new Set([
  '/healthz',
  '/readyz',
  '/metrics',
  '/openrpc.json',
])

/** Request IDs that are accepted from a caller: short, and without characters that would break a log line. */
const ACCEPTED_ID = /^[\w.:+/=@-]{1,128}$/

/** Prefix of the IDs of this process, so that those of several nodes differ. */
const ID_PREFIX = randomBytes(6).toString('hex')
let idCount = 0

/** The caller's own `X-Request-Id` if it is acceptable, else a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && ACCEPTED_ID.test(given)
    ? given
    : `${ID_PREFIX}-${(++idCount).toString(36)}`
}

/** Keeps the last value of a function of a text: requests of the same caller follow one another. */
export function withLast<T>(compute: (text: string) => T): (text: string) => T {
  let last: { readonly text: string; readonly value: T } | undefined
  return (text) => {
    if (last?.text !== text) last = { text, value: compute(text) }
    return last.value
  }
}

/** The address of a request's caller, IPv4-mapped ones as IPv4; empty when the socket is already closed. */
export type RemoteAddressOf = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string

/** The address of one entry of `X-Forwarded-For`, which some proxies write with a port; `undefined` when it is none. */
function entryAddress(entry: string): string | undefined {
  const bracketed = /^\[([^\]]+)\](:\d+)?$/.exec(entry)
  const address = plainAddress(bracketed?.[1] ?? entry.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1'))
  return isIP(address) === 0 ? undefined : address
}

/**
 * Makes the function that finds a caller's address. `X-Forwarded-For` counts only when the socket's own peer is in
 * `trustedProxies` (addresses and ranges), and is read from the right: each proxy appends the address of its peer, so
 * the first that is no trusted proxy is the caller, and the entries left of it are unverified. Not by the package
 * `proxy-addr`: it takes an entry with a port, or a malformed one, for the caller's address.
 */
export function createRemoteAddressOf(trustedProxies: readonly string[]): RemoteAddressOf {
  if (trustedProxies.length === 0) {
    const plain = withLast(plainAddress)
    return ({ socket }) => plain(socket.remoteAddress ?? '')
  }
  const isTrusted = createAddressSet(trustedProxies)
  return ({ headers, socket }) => {
    let address = plainAddress(socket.remoteAddress ?? '')
    const header = headers['x-forwarded-for']
    if (header === undefined) return address
    const entries = (typeof header === 'string' ? header : header.join(',')).split(',')
    for (const entry of entries.reverse()) {
      const next = isTrusted(address) ? entryAddress(entry.trim()) : undefined
      if (next === undefined) return address
      address = next
    }
    return address
  }
}
