/** Chaos as the layers see it that it acts in. Types alone: the code is loaded when chaos is set. */
import type { MessageFault } from './decisions.ts'
import type { ChaosPlan } from './plan.ts'
import type { Affected } from './report.ts'

/** Who calls. */
export interface Caller extends Affected {
  /** Has the caller asked to be left alone? */
  readonly isCalm?: boolean | undefined
}

/** A call that is about to run. */
export interface ChaosCall {
  readonly name: string
  readonly params: unknown
  readonly session: Caller
}

/** What happens to a message and its reply. */
export interface Disturbance {
  /** How long the reply is held, milliseconds. */
  readonly latencyMs: number
  readonly fault: MessageFault | undefined
  /** For the header of the reply. */
  readonly notes: string[]
  /** JSON text of an error that answers the message, with its id. */
  errorText(code: number, message: string): string
}

/** Chaos that is set on a node. */
export interface ActiveChaos {
  readonly plan: ChaosPlan
  readonly seed: string
  /** Faults since it was set, by name. */
  readonly counts: ReadonlyMap<string, number>
  /** Is a call of this method disturbed? Methods that control the node never are. */
  touches(method: string, caller: Pick<Caller, 'isCalm'>): boolean
  /** Decides about a message, as text; `undefined` for one that is left alone. */
  message(text: string, caller: Caller): Disturbance | undefined
  /** Runs a call that is disturbed, with its parameters or others, and returns its answer. */
  call(call: ChaosCall, run: (params: unknown) => unknown): Promise<unknown>
  /** Runs a call in this process. Rejects with `rate-limited` or `overloaded` where its message or its reply is lost. */
  inProcess(call: ChaosCall, run: () => Promise<unknown>): Promise<unknown>
  /** How often the next notification is sent to a subscriber. */
  copiesOfNext(caller: Caller): number
  /** The new entries of a filter as its caller gets them. */
  changesOf<T>(entries: readonly T[], caller: Caller): readonly T[]
  /** Gives the node back to its own rules; under automining what waits in the pool is mined, unless the node is closing. */
  close(isClosing?: boolean): Promise<void>
}
