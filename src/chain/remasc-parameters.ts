/** What the payout of collected fees depends on, by network (docs/internals/protocol.md#54-remasc-payout). */
import type { Hex } from '../encoding/hex.ts'
import { type RuleHeights, remascRulesAt } from './activations.ts'
import type { Network } from './network.ts'

/** One network's constants of REMASC. Heights and spans in blocks. */
export interface RemascParameters {
  /** M of docs/internals/protocol.md#54-remasc-payout: a block's fees enter the pot this many blocks later. */
  readonly maturity: number
  /** S of docs/internals/protocol.md#54-remasc-payout: each block pays out this part of the pot. */
  readonly syntheticSpan: number
  /** Who gets the labs' share in the block of a height (RSKIP-218). */
  labsAddressAt(height: number): Hex
  /** Who shares the federation's part, in order of their parent-chain public keys: the genesis federation, until another is voted. */
  readonly federators: readonly Hex[]
  /**
   * Gas whose price at the block's minimum a payout must reach, and a federator's part of it, in the block of a height
   * (RSKIP-85); zero before that rule.
   */
  minimumGasAt(height: number): { readonly payout: bigint; readonly federator: bigint }
  /** Does the block of a height pay? Always, unless given: a fork leaves out payouts for ancestors that its upstream lacks. */
  readonly isPaidAt?: (height: number) => boolean
}

/** The divisor of each share, the same on every network: one fifth for the labs, and so on. */
export const REMASC_DIVISORS = {
  labs: 5n,
  /** Of what remains after the labs' share. */
  federation: 100n,
  /** Those who named siblings, of what remains after labs and federation. */
  publishers: 10n,
  /** Burned of each miner's part after a broken selection rule. */
  punishment: 10n,
  /** Burned of a sibling's part for each block that it was named late. */
  lateInclusion: 20n,
} as const

const MINIMUM_GAS = { payout: 200_000n, federator: 50_000n }
const NO_MINIMUM_GAS = { payout: 0n, federator: 0n }

/** A network's constants of REMASC. */
export function remascParameters(
  { remasc }: Pick<Network, 'remasc'>,
  heights: RuleHeights,
): RemascParameters {
  const { maturity, syntheticSpan, labs, labsBeforeRskip218: earlierLabs = labs, federators } = remasc
  const rulesAt = remascRulesAt(heights)
  return {
    maturity,
    syntheticSpan,
    federators,
    labsAddressAt: (height) => (rulesAt(height).rskip218 ? labs : earlierLabs),
    minimumGasAt: (height) => (rulesAt(height).rskip85 ? MINIMUM_GAS : NO_MINIMUM_GAS),
  }
}
