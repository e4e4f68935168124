/** The forks of Ethereum for comparisons; separate from their rules, which take long to load. */

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

/** A fork of Ethereum. */
export type EthereumFork = (typeof ETHEREUM_FORKS)[number]
