/**
 * The account quota of the real node: each sender earns virtual gas with time and spends it by sending
 * (docs/protocol.md#45-pool-admission).
 */
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'

/** What the cost of a transaction depends on beside itself. */
export interface QuotaContext {
  /** Of the best block, gas. */
  readonly blockGasLimit: bigint
  /** The sender's after the best block. */
  readonly accountNonce: bigint
  /** Price of the transaction that this one replaces, wei per gas. */
  readonly replacedPrice?: bigint | undefined
}

/** Of one sender. */
export interface Quota {
  /** Virtual gas. */
  available: number
  /** When it was last brought up to date, seconds. */
  since: number
}

/** Virtual gas per second, as a part of the block gas limit. */
const EARNED_PER_SECOND = 0.9
/** Seconds after which a quota is full. */
const SECONDS_TO_FULL = 2_000
/** Senders remembered; those that were silent longest go first, and come back with a full quota. */
const MAX_SENDERS = 50_000

/** Virtual gas that a transaction costs. The real node adds a factor for low prices when blocks are nearly full; blocks of a local chain are not. */
export function virtualGas(transaction: Transaction, context: QuotaContext): number {
  const { blockGasLimit, accountNonce, replacedPrice } = context
  const gasLimit = Number(transaction.gasLimit)
  const newcomer = 1 + 4 / (Number(accountNonce) + 1)
  const size = 1 + transaction.raw.length / 25_000
  const share = 1 + (4 * gasLimit) / Number(blockGasLimit)
  const future = transaction.nonce > accountNonce ? 2 : 1
  const replacement =
    replacedPrice === undefined ? 1 : 1 + Number(replacedPrice) / Number(transaction.gasPrice)
  return gasLimit * newcomer * size * share * future * replacement
}

/** The quotas of all senders. */
export class AccountQuota {
  readonly #now: () => number
  readonly #quotas = new Map<Hex, Quota>()

  /** @param now wall clock, Unix seconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Spends what the transaction costs; false, with nothing spent, when the sender has not that much. */
  accept(transaction: Transaction, context: QuotaContext): boolean {
    const now = this.#now()
    const perSecond = EARNED_PER_SECOND * Number(context.blockGasLimit)
    const full = perSecond * SECONDS_TO_FULL
    const known = this.#quotas.get(transaction.from)
    if (known === undefined && context.accountNonce === 0n) {
      this.#remember(transaction.from, { available: 0, since: now })
      return true
    }
    const quota = known ?? { available: full, since: now }
    const elapsed = Math.max(0, now - quota.since)
    const available = Math.min(full, quota.available + elapsed * perSecond)
    const cost = virtualGas(transaction, context)
    const accepted = cost <= available
    this.#remember(transaction.from, { available: accepted ? available - cost : available, since: now })
    return accepted
  }

  /** What a sender has, as of when it last sent; `undefined` for one that is not remembered. */
  of(sender: Hex): Readonly<Quota> | undefined {
    return this.#quotas.get(sender)
  }

  #remember(sender: Hex, quota: Quota): void {
    this.#quotas.delete(sender)
    this.#quotas.set(sender, quota)
    if (this.#quotas.size <= MAX_SENDERS) return
    for (const oldest of this.#quotas.keys()) {
      this.#quotas.delete(oldest)
      return
    }
  }
}
