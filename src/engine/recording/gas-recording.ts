/** What is recorded of the gas of transactions: their runs until a block holds them, and then the sums. */
import { LRUCache } from 'lru-cache'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Tracer } from '../../evm/tracing/tracer.ts'
import { GasProfile } from '../../gas/gas-profile.ts'
import { GasRecorder } from '../../gas/gas-recorder.ts'
import { createEventLoopYield } from '../event-loop.ts'

/** Blocks that are known to be counted. */
const MOST_BLOCKS = 65_536
/** Bytes of runs that wait to be added. */
const MOST_WAITING_BYTES = 256 << 20
/** Bytes of a waiting run beside what it recorded. */
const RUN_BYTES = 256

/** The gas of the chains of a node. */
export class GasRecording {
  readonly profile = new GasProfile()
  readonly #runs = new WeakMap<Transaction, GasRecorder>()
  readonly #blocks = new LRUCache<Hex, true>({ max: MOST_BLOCKS })
  /** Runs that are not in the profile yet: sources that explain them may be added until someone asks. */
  #waiting: (() => Promise<void>)[] = []
  #waitingBytes = 0
  #settled: Promise<void> = Promise.resolve()

  /** Records a run of a transaction; the last one before its block counts. */
  tracer(transaction: Transaction): Tracer {
    const recorder = new GasRecorder()
    this.#runs.set(transaction, recorder)
    return recorder
  }

  /** The last run of a transaction, which is forgotten. */
  take(transaction: Transaction): GasRecorder | undefined {
    const run = this.#runs.get(transaction)
    this.#runs.delete(transaction)
    return run
  }

  /** Is it the first time that a block with this hash joins a chain? */
  isNew(hash: Hex): boolean {
    if (this.#blocks.has(hash)) return false
    this.#blocks.set(hash, true)
    return true
  }

  /** Notes work that adds a run of so many bytes to the profile; it is done when there are too many, or by `settle`. */
  add(bytes: number, work: () => Promise<void>): void {
    this.#waiting.push(work)
    this.#waitingBytes += bytes + RUN_BYTES
    // Whoever asks for the profile gets a failure.
    if (this.#waitingBytes > MOST_WAITING_BYTES) this.settle().catch(() => {})
  }

  /** Resolves when all that was added is in the profile. */
  settle(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    const yieldIfDue = createEventLoopYield('query')
    this.#settled = this.#settled.then(async () => {
      for (const work of waiting) {
        await yieldIfDue()
        await work()
      }
    })
    return this.#settled
  }
}
