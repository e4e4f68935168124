/** The division of a reward: arithmetic only (docs/internals/protocol.md#54-remasc-payout). All amounts in wei. */
import { REMASC_DIVISORS } from '../../chain/remasc-parameters.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Sibling } from './siblings.ts'

/** One payment; it is made, and logged, also when the amount is 0. */
export interface Payment {
  readonly to: Hex
  readonly amount: bigint
}

/** The receivers of a reward. */
export interface Claims {
  readonly labs: Hex
  /** At least one. */
  readonly federators: readonly Hex[]
  /** What the federation is still owed from earlier rewards. */
  readonly federationBalance: bigint
  /** Least part of a federator; below it, the federation's share is kept for a later payout. */
  readonly leastFederatorPay: bigint
  /** Of the block on the chain. */
  readonly miner: Hex
  readonly siblings: readonly Sibling[]
  /** Whether the block rewarded before broke the selection rule: the miners of this block then lose a part. */
  readonly punished: boolean
}

/** A divided reward: payments, burned amount and new federation balance add up to it and the old federation balance. */
export interface Division {
  /** In the order in which they are made. */
  readonly payments: readonly Payment[]
  readonly burned: bigint
  readonly federationBalance: bigint
}

/** Divides a reward. Every division rounds down; what it leaves goes to the last federator, or is burned. */
export function dividePayout(reward: bigint, claims: Claims): Division {
  const forLabs = reward / REMASC_DIVISORS.labs
  const withoutLabs = reward - forLabs
  const forFederation = withoutLabs / REMASC_DIVISORS.federation
  const federation = payFederation(claims.federationBalance + forFederation, claims)
  const miners = payMiners(withoutLabs - forFederation, claims)
  return {
    payments: [{ to: claims.labs, amount: forLabs }, ...federation.payments, ...miners.payments],
    burned: miners.burned,
    federationBalance: federation.kept,
  }
}

function payFederation(
  pot: bigint,
  { federators, leastFederatorPay }: Claims,
): { payments: readonly Payment[]; kept: bigint } {
  const count = BigInt(federators.length)
  const each = pot / count
  if (each < leastFederatorPay) return { payments: [], kept: pot }
  const last = federators.length - 1
  const payments = federators.map((to, i) => ({ to, amount: i === last ? each + (pot % count) : each }))
  return { payments, kept: 0n }
}

function payMiners(
  reward: bigint,
  { miner, siblings, punished }: Claims,
): { payments: readonly Payment[]; burned: bigint } {
  const punish = (amount: bigint) => (punished ? amount / REMASC_DIVISORS.punishment : 0n)
  if (siblings.length === 0) {
    const burned = punish(reward)
    return { payments: [{ to: miner, amount: reward - burned }], burned }
  }
  const count = BigInt(siblings.length)
  const forPublishers = reward / REMASC_DIVISORS.publishers
  const perPublisher = forPublishers / count
  const forMiners = reward - forPublishers
  const share = forMiners / (count + 1n)
  const perMiner = share - punish(share)

  const payments: Payment[] = siblings.map(({ publisher }) => ({ to: publisher, amount: perPublisher }))
  for (const { coinbase, blocksLate } of siblings) {
    const lost = (perMiner * BigInt(blocksLate)) / REMASC_DIVISORS.lateInclusion
    payments.push({ to: coinbase, amount: perMiner - lost })
  }
  payments.push({ to: miner, amount: perMiner })
  // Remainders, punishments and deductions for late inclusion.
  const paid = payments.reduce((sum, { amount }) => sum + amount, 0n)
  return { payments, burned: reward - paid }
}
