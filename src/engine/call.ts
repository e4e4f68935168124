/** The call that commands run for. It can be cancelled until its first command begins. */
import { NodeError } from '../errors.ts'

/** Runs a command that has waited, and gives what it gives. */
export type RunCommand = <T>(job: () => Promise<T>) => Promise<T>

/** Called when a command begins to wait in the queue; what it returns runs the command. */
export type CommandObserver = () => RunCommand

/** What ends a call before it has begun. */
export interface CallLimits {
  /** Time until which a command may wait in the queue, milliseconds since 1970; 0 is no limit. */
  readonly deadline: number
  /** Whether the caller has disconnected. */
  isGone(): boolean
  /** Aborts when the caller disconnects; absent where only `isGone` reports it. */
  readonly signal?: AbortSignal | undefined
  /** Observes its commands; absent where nothing does. */
  readonly observer?: CommandObserver | undefined
}

const NO_LIMITS: CallLimits = { deadline: 0, isGone: () => false }

/** The error of a cancelled call. `done` states what was carried out. */
export function cancelled(done: string): NodeError {
  return new NodeError('cancelled', `The call was cancelled: ${done}.`)
}

function notCarriedOut(): NodeError {
  return new NodeError(
    'limit-exceeded',
    'Execution has got timeout out: the call waited for those before it, and was not carried out.',
  )
}

/** A call of a method, or of a command without one. */
export class Call {
  readonly #limits: CallLimits
  #hasBegun = false

  constructor(limits: CallLimits = NO_LIMITS) {
    this.#limits = limits
  }

  /** Whether the caller no longer waits: a long command then ends at the next point where it can. */
  get isCancelled(): boolean {
    return this.#limits.isGone() || this.#limits.signal?.aborted === true
  }

  /** A command of the call begins to wait; what runs it, where the call is observed. */
  observe(): RunCommand | undefined {
    return this.#limits.observer?.()
  }

  /** Called when a command is about to run. Throws `limit-exceeded` or `cancelled` when the call has ended. */
  begin(): void {
    if (this.#hasBegun) return
    const { deadline } = this.#limits
    if (this.isCancelled) throw cancelled('it was not carried out')
    if (deadline !== 0 && Date.now() >= deadline) throw notCarriedOut()
    this.#hasBegun = true
  }

  /** Calls `end` once if the call ends before it has begun; the returned function stops waiting for that. */
  wait(end: (error: NodeError) => void): () => void {
    const { deadline, signal } = this.#limits
    if (this.#hasBegun || (deadline === 0 && signal === undefined)) return () => {}
    let timer: NodeJS.Timeout | undefined
    const stop = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    const endWith = (error: NodeError) => {
      stop()
      end(error)
    }
    const onAbort = () => endWith(cancelled('it was not carried out'))
    if (deadline !== 0) timer = setTimeout(() => endWith(notCarriedOut()), Math.max(0, deadline - Date.now()))
    signal?.addEventListener('abort', onAbort)
    return stop
  }
}
