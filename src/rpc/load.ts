/** Limits of concurrent work: calls beyond them are refused at once and do not time out. */
import { NodeError } from '../errors.ts'
import type { CallOrigin } from '../options/options.ts'
import type { RpcOptions } from './rpc-options.ts'

/** Seconds after which a refused caller may try again; most calls end sooner. */
export const RETRY_SECONDS = 1

/** What is in progress, and how many messages were refused since the start. */
export interface LoadFigures {
  /** Messages of all transports that are not yet answered. */
  readonly pending: number
  readonly heavyRunning: number
  /** Heavy calls that wait for a place, or are paused. */
  readonly heavyWaiting: number
  readonly shed: number
}

/** A heavy call's place. */
export interface Place {
  /** Resolves when the call may start; absent when it may at once. */
  readonly ready?: Promise<void>
  /**
   * Gives the place up while the call waits for something outside of the node; the returned function takes one again, at
   * once and even beyond the limit, since others may wait for what the call computes. Until then it counts as waiting;
   * where no more may wait, it keeps its place.
   */
  pause(): () => void
  /** Releases the place, whether the call ran or was given up; to be called once. */
  leave(): void
}

type Limits = Pick<RpcOptions, 'maxPending' | 'maxHeavy' | 'maxHeavyWaiting'>

interface Caller {
  running: number
  paused: number
  readonly waiting: Set<() => void>
}

/** The most that one caller gets: half. */
const shareOf = (whole: number): number => Math.ceil(whole / 2)

/** Callers are distinguished by their key, or without keys by their address. */
const callerOf = ({ owner, remote }: CallOrigin): string => owner || (remote ?? '')

/** Counts messages and heavy calls, and refuses those beyond the limits. */
export class Load {
  readonly #limits: Limits
  /** Callers with heavy calls, round robin: one that got a place moves to the end. */
  readonly #callers = new Map<string, Caller>()
  #pending = 0
  #running = 0
  #waiting = 0
  #shed = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** Accepts a message, or returns why it is refused. Each one that was accepted must `leave`. */
  enter(): NodeError | undefined {
    if (this.#pending >= this.#limits.maxPending) return this.shed()
    this.#pending++
    return undefined
  }

  /** An accepted message is answered. */
  leave(): void {
    this.#pending--
  }

  /** Counts a message that is refused, here or by a transport, and returns the error. */
  shed(): NodeError {
    this.#shed++
    return new NodeError('overloaded', `The node is busy, try again in ${RETRY_SECONDS} s`)
  }

  /**
   * Gives a heavy call its place. One caller gets at most half of the places to run and half of those to wait, and
   * callers are served round robin. Throws `overloaded` when the queue is full.
   */
  takePlace(origin: CallOrigin): Place {
    const { maxHeavy } = this.#limits
    const name = callerOf(origin)
    const caller = this.#callers.get(name) ?? { running: 0, paused: 0, waiting: new Set() }
    if (this.#running < maxHeavy && caller.running < shareOf(maxHeavy)) {
      this.#callers.set(name, caller)
      this.#start(caller)
      return this.#startedPlace(name, caller)
    }
    if (!this.#mayWait(caller)) throw this.shed()
    this.#callers.set(name, caller)
    let start = () => {}
    const ready = new Promise<void>((resolve) => {
      start = resolve
    })
    caller.waiting.add(start)
    this.#waiting++
    const started = this.#startedPlace(name, caller)
    return {
      ready,
      pause: started.pause,
      leave: () => {
        if (!caller.waiting.delete(start)) return started.leave()
        this.#waiting--
        this.#forgetIdle(name, caller)
      },
    }
  }

  /** Would the next message, or the next heavy call of a new caller, be refused? */
  get isFull(): boolean {
    const { maxPending, maxHeavyWaiting, maxHeavy } = this.#limits
    const heavyFull = this.#running >= maxHeavy && this.#waiting >= maxHeavyWaiting
    return this.#pending >= maxPending || heavyFull
  }

  get figures(): LoadFigures {
    return {
      pending: this.#pending,
      heavyRunning: this.#running,
      heavyWaiting: this.#waiting,
      shed: this.#shed,
    }
  }

  /** The place of a call that has started. */
  #startedPlace(name: string, caller: Caller): Place {
    let state: 'running' | 'paused' | 'left' = 'running'
    const resume = () => {
      if (state !== 'paused') return
      state = 'running'
      caller.paused--
      this.#waiting--
      this.#start(caller)
    }
    return {
      pause: () => {
        // Work of a call that was given up may still be waiting, and a call may wait for several things.
        if (state !== 'running' || !this.#mayWait(caller)) return () => {}
        state = 'paused'
        caller.paused++
        this.#waiting++
        this.#end(name, caller)
        return resume
      },
      leave: () => {
        resume()
        state = 'left'
        this.#end(name, caller)
      },
    }
  }

  #mayWait({ waiting, paused }: Caller): boolean {
    const { maxHeavyWaiting } = this.#limits
    return this.#waiting < maxHeavyWaiting && waiting.size + paused < shareOf(maxHeavyWaiting)
  }

  #start(caller: Caller): void {
    caller.running++
    this.#running++
  }

  #end(name: string, ended: Caller): void {
    ended.running--
    this.#running--
    this.#forgetIdle(name, ended)
    if (this.#waiting === 0 || this.#running >= this.#limits.maxHeavy) return
    for (const [next, caller] of this.#callers) {
      const [start] = caller.waiting
      if (start === undefined || caller.running >= shareOf(this.#limits.maxHeavy)) continue
      caller.waiting.delete(start)
      this.#waiting--
      this.#callers.delete(next)
      this.#callers.set(next, caller)
      this.#start(caller)
      start()
      return
    }
  }

  #forgetIdle(name: string, { running, paused, waiting }: Caller): void {
    if (running === 0 && paused === 0 && waiting.size === 0) this.#callers.delete(name)
  }
}
