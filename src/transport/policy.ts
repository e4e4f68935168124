/** Who may call a server, and how much they may send: one object for HTTP, its fast path, WebSockets and IPC. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Entitlement } from '../rpc/session.ts'
import { type BanCheck, createBanCheck, NO_SCORING, type PeerScoring } from './ban-check.ts'
import { type BodyReader, createBodyReader } from './body.ts'
import { ByteBudget } from './byte-budget.ts'
import { CHAOS_HEADER, type RpcExchange } from './exchange.ts'
import { type CallerHeaders, HostCheck } from './host-check.ts'
import { createRemoteAddressOf, type RemoteAddressOf, requestIdOf } from './incoming-request.ts'
import type { Authentication } from './keys/authentication.ts'
import { forbidden, type Refusal, refuse } from './refusal.ts'

/** Names the request in the logs and in its response. */
export const REQUEST_ID_HEADER = 'X-Request-Id'

/** What a policy is made of; the settings are those of the same names. */
export interface PolicyParts {
  readonly bindAddress: string
  readonly hosts: readonly string[]
  readonly cors: readonly string[]
  readonly trustedProxies: readonly string[]
  readonly maxBodyBytes: number
  readonly maxBufferedBytes: number
  readonly transferTimeoutMs: number
  /** Nobody is banned when it is absent. */
  readonly scoring?: PeerScoring | undefined
  /** Absent where no API keys are in use. */
  readonly authentication?: Authentication | undefined
  /** What callers may do where no keys are in use. */
  readonly entitlements: ReadonlySet<Entitlement>
}

/** The policy of one server. */
export class Policy {
  readonly bans: BanCheck
  readonly remoteAddressOf: RemoteAddressOf
  readonly authentication: Authentication | undefined
  readonly entitlements: ReadonlySet<Entitlement>
  /** Of one HTTP body or message, bytes. */
  readonly maxBodyBytes: number
  /** How long a caller may read nothing of a large answer, milliseconds. */
  readonly transferTimeoutMs: number
  /** Of requests and answers of all transports. */
  readonly budget: ByteBudget
  readonly readBody: BodyReader
  readonly #hosts: HostCheck
  readonly #closeListeners = new Set<() => void>()
  #isClosing = false

  constructor(parts: PolicyParts) {
    this.#hosts = new HostCheck(parts)
    this.remoteAddressOf = createRemoteAddressOf(parts.trustedProxies)
    this.bans = createBanCheck(parts.scoring ?? NO_SCORING, this.remoteAddressOf)
    this.authentication = parts.authentication
    this.entitlements = parts.entitlements
    this.maxBodyBytes = parts.maxBodyBytes
    this.transferTimeoutMs = parts.transferTimeoutMs
    this.budget = new ByteBudget(parts.maxBufferedBytes)
    this.readBody = createBodyReader(parts.maxBodyBytes, this.budget)
  }

  /** Does the server close? Each response then ends its connection. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  beginClosing(): void {
    this.#isClosing = true
    for (const listener of [...this.#closeListeners]) listener()
  }

  /** Calls back when the server begins to close; the returned function stops that. */
  onClosing(listener: () => void): () => void {
    this.#closeListeners.add(listener)
    return () => this.#closeListeners.delete(listener)
  }

  /** Takes bytes of a reply from the budget until it is sent; false when the budget is spent. */
  reserve(exchange: Pick<RpcExchange, 'hold'>, bytes: number): boolean {
    if (this.budget.isSpent) return false
    this.budget.take(bytes)
    exchange.hold(this.transferTimeoutMs, () => this.budget.give(bytes))
    return true
  }

  /** Why Host or Origin of a request is refused. */
  hostRefusal(headers: CallerHeaders): Refusal | undefined {
    const reason = this.#hosts.refusal(headers)
    return reason === undefined ? undefined : forbidden(reason)
  }

  /**
   * The CORS fields of the response to an accepted caller; none where it needs none. Not by the package `cors`: the fast
   * path has no response object, and `cors` answers preflights without Allow and without the private-network field.
   */
  corsFields(headers: CallerHeaders): Readonly<Record<string, string>> {
    const origin = this.#hosts.corsOrigin(headers)
    if (origin === undefined) return {}
    return {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': `Retry-After, ${REQUEST_ID_HEADER}, ${CHAOS_HEADER}`,
      ...(origin !== '*' && { Vary: 'Origin' }),
    }
  }

  /**
   * Sets the ID of a request in its response, and the CORS fields; false when the request has a foreign Host or Origin,
   * and has been refused.
   */
  admit({ headers }: IncomingMessage, response: ServerResponse): boolean {
    if (this.#isClosing) response.setHeader('Connection', 'close')
    response.setHeader(REQUEST_ID_HEADER, requestIdOf(headers))
    const refusal = this.hostRefusal(headers)
    if (refusal !== undefined) {
      refuse(response, refusal)
      return false
    }
    for (const [name, value] of Object.entries(this.corsFields(headers))) response.setHeader(name, value)
    return true
  }
}
