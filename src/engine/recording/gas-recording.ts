/** What is recorded of the gas of transactions: their runs until a block holds them, and then the sums. */
import { LRUCache } from 'lru-cache'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Tracer } from '../../evm/tracing/tracer.ts'
import { GasProfile } from '../../gas/gas-profile.ts'
import { type GasMessage, GasRecorder } from '../../gas/gas-recorder.ts'

/** Blocks that are known to be counted. */
const MOST_BLOCKS = 65_536

/** The gas of the chains of a node. */
export class GasRecording {
  readonly profile = new GasProfile()
  readonly #runs = new WeakMap<Transaction, GasRecorder>()
  readonly #blocks = new LRUCache<Hex, true>({ max: MOST_BLOCKS })
  #settled: Promise<void> = Promise.resolve()

  /** Resolves when all that was added is in the profile. */
  get settled(): Promise<void> {
    return this.#settled
  }

  /** Records a run of a transaction; the last one before its block counts. */
  tracer(transaction: Transaction): Tracer {
    const recorder = new GasRecorder()
    this.#runs.set(transaction, recorder)
    return recorder
  }

  /** The last run of a transaction, which is forgotten. */
  take(transaction: Transaction): GasMessage | undefined {
    const run = this.#runs.get(transaction)
    this.#runs.delete(transaction)
    return run?.root
  }

  /** Is it the first time that this block is counted? A reorganisation may bring it back. */
  isNew(hash: Hex): boolean {
    if (this.#blocks.has(hash)) return false
    this.#blocks.set(hash, true)
    return true
  }

  /** Adds to the profile, after what was added before. */
  add(work: () => Promise<void>): void {
    this.#settled = this.#settled.then(work)
  }
}
