/** The bundles of calls that wallets' callers have sent (EIP-5792), so that they can ask for their status. */
import type { Hex } from '../../encoding/hex.ts'

/** Bundles that are kept; the oldest are dropped. */
const MOST_BUNDLES = 1_000

/** A bundle of calls, each of which is one transaction. */
export interface CallBundle {
  readonly id: string
  /** Of the transactions that were sent, in order. */
  readonly hashes: readonly Hex[]
  /** Calls of the bundle; more than hashes where one was refused, which ends the bundle. */
  readonly calls: number
}

/** The bundles of all callers of a node; each finds only its own. */
export class CallBundles {
  readonly #bundles = new Map<string, CallBundle>()
  /** Keys of bundles whose calls are being sent. */
  readonly #sending = new Set<string>()

  /** `owner` is the name of the caller's key, empty where no keys are in use. */
  add(owner: string, bundle: CallBundle): void {
    this.#bundles.set(keyOf(owner, bundle.id), bundle)
    const [oldest] = this.#bundles.keys()
    if (this.#bundles.size > MOST_BUNDLES && oldest !== undefined) this.#bundles.delete(oldest)
  }

  /** Keeps an id for a bundle that is about to be sent, until `release`; false where the owner has such a bundle. */
  reserve(owner: string, id: string): boolean {
    const key = keyOf(owner, id)
    if (this.#bundles.has(key) || this.#sending.has(key)) return false
    this.#sending.add(key)
    return true
  }

  release(owner: string, id: string): void {
    this.#sending.delete(keyOf(owner, id))
  }

  find(owner: string, id: string): CallBundle | undefined {
    return this.#bundles.get(keyOf(owner, id))
  }
}

function keyOf(owner: string, id: string): string {
  return JSON.stringify([owner, id])
}
