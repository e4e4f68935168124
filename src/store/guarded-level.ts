/**
 * A level whose damage callers learn of: errors of LevelDB get a name, and the tables that the start did not check are
 * checked in the background, since LevelDB does not look at their checksums when it reads. Keys of damaged blocks are refused
 * from then on: an entry there may look absent, or have another value.
 */
import { performance } from 'node:perf_hooks'
import { UnreadableError } from './damage.ts'
import type { Level } from './level-entries.ts'
import { reported } from './level-files.ts'
import type { Operation } from './table.ts'
import type { DamagedBlock } from './table-blocks.ts'
import type { Timer, Timers } from './timers.ts'

/** The check begins this long after the start, milliseconds. */
const FIRST_PAUSE_MS = 50
/** A piece is followed by a pause of this many times its own length: the check takes at most 5% of the time. */
const PAUSE_FACTOR = 19

/** What a guard is made of. */
export interface GuardOptions {
  readonly dataDir: string
  readonly timers: Timers
  /** Checks a piece of the tables with each step. */
  readonly check: Iterator<readonly DamagedBlock[], unknown>
  /** Is given each damaged block in a phrase. */
  readonly onDamage: (problem: string) => void
}

/** A level that is read by the node. */
export class GuardedLevel implements Level {
  readonly #level: Level
  readonly #options: GuardOptions
  readonly #damaged: DamagedBlock[] = []
  #pause: Timer | undefined
  #isClosed = false

  constructor(level: Level, options: GuardOptions) {
    this.#level = level
    this.#options = options
    this.#continueAfter(FIRST_PAUSE_MS)
  }

  get isOpen(): boolean {
    return this.#level.isOpen
  }

  /** The damaged blocks that were found so far, in phrases. */
  get damage(): readonly string[] {
    return this.#damaged.map(({ problem }) => problem)
  }

  getSync(key: Uint8Array): Uint8Array | undefined {
    this.#refuse(key, key)
    try {
      return this.#level.getSync(key)
    } catch (error) {
      throw this.#unreadable(reported(error))
    }
  }

  batch(operations: readonly Operation[], options: { readonly sync: boolean }): Promise<void> {
    return this.#level.batch(operations, options)
  }

  /** Refuses before it reads: LevelDB reads blocks ahead, and ends the process at some damaged keys. */
  async *iterator(
    range: Parameters<Level['iterator']>[0],
  ): AsyncGenerator<[Uint8Array, Uint8Array], void, undefined> {
    this.#refuse(range.gte, range.lt)
    try {
      yield* this.#level.iterator(range)
    } catch (error) {
      throw this.#unreadable(reported(error))
    }
    this.#refuse(range.gte, range.lt)
  }

  reopen(): Promise<void> {
    return this.#level.reopen()
  }

  close(): Promise<void> {
    this.#isClosed = true
    this.#pause?.cancel()
    return this.#level.close()
  }

  #unreadable(problem: string): UnreadableError {
    return new UnreadableError(problem, this.#options.dataDir)
  }

  /** Throws where keys from one to another, both included, may be in a damaged block. */
  #refuse(from: Uint8Array, to: Uint8Array): void {
    if (this.#damaged.length === 0) return
    const hit = this.#damaged.find(
      ({ keys }) =>
        Buffer.compare(keys.from, to) <= 0 && (keys.to === undefined || Buffer.compare(from, keys.to) <= 0),
    )
    if (hit !== undefined) throw this.#unreadable(hit.problem)
  }

  #continueAfter(milliseconds: number): void {
    this.#pause = this.#options.timers.after(milliseconds, () => this.#checkPiece())
  }

  #checkPiece(): void {
    if (this.#isClosed) return
    const { check, onDamage } = this.#options
    const start = performance.now()
    try {
      const { done, value } = check.next()
      if (done === true) return
      for (const block of value as readonly DamagedBlock[]) {
        this.#damaged.push(block)
        onDamage(block.problem)
      }
    } catch (error) {
      onDamage(`the tables of LevelDB cannot be checked (${error instanceof Error ? error.message : error})`)
      return
    }
    this.#continueAfter(PAUSE_FACTOR * (performance.now() - start))
  }
}
