/** The listeners to calls, which are told the duration of each. */
import type { OnCall } from '../options/options.ts'
import { type CallFigures, CallMeter } from './call-meter.ts'
import type { MethodNames } from './method-names.ts'
import type { Session } from './session.ts'

/** The listeners of a dispatcher; calls are timed only while there are any. */
export class CallListeners {
  readonly #listeners = new Set<OnCall>()
  readonly #methods: readonly MethodNames[]
  #meter: CallMeter | undefined

  /** `methods` are counted by name. */
  constructor(methods: readonly MethodNames[], first: OnCall | undefined) {
    this.#methods = methods
    if (first !== undefined) this.#listeners.add(first)
  }

  /** Receives each call from now on; the returned function unsubscribes. */
  listen(listener: OnCall): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Counts calls by method and key, from the first time that it is asked for. */
  meter(): CallMeter {
    if (this.#meter === undefined) {
      this.#meter = new CallMeter(this.#methods)
      this.#listeners.add(this.#meter.count)
    }
    return this.#meter
  }

  /** What the meter has counted. */
  figures(): readonly CallFigures[] {
    return this.meter().figures()
  }

  /** When a call starts, milliseconds from any origin; 0 where there is no listener. */
  start(): number {
    return this.#listeners.size === 0 ? 0 : performance.now()
  }

  /** Reports a call that has ended. `started` is what `start` returned: a listener added since then receives later calls only. */
  report(name: string, started: number, error: unknown, session: Session): void {
    if (started === 0) return
    const milliseconds = performance.now() - started
    for (const listener of this.#listeners) listener(name, milliseconds, error, session)
  }
}
