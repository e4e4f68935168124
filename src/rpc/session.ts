/** Who calls: what they may call, how to reach them, and when they are gone. */

/** One caller. A door makes it: in process one for all, HTTP one a request, WebSocket one a socket. */
export interface Session {
  /** For the log. */
  readonly label: string
  /** Whose filters and limits it shares: the name of a key; empty where no keys are in use, so that all callers are one. */
  readonly owner: string
  /** May this caller use the method of this name (its own; aliases are not asked about)? */
  allows(method: string): boolean
  /** Sends a message that answers no request; absent where the door cannot. */
  notify?(message: unknown): void
  /** Registers what to do when the caller leaves; absent where nothing can outlive a request. */
  onClose?(listener: () => void): void
}

/** A caller that may use everything and cannot be notified. */
export function openSession(label: string): Session {
  return { label, owner: '', allows: () => true }
}
