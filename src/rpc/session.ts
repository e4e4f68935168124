/** Who calls: what they may call, how to reach them, and when they are gone. */
import type { NodeError } from '../errors.ts'
import type { CallOrigin } from '../options/options.ts'
import type { MethodNames } from './method-names.ts'
import type { Notification } from './notification.ts'

/** What a caller may do beyond calling a method: replace state in a simulation. */
export type Entitlement = 'stateOverride'

/** One caller. A door makes it: in process one for all, HTTP one a request, WebSocket one a socket. */
export interface Session extends CallOrigin {
  /** Whose filters and limits it shares: the name of a key; empty where no keys are in use, so that all callers are one. */
  readonly owner: string
  readonly entitlements: ReadonlySet<Entitlement>
  /** May this caller use the method? */
  allows(method: MethodNames): boolean
  /** Takes the price of a message, in calls, before any of them runs; why not, when it is refused. Absent: all is free. */
  charge?(calls: number): Promise<NodeError | undefined>
  /** Hears that a message is refused as a whole since the node is busy; absent where the reply alone says it. */
  shed?(retrySeconds: number): void
  /** Sends a message that answers no request; absent where the door cannot. */
  notify?(notification: Notification): void
  /** Registers what to do when the caller leaves; absent where nothing can outlive a request. */
  onClose?(listener: () => void): void
}

/** Everything that callers can be entitled to: what they are where no keys are in use. */
export const ALL_ENTITLEMENTS: ReadonlySet<Entitlement> = new Set(['stateOverride'])

/** A caller that may use everything and cannot be notified. */
export function openSession(label: string): Session {
  return { label, owner: '', entitlements: ALL_ENTITLEMENTS, allows: () => true }
}
