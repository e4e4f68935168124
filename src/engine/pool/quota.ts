/**
 * The account quota of the reference node: each sender earns virtual gas over time and spends it by sending
 * (docs/internals/protocol.md#45-pool-admission).
 */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'

/** What the virtual gas of a transaction depends on, apart from the transaction. */
export interface QuotaContext {
  /** Of the best block, gas. */
  readonly blockGasLimit: bigint
  /** The sender's after the best block. */
  readonly accountNonce: bigint
  /** Gas price of the transaction that this one replaces, wei per gas. */
  readonly replacedPrice?: bigint | undefined
}

/** The quota of one sender. */
export interface Quota {
  /** Virtual gas. */
  available: number
  /** When it was last updated, Unix seconds. */
  since: number
}

/** Virtual gas per second, as a fraction of the block gas limit. */
const EARNED_PER_SECOND = 0.9
/** Seconds after which a quota is full. */
const SECONDS_TO_FULL = 2_000
/** Number of senders kept; the least recently active ones are removed first, and start again with a full quota. */
const MAX_SENDERS = 50_000

/**
 * Virtual gas of a transaction. The reference node adds a factor for low prices when blocks are nearly full, which those
 * of a local chain are not.
 */
export function virtualGas(transaction: Transaction, context: QuotaContext): number {
  const { blockGasLimit, accountNonce, replacedPrice } = context
  const gasLimit = Number(transaction.gasLimit)
  const lowNonce = 1 + 4 / (Number(accountNonce) + 1)
  const size = 1 + transaction.raw.length / 25_000
  const share = 1 + (4 * gasLimit) / Number(blockGasLimit)
  const future = transaction.nonce > accountNonce ? 2 : 1
  const replacement =
    replacedPrice === undefined ? 1 : 1 + Number(replacedPrice) / Number(transaction.gasPrice)
  return gasLimit * lowNonce * size * share * future * replacement
}

/** The quotas of all senders. */
export class AccountQuota {
  readonly #now: () => number
  readonly #quotas = new Map<Hex, Quota>()

  /** @param now wall clock, Unix seconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Spends the transaction's virtual gas; false, with nothing spent, when the sender has less. */
  accept(transaction: Transaction, context: QuotaContext): boolean {
    const now = this.#now()
    const perSecond = EARNED_PER_SECOND * Number(context.blockGasLimit)
    const full = perSecond * SECONDS_TO_FULL
    const known = this.#quotas.get(transaction.from)
    if (known === undefined && context.accountNonce === 0n) {
      this.#store(transaction.from, { available: 0, since: now })
      return true
    }
    const quota = known ?? { available: full, since: now }
    const elapsed = Math.max(0, now - quota.since)
    const available = Math.min(full, quota.available + elapsed * perSecond)
    const cost = virtualGas(transaction, context)
    const accepted = cost <= available
    this.#store(transaction.from, { available: accepted ? available - cost : available, since: now })
    return accepted
  }

  /** The quota of a sender at its last transaction; `undefined` for an unknown sender. */
  of(sender: Hex): Readonly<Quota> | undefined {
    return this.#quotas.get(sender)
  }

  #store(sender: Hex, quota: Quota): void {
    this.#quotas.delete(sender)
    this.#quotas.set(sender, quota)
    if (this.#quotas.size <= MAX_SENDERS) return
    for (const oldest of this.#quotas.keys()) {
      this.#quotas.delete(oldest)
      return
    }
  }
}
