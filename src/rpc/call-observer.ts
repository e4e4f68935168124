/** What observes calls while they run (`telemetry/`); absent unless it is asked for. */
import type { CommandObserver } from '../engine/call.ts'
import type { Session } from './session.ts'

/** Runs pieces of work, and gives what they give. */
export interface CallObserver {
  /** Runs the answer to a message of a caller. */
  message<T>(session: Session, run: () => T): T
  /** Runs a call of a method. */
  call<T>(name: string, run: () => T): T
  /** Waits for a slot for heavy calls. */
  slot<T>(run: () => Promise<T>): Promise<T>
  /** The header fields by which the work that follows elsewhere is a part of the call (W3C Trace Context). */
  carrier(): Readonly<Record<string, string>>
  /** Observes the commands of a call. */
  readonly command: CommandObserver
}
