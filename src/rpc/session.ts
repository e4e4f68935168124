/** A caller: what it may call, how to notify it, and when it disconnects. */
import type { NodeError } from '../errors.ts'
import type { CallOrigin } from '../options/options.ts'
import type { MethodNames } from './method-names.ts'
import type { Notification } from './notification.ts'

/** What a caller may do beyond calling a method: replace state in a simulation, name the URL that a fork asks. */
export type Entitlement = 'stateOverride' | 'upstreamUrl'

/** One caller. A transport makes it: in process one for all, HTTP one a request, WebSocket one a socket. */
export interface Session extends CallOrigin {
  /** The name of its key, whose filters and limits it shares; empty where no keys are in use, so that all callers are one. */
  readonly owner: string
  readonly entitlements: ReadonlySet<Entitlement>
  /** The name that the client gives itself (`User-Agent`); absent in process. */
  readonly userAgent?: string | undefined
  /** Header fields of the request, or of the one that opened its connection, which name the trace that it belongs to; absent in process. */
  readonly carrier?: Readonly<Record<string, unknown>> | undefined
  /** Do errors of failed code have its stack trace, whatever the setting for replies is? */
  readonly explains?: true | undefined
  /** Has the caller asked that chaos leaves its calls alone? */
  readonly isCalm?: boolean | undefined
  /** Receives what chaos did to a call of this message; absent where replies have no header for it. */
  noteChaos?(what: string): void
  /** May this caller use the method? */
  allows(method: MethodNames): boolean
  /** Charges a message, in calls, before any of them runs; returns the error when it is refused. Absent: nothing is charged. */
  charge?(calls: number): Promise<NodeError | undefined>
  /** Called when a message is refused as a whole since the node is busy; absent where the reply is enough. */
  shed?(retrySeconds: number): void
  /** Has the caller disconnected, so that no one receives the answer? Absent where that cannot happen. */
  isGone?(): boolean
  /** Sends a message that answers no request; absent where the transport cannot. */
  notify?(notification: Notification): void
  /** Registers a listener for the end of the connection; absent where nothing can outlive a request. */
  onClose?(listener: () => void): void
}

/** Everything that callers can be entitled to: what those on this machine are where no keys are in use. */
export const ALL_ENTITLEMENTS: ReadonlySet<Entitlement> = new Set(['stateOverride', 'upstreamUrl'])
/** What callers may do where others than those on this machine can be among them. */
export const REMOTE_ENTITLEMENTS: ReadonlySet<Entitlement> = new Set(['stateOverride'])

/** A caller that may use everything and cannot be notified. */
export function openSession(label: string): Session {
  return { label, owner: '', entitlements: ALL_ENTITLEMENTS, allows: () => true }
}
