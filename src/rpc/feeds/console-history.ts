/** The last lines of console.log and failures of calls and transactions, for pages and debuggers that are opened later. */

import type { Hex } from '../../encoding/hex.ts'
import type { CurrentEngine } from '../../engine/engine-holder.ts'
import type { FailedCall } from '../../engine/model.ts'
import type { Session } from '../session.ts'

/** Entries, and characters in all of them. */
const MOST_ENTRIES = 500
const MOST_TEXT = 262_144

/** What one transaction, or one simulated call where `transactionHash` is null, wrote, and why it failed. */
export interface ConsoleEntry {
  readonly transactionHash: Hex | null
  readonly console: readonly string[]
  readonly failure: string | null
  /** Seconds ago. */
  readonly age: number
}

/** What failed last. */
export type LastFailure = { readonly transaction: Hex } | { readonly call: FailedCall }

type Kept = Omit<ConsoleEntry, 'age'> & { readonly at: number; readonly length: number }

/** The console output of one node, from its start. */
export class ConsoleHistory {
  readonly #elapsed: () => number
  readonly #kept: Kept[] = []
  #length = 0
  #failedTransaction: Hex | undefined
  #failure: LastFailure | undefined

  /** `elapsed`: milliseconds from any origin. */
  constructor({ events }: Pick<CurrentEngine, 'events'>, elapsed: () => number) {
    this.#elapsed = elapsed
    events.on('chain', ({ notes = [] }) => {
      for (const [transaction, { console = [], failure }] of notes) {
        this.#add(transaction, console, failure?.reason)
        if (failure === undefined) continue
        this.#failedTransaction = transaction
        this.#failure = { transaction }
      }
    })
    events.on('console', ({ texts, transaction }) => {
      // The output of transactions comes with the change of the chain.
      if (transaction === undefined) this.#add(null, texts)
    })
    events.on('failedCall', (call) => {
      this.#add(null, [], call.error.message)
      this.#failure = { call }
    })
    events.on('replaced', () => {
      this.#failure = this.#failedTransaction = undefined
    })
  }

  /** What failed last on this chain. A caller with a key gets transactions only: calls are those of others. */
  lastFailure({ owner }: Pick<Session, 'owner'>): LastFailure | undefined {
    if (owner === '') return this.#failure
    return this.#failedTransaction && { transaction: this.#failedTransaction }
  }

  /** The entries, the oldest first. A caller with a key gets those of transactions only. */
  entries({ owner }: Pick<Session, 'owner'>): ConsoleEntry[] {
    const now = this.#elapsed()
    return this.#kept
      .filter(({ transactionHash }) => owner === '' || transactionHash !== null)
      .map(({ transactionHash, console, failure, at }) => ({
        transactionHash,
        console,
        failure,
        age: Math.max(0, Math.floor((now - at) / 1000)),
      }))
  }

  #add(transactionHash: Hex | null, console: readonly string[], failure: string | null = null): void {
    const length = console.reduce((sum, text) => sum + text.length, failure?.length ?? 0)
    if (length > MOST_TEXT) return
    this.#kept.push({ transactionHash, console, failure, at: this.#elapsed(), length })
    this.#length += length
    while (this.#kept.length > MOST_ENTRIES || this.#length > MOST_TEXT) {
      this.#length -= this.#kept.shift()?.length ?? 0
    }
  }
}
