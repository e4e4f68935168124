/** Records the events that a listener receives, in order, and waits for them with a deadline. */

/** A record of events. */
export interface EventRecorder<T> {
  /** All events so far, in order. */
  readonly all: readonly T[]
  /** The listener to register. */
  readonly record: (event: T) => void
  /** Resolves to all events once there are this many. Rejects after the deadline, with the events so far in its message. */
  count(count: number): Promise<readonly T[]>
  /** Resolves to all events so far once this many match, 1 unless given. Rejects as `count`. */
  until(matches: (event: T) => boolean, times?: number): Promise<readonly T[]>
}

/** Milliseconds: only a failing test reaches it. */
const DEADLINE_MS = 30_000

/** Makes an empty recorder. */
export function eventRecorder<T>(): EventRecorder<T> {
  const all: T[] = []
  const waiting = new Set<() => void>()

  function wait(isDone: () => boolean): Promise<readonly T[]> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (!isDone()) return
        clearTimeout(deadline)
        waiting.delete(check)
        resolve([...all])
      }
      const deadline = setTimeout(() => {
        waiting.delete(check)
        reject(new Error(`recorded only: ${all.map((event) => String(event)).join(', ') || 'nothing'}`))
      }, DEADLINE_MS)
      waiting.add(check)
      check()
    })
  }

  return {
    all,
    record(event) {
      all.push(event)
      for (const check of [...waiting]) check()
    },
    count: (count) => wait(() => all.length >= count),
    until: (matches, times = 1) => wait(() => all.filter(matches).length >= times),
  }
}
