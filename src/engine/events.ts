/** A typed event emitter. */

/** Listeners run in the order of registration; an exception of one is reported and does not stop the others. */
export interface Emitter<Events> {
  /** Registers a listener; the returned function removes it. */
  on<K extends keyof Events>(name: K, listener: (event: Events[K]) => void): () => void
  emit<K extends keyof Events>(name: K, event: Events[K]): void
}

/** Makes an emitter; `onError` gets what a listener threw. */
export function createEmitter<Events>(onError: (error: unknown) => void): Emitter<Events> {
  const listeners = new Map<keyof Events, Set<(event: never) => void>>()
  return {
    on(name, listener) {
      const set = listeners.get(name) ?? new Set()
      listeners.set(name, set)
      set.add(listener as (event: never) => void)
      return () => set.delete(listener as (event: never) => void)
    },
    emit(name, event) {
      for (const listener of [...(listeners.get(name) ?? [])]) {
        try {
          listener(event as never)
        } catch (error) {
          onError(error)
        }
      }
    },
  }
}
