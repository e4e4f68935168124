/** The checks of Host (against DNS rebinding) and Origin (against foreign web pages). */
import { isIP } from 'node:net'
import { isLoopback } from '../options/addresses.ts'
import { withLast } from './incoming-request.ts'

/** The name by which the node was called, and the web page that called it. */
export interface CallerHeaders {
  readonly host?: string | undefined
  readonly origin?: string | undefined
}

/** Accepts or refuses callers by their headers. */
export interface HostCheck {
  /** Why the caller is refused; `undefined` when it is accepted. */
  refusal(headers: CallerHeaders): string | undefined
  /** Value of `Access-Control-Allow-Origin` for an accepted caller; `undefined` when it needs none. */
  corsOrigin(headers: CallerHeaders): string | undefined
}

/** Schemes under which a client may name this server. */
const OWN_SCHEMES = ['http', 'https', 'ws', 'wss']

/** The origin of a page that this machine serves, in lower case. */
const LOCAL_PAGE = /^https?:\/\/(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?$/

/** The name part of a Host header: lower case, without port and brackets. */
function nameOf(host: string): string {
  const name = /^\[([^\]]*)\](:\d*)?$/.exec(host)?.[1] ?? host.replace(/:\d*$/, '')
  return name.toLowerCase()
}

/**
 * Makes the check for a server. An IP literal cannot be rebound, so it passes, as do `localhost` and the listed names.
 * Bound beyond loopback without a list, any name passes, since only the operator knows them.
 * A missing Host header passes as on the reference node (docs/internals/rpc-reference.md#11-http): browsers always send one.
 */
export function createHostCheck(options: {
  readonly bindAddress: string
  readonly hosts: readonly string[]
  readonly cors: readonly string[]
}): HostCheck {
  const names = new Set(options.hosts.map((name) => name.toLowerCase()))
  const anyName = names.has('*') || (names.size === 0 && !isLoopback(options.bindAddress))
  const origins = new Set(options.cors.map((origin) => origin.toLowerCase()))
  const anyOrigin = origins.has('*')
  const localPages = origins.has('local')
  const isListed = (origin: string): boolean => origins.has(origin) || (localPages && LOCAL_PAGE.test(origin))

  const isOwnName = (name: string): boolean => name === 'localhost' || isIP(name) !== 0 || names.has(name)
  const isOwnHost = withLast((host) => isOwnName(nameOf(host)))

  /**
   * Clients other than browsers sometimes send the server's own address as their origin. The scheme is ignored: in
   * front of a proxy that terminates TLS the client uses another one than this server.
   */
  function isSameOrigin(origin: string, host: string | undefined): boolean {
    if (host === undefined || !isOwnHost(host)) return false
    return OWN_SCHEMES.some((scheme) => origin === `${scheme}://${host.toLowerCase()}`)
  }

  return {
    refusal({ host, origin }) {
      if (host !== undefined && host !== '' && !anyName && !isOwnHost(host)) {
        return 'Host not allowed: see the setting hosts'
      }
      if (origin === undefined || anyOrigin) return undefined
      const lower = origin.toLowerCase()
      return isListed(lower) || isSameOrigin(lower, host)
        ? undefined
        : 'Origin not allowed: see the setting cors'
    },
    corsOrigin({ origin }) {
      if (origin === undefined) return undefined
      if (anyOrigin) return '*'
      return isListed(origin.toLowerCase()) ? origin : undefined
    },
  }
}
