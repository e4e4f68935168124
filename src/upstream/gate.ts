/** Runs a limited number of tasks at once. Own code of 20 lines: `p-queue` 8 would add three packages of 8 kB. */
export class Gate {
  readonly #width: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(width: number) {
    this.#width = width
  }

  /** Runs a task, in the order of arrival; settles as it does. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#width) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running++
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}
