/** Presets: the defaults of a node that stands in for another development node. Any setting given explicitly wins. */

/** Whose behaviour the defaults follow: `rsk` is the reference node. */
export type Preset = 'rsk' | 'hardhat' | 'anvil'

/** The mnemonic of the accounts that Hardhat and Anvil start with. */
export const TEST_MNEMONIC = 'test test test test test test test test test test test junk'

/** 10,000 coins in wei: the balance of each account of Hardhat and Anvil. */
const TEST_BALANCE = 10_000n * 10n ** 18n

/** What both have in common. Prices in wei, gas in gas. */
const DEVELOPMENT = {
  mnemonic: TEST_MNEMONIC,
  accountBalance: TEST_BALANCE,
  blockGasLimit: 30_000_000n,
  // No transaction is refused for its price, and RSKIP-252's cap on prices stays off.
  minGasPrice: 0n,
  gasPrice: 2_000_000_000n,
  genesisTime: 'now',
  lastingClock: true,
  strictCalls: true,
  hideRemasc: true,
  singleUseSnapshots: true,
  maxBatch: 100,
  cors: ['local'],
} as const

/** Drafts whose transactions those nodes take too: the presets begin with them unless `rules` names others. */
export const PRESET_RULES: Readonly<Record<Preset, readonly string[]>> = {
  rsk: [],
  hardhat: ['rskip545', 'rskip546'],
  anvil: ['rskip545', 'rskip546'],
}

/** The defaults by preset and key of the setting; of settings not named here the usual default holds. */
export const PRESET_DEFAULTS: Readonly<Record<Preset, Readonly<Record<string, unknown>>>> = {
  rsk: {},
  hardhat: { ...DEVELOPMENT, dialect: 'hardhat', accounts: 20 },
  anvil: { ...DEVELOPMENT, dialect: 'anvil', accounts: 10, minedReverts: 'hash', create2Deployer: true },
}
