/** The forks of Ethereum that a transaction can be compared under; apart from their rules, which take long to load. */

/** Forks since the one that this chain's prices resemble, up to the one whose opcodes it has; oldest first. */
export const ETHEREUM_FORKS = [
  'petersburg',
  'istanbul',
  'berlin',
  'london',
  'paris',
  'shanghai',
  'cancun',
] as const

/** Whose rules. */
export type EthereumFork = (typeof ETHEREUM_FORKS)[number]
