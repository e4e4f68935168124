/** The progress of a compiler, which says nothing itself: logged at intervals, with the time left by the runs before it. */
import { timeLeft } from '../engine/progress.ts'
import type { Logger } from '../logger.ts'

/** Milliseconds between two lines of the log. */
const LINE_MS = 5_000

/** What is compiled. */
export interface CompilerWork {
  /** `src/Token.sol:Token`. */
  readonly contract: string
  readonly version: string
  /** Of the input. */
  readonly characters: number
}

/** Logs the runs of a node's compilers, which follow each other. */
export class CompileProgress {
  readonly #logger: Logger
  readonly #lineMs: number
  readonly #now: () => number
  /** Milliseconds for each character of the input in the last run of a version. */
  readonly #paces = new Map<string, number>()

  /** `now` is a clock in milliseconds. */
  constructor(logger: Logger, lineMs = LINE_MS, now: () => number = () => performance.now()) {
    this.#logger = logger
    this.#lineMs = lineMs
    this.#now = now
  }

  /** Runs the compiler, and logs until it has ended. Throws what it throws. */
  async during<T>({ contract, version, characters }: CompilerWork, run: () => Promise<T>): Promise<T> {
    const start = this.#now()
    const elapsed = () => this.#now() - start
    const timer = setInterval(() => {
      const pace = this.#paces.get(version)
      const left = pace === undefined ? '' : timeLeft(elapsed() / (pace * characters), elapsed())
      const parts = [`${Math.round(elapsed() / 1000)} s`, left].filter((text) => text !== '')
      this.#logger.info(`compiling ${contract} by solc ${version}: ${parts.join(', ')}`)
    }, this.#lineMs)
    try {
      const result = await run()
      this.#paces.set(version, elapsed() / characters)
      return result
    } finally {
      clearInterval(timer)
    }
  }
}
