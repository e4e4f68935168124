/** The forks of Ethereum for comparisons; separate from their rules, which take long to load. */

/** Forks since the one that this chain's prices resemble, up to the one with set-code transactions; oldest first. */
export const ETHEREUM_FORKS = [
  'petersburg',
  'istanbul',
  'berlin',
  'london',
  'paris',
  'shanghai',
  'cancun',
  'prague',
] as const

/** A fork of Ethereum. */
export type EthereumFork = (typeof ETHEREUM_FORKS)[number]
