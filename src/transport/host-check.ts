/** The checks of Host (against DNS rebinding) and Origin (against foreign web pages). */
import { isIP } from 'node:net'
import { isLoopback } from '../options/addresses.ts'
import { withLast } from './incoming-request.ts'

/** The name by which the node was called, and the web page that called it. */
export interface CallerHeaders {
  readonly host?: string | undefined
  readonly origin?: string | undefined
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

/** What callers are checked against. */
export interface HostCheckOptions {
  readonly bindAddress: string
  readonly hosts: readonly string[]
  readonly cors: readonly string[]
}

/**
 * Accepts or refuses callers by their headers. An IP literal cannot be rebound, so it passes, as do `localhost` and the
 * listed names. Bound beyond loopback without a list, any name passes, since only the operator knows them. A missing Host
 * header passes as on the reference node (docs/internals/rpc-reference.md#11-http): browsers always send one.
 */
export class HostCheck {
  readonly #allowsAnyName: boolean
  readonly #allowsAnyOrigin: boolean
  readonly #allowsLocalPages: boolean
  readonly #origins: ReadonlySet<string>
  /** Is a Host header one of this server's names? */
  readonly #isOwnHost: (host: string) => boolean

  constructor({ bindAddress, hosts, cors }: HostCheckOptions) {
    const names = new Set(hosts.map((name) => name.toLowerCase()))
    const isOwnName = (name: string) => name === 'localhost' || isIP(name) !== 0 || names.has(name)
    this.#isOwnHost = withLast((host) => isOwnName(nameOf(host)))
    this.#allowsAnyName = names.has('*') || (names.size === 0 && !isLoopback(bindAddress))
    this.#origins = new Set(cors.map((origin) => origin.toLowerCase()))
    this.#allowsAnyOrigin = this.#origins.has('*')
    this.#allowsLocalPages = this.#origins.has('local')
  }

  /** Why the caller is refused; `undefined` when it is accepted. */
  refusal({ host, origin }: CallerHeaders): string | undefined {
    if (host !== undefined && host !== '' && !this.#allowsAnyName && !this.#isOwnHost(host)) {
      return 'Host not allowed: see the setting hosts'
    }
    if (origin === undefined || this.#allowsAnyOrigin) return undefined
    const lower = origin.toLowerCase()
    return this.#isListed(lower) || this.#isSameOrigin(lower, host)
      ? undefined
      : 'Origin not allowed: see the setting cors'
  }

  /** Value of `Access-Control-Allow-Origin` for an accepted caller; `undefined` when it needs none. */
  corsOrigin({ origin }: CallerHeaders): string | undefined {
    if (origin === undefined) return undefined
    if (this.#allowsAnyOrigin) return '*'
    return this.#isListed(origin.toLowerCase()) ? origin : undefined
  }

  #isListed(origin: string): boolean {
    return this.#origins.has(origin) || (this.#allowsLocalPages && LOCAL_PAGE.test(origin))
  }

  /**
   * Clients other than browsers sometimes send the server's own address as their origin. The scheme is ignored: in
   * front of a proxy that terminates TLS the client uses another one than this server.
   */
  #isSameOrigin(origin: string, host: string | undefined): boolean {
    if (host === undefined || !this.#isOwnHost(host)) return false
    return OWN_SCHEMES.some((scheme) => origin === `${scheme}://${host.toLowerCase()}`)
  }
}
