/** The engine of a node, which a reset with `forking` replaces. */
import { type Call, cancelled } from './call.ts'
import type { Engine } from './engine.ts'
import { createEmitter, type Emitter } from './events.ts'
import type { EngineEvents } from './model.ts'
import { createSerialQueue } from './serial-queue.ts'

/** The events of a node's engines, and `replaced` when another engine has become the current one. */
export interface NodeEvents extends EngineEvents {
  replaced: undefined
}

/**
 * Access to the current engine. Objects that live longer than a call keep this and no engine, and read `engine` again for
 * each piece of work.
 */
export interface CurrentEngine {
  readonly engine: Engine
  /** Events of the current engine. */
  readonly events: Emitter<NodeEvents>
  /** Runs work on the engine. Until the work has settled, the engine stays open, even when replaced, and its states stay readable. */
  use<T>(work: (engine: Engine) => T): T
}

/** An engine, and the number of pieces of work that use it. */
interface Held {
  readonly engine: Engine
  users: number
}

const FORWARDED: readonly (keyof EngineEvents)[] = ['chain', 'admitted', 'pool', 'console', 'failedCall']

/** Holds the engine of a node. */
export class EngineHolder implements CurrentEngine {
  readonly events: Emitter<NodeEvents>
  #current: Held
  #stopForwarding: () => void
  /** Runs replacements one after another. */
  readonly #replacements = createSerialQueue()
  /** Replaced engines that are still in use. */
  readonly #replaced = new Set<Held>()
  readonly #closings = new Set<Promise<void>>()
  readonly #onError: (error: unknown) => void
  #isClosed = false

  /** Owns the engine from now on. `onError` gets errors of listeners, and of closing a replaced engine. */
  constructor(engine: Engine, onError: (error: unknown) => void) {
    this.#onError = onError
    this.events = createEmitter<NodeEvents>(onError)
    this.#current = { engine: { ...engine, events: this.events }, users: 0 }
    this.#stopForwarding = this.#forward(engine)
  }

  get engine(): Engine {
    return this.#current.engine
  }

  use<T>(work: (engine: Engine) => T): T {
    const held = this.#current
    held.users++
    const leave = () => {
      held.users--
      this.#closeUnused(held)
    }
    let result: T
    try {
      result = work(held.engine)
    } catch (error) {
      leave()
      throw error
    }
    if (!(result instanceof Promise)) {
      leave()
      return result
    }
    const release = held.engine.holdStates()
    const end = () => {
      release?.()
      leave()
    }
    result.then(end, end)
    return result
  }

  /**
   * Replaces the engine by the one that `open` opens, after the commands in its queue. The old engine and its store are
   * closed when no work uses them any more. Throws what `open` throws, and `cancelled`; the engine is then unchanged.
   */
  replace(open: () => Promise<Engine>, call: Call): Promise<void> {
    return this.#replacements.enqueue(async () => {
      const next = await open()
      try {
        await this.engine.retire(() => {
          if (this.#isClosed || call.isCancelled) throw cancelled('it was not carried out')
          this.#put(next)
        })
      } catch (error) {
        await next.close()
        throw error
      }
    }, call)
  }

  #put(next: Engine): void {
    const before = this.#current
    this.#stopForwarding()
    this.#current = { engine: { ...next, events: this.events }, users: 0 }
    this.#stopForwarding = this.#forward(next)
    this.#replaced.add(before)
    this.#closeUnused(before)
    this.events.emit('replaced', undefined)
  }

  #forward({ events }: Engine): () => void {
    const stops = FORWARDED.map((name) => events.on(name, (event) => this.events.emit(name, event)))
    return () => {
      for (const stop of stops) stop()
    }
  }

  #closeUnused(held: Held): void {
    if (held.users > 0 || !this.#replaced.delete(held)) return
    const closing = held.engine
      .close()
      .catch(this.#onError)
      .then(() => void this.#closings.delete(closing))
    this.#closings.add(closing)
  }

  /** Closes the engine, and replaced ones that are still in use. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#replacements.idle()
    const replaced = [...this.#replaced].map(({ engine }) => engine)
    this.#replaced.clear()
    await Promise.all([...[this.engine, ...replaced].map((engine) => engine.close()), ...this.#closings])
  }
}
