/** What a listener hears, written down in order, and waited for with a deadline. */

/** A record of what was heard. */
export interface Heard<T> {
  /** All of it so far, in order. */
  readonly all: readonly T[]
  /** Hand this to whatever calls back. */
  readonly hear: (item: T) => void
  /** Settles when so much has been heard; all of it. Rejects after the deadline, and tells what there was. */
  count(count: number): Promise<readonly T[]>
  /** Settles when this has been heard so often, once unless told otherwise; all until then. Rejects as `count`. */
  until(wanted: (item: T) => boolean, times?: number): Promise<readonly T[]>
}

/** Milliseconds: only a failing test comes to its end. */
const DEADLINE_MS = 30_000

/** Makes an empty record. */
export function heard<T>(): Heard<T> {
  const all: T[] = []
  const waiting = new Set<() => void>()

  function wait(isDone: () => boolean): Promise<readonly T[]> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!isDone()) return
        clearTimeout(deadline)
        waiting.delete(look)
        resolve([...all])
      }
      const deadline = setTimeout(() => {
        waiting.delete(look)
        reject(new Error(`heard in vain: ${all.map((item) => String(item)).join(', ') || 'nothing'}`))
      }, DEADLINE_MS)
      waiting.add(look)
      look()
    })
  }

  return {
    all,
    hear(item) {
      all.push(item)
      for (const look of [...waiting]) look()
    },
    count: (count) => wait(() => all.length >= count),
    until: (wanted, times = 1) => wait(() => all.filter(wanted).length >= times),
  }
}
