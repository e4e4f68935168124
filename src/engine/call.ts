/** The call that commands run for: until its first one begins it can end without effect, and never after. */
import { NodeError } from '../errors.ts'

/** When and why a call ends before it has begun. */
export interface CallLimits {
  /** Until when a command may wait in the queue, milliseconds since 1970; 0 is no limit. */
  readonly deadline: number
  /** Is nobody there any more who could receive the answer? */
  isGone(): boolean
  /** Aborts when the caller wants no answer any more; absent where only `isGone` reports. */
  readonly signal?: AbortSignal | undefined
}

const NO_LIMITS: CallLimits = { deadline: 0, isGone: () => false }

/** The refusal of a call that a command was cancelled for. `done` states how far it came. */
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

  /** Does the caller wait no longer? A long command ends then where it may. */
  get isCancelled(): boolean {
    return this.#limits.isGone() || this.#limits.signal?.aborted === true
  }

  /** Called when a command is about to run. Throws `limit-exceeded` or `cancelled` where the call has ended before. */
  begin(): void {
    if (this.#hasBegun) return
    const { deadline } = this.#limits
    if (this.isCancelled) throw cancelled('it was not carried out')
    if (deadline !== 0 && Date.now() >= deadline) throw notCarriedOut()
    this.#hasBegun = true
  }

  /** Calls back once if the call ends before it has begun; the returned function ends the wait. */
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
