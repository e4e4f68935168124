/** Settings of the chain engine: network, database, mining, wallet, pool, clock. */
import type { BridgeRelease } from '../chain/config.ts'
import { PREDEPLOY_NAMES, type PredeployName } from '../chain/predeploys/names.ts'
import {
  address,
  chainName,
  derivationPath,
  frozenClock,
  GAS_BITS,
  genesisTime,
  type Kind,
  LONGEST_INTERVAL,
  listOf,
  MAX_CHAIN_ID,
  mining,
  mnemonic,
  namesOf,
  oneOf,
  paths,
  quantity,
  ruleTable,
  same,
  text,
  whole,
  yesOrNo,
} from './kinds.ts'
import type { Preset } from './presets.ts'
import { setting } from './setting.ts'

/** What executes messages: this project's EVM, that of `@ethereumjs/evm`, or both, compared. */
export type EvmChoice = 'tandem' | 'ethereumjs' | 'both'

/** The order in which a block includes the next transactions of its senders. */
export type TransactionOrder = 'fees' | 'fifo'

/** Gas in gas, prices in wei, times as named. */
export const ENGINE_SETTINGS = {
  preset: setting(oneOf('rsk', 'hardhat', 'anvil') satisfies Kind<Preset, Preset>, {
    flag: '--preset <name>',
    help: 'defaults of all settings: rsk, the reference node; hardhat or anvil, what suites written for those nodes expect',
    fallback: 'rsk',
  }),
  chain: setting(chainName, {
    flag: '--chain <name>',
    help: 'network to run: chain id 0x21 (regtest), 0x20 (devnet), 0x1f (testnet), 0x22 (testnet2), 0x1e (mainnet), or a JSON file that defines one',
    fallback: 'regtest',
  }),
  evm: setting(oneOf('tandem', 'ethereumjs', 'both') satisfies Kind<EvmChoice, EvmChoice>, {
    flag: '--evm <name>',
    help: 'EVM that executes: tandem, ethereumjs (@ethereumjs/evm under the rules of this chain, much slower), or both, which stops where they differ',
    fallback: 'tandem',
  }),
  chainId: setting(whole(1, MAX_CHAIN_ID), {
    flag: '--chain-id <number>',
    help: "chain id of a local chain, which otherwise keeps the network's rules",
    fallback: undefined,
    fallbackText: "the chain's own",
  }),
  genesisTime: setting(genesisTime, {
    flag: '--genesis-time <time>',
    help: 'timestamp of block 0 of a local chain: now, or seconds since 1970',
    fallback: undefined,
    fallbackText: "the chain's own, 0",
  }),
  dataDir: setting(text, {
    flag: '--data-dir <dir>',
    help: 'directory of the database, made when it is missing',
    fallback: undefined,
    fallbackText: '.tandem/<chain>; in process: memory',
  }),
  memory: setting(yesOrNo, {
    flag: '--memory',
    help: 'keep everything in memory; nothing is left after the node stops',
    fallback: undefined,
    fallbackText: 'false',
  }),
  mining: setting(mining, {
    flag: '--mining <mode>',
    help: 'auto: a block for each transaction, manual: on request, a number: seconds between blocks',
    fallback: 'auto',
    rskjKeys: { 'miner.client.autoMine': (on) => (on === true ? 'auto' : on === false ? 'manual' : on) },
  }),
  mixedMining: setting(yesOrNo, {
    flag: '--mixed-mining',
    help: 'with a number of seconds in --mining: a block for each transaction as well',
    fallback: false,
  }),
  order: setting(oneOf('fees', 'fifo') satisfies Kind<TransactionOrder, TransactionOrder>, {
    flag: '--order <order>',
    help: "order of the senders' transactions in a block: fees, the best price first, or fifo, as they arrived; each sender's by nonce",
    fallback: 'fees',
  }),
  accounts: setting(whole(0, 10_000), {
    flag: '--accounts <count>',
    help: 'number of local accounts, whose keys the node holds',
    fallback: undefined,
    fallbackText: '10 on regtest and devnet, else 0',
  }),
  mnemonic: setting(mnemonic, {
    flag: '--mnemonic <words>',
    help: 'BIP-39 words to derive the local accounts from, in place of the well-known keys',
    fallback: undefined,
    fallbackText: 'none',
    secret: true,
  }),
  derivationPath: setting(derivationPath, {
    flag: '--derivation-path <path>',
    help: "BIP-32 path of the mnemonic's accounts; the index of each is appended",
    fallback: "m/44'/60'/0'/0/",
  }),
  accountBalance: setting(quantity(0n, 255), {
    flag: '--account-balance <wei>',
    help: 'balance of each local account in the genesis of a new local chain',
    fallback: undefined,
    fallbackText: '10^30',
  }),
  create2Deployer: setting(yesOrNo, {
    flag: '--create2-deployer',
    help: 'have the deterministic deployment proxy at 0x4e59b44847b379578588920ca78fbf26c0b4956c in the genesis of a new local chain',
    fallback: false,
  }),
  predeploy: setting(
    namesOf(...PREDEPLOY_NAMES) satisfies Kind<readonly PredeployName[], readonly PredeployName[]>,
    {
      flag: '--predeploy <names>',
      help: `well-known contracts at their addresses in the genesis of a new local chain, or on a fork: ${PREDEPLOY_NAMES.join(', ')}`,
      fallback: [],
      fallbackText: 'none',
      repeatable: ',',
    },
  ),
  wallet: setting(yesOrNo, {
    flag: '--no-wallet',
    help: 'hold no keys: no local accounts and no signing',
    fallback: true,
    rskjKeys: { 'wallet.enabled': same },
  }),
  coinbase: setting(address, {
    flag: '--coinbase <address>',
    help: 'who is rewarded for blocks mined here',
    fallback: undefined,
    fallbackText: "the chain's own",
  }),
  bridgeRelease: setting(oneOf('9.0', '9.1') satisfies Kind<BridgeRelease, BridgeRelease>, {
    flag: '--bridge-release <release>',
    help: 'release of the reference node whose Bridge a local chain has: 9.1, or 9.0 with a first federation without emergency keys',
    fallback: '9.1',
  }),
  rules: setting(ruleTable, {
    flag: '--rules <rules>',
    help: 'rules of a chain by the last upgrade (vetiver900), next for all that are known, or heights as JSON: {"rskip559": 10, "rskip535": null}',
    fallback: undefined,
    fallbackText: "the network's own; those of the chain in --data-dir",
  }),
  activate: setting(
    listOf(
      /^\w+(@\d+)?$/,
      'names of rules or upgrades, each with @ and a height where it is not the first block',
    ),
    {
      flag: '--activate <rules>',
      help: 'rules or upgrades that hold, from the first block on or from a height: rskip559@10',
      fallback: [],
      fallbackText: 'none',
      repeatable: ',',
    },
  ),
  deactivate: setting(listOf(/^\w+$/, 'names of rules or upgrades'), {
    flag: '--deactivate <rules>',
    help: 'rules or upgrades that never hold',
    fallback: [],
    fallbackText: 'none',
    repeatable: ',',
  }),
  blockGasLimit: setting(quantity(1n, GAS_BITS), {
    flag: '--block-gas-limit <gas>',
    help: 'gas limit of a block; switches the split into parallel lists off',
    fallback: undefined,
    fallbackText: "the chain's own",
  }),
  minGasPrice: setting(quantity(0n, 127), {
    flag: '--min-gas-price <wei>',
    help: 'minimum gas price that blocks mined here move to',
    fallback: undefined,
    fallbackText: "the chain's own",
    rskjKeys: { 'miner.minGasPrice': same },
  }),
  gasPrice: setting(quantity(0n, 127), {
    flag: '--gas-price <wei>',
    help: 'least price that eth_gasPrice answers, above the minimum gas price of blocks',
    fallback: 0n,
  }),
  difficulty: setting(quantity(1n, 255), {
    flag: '--difficulty <number>',
    help: 'difficulty of every block above genesis: about how many hashes a proof of work takes',
    fallback: undefined,
    fallbackText: "the chain's own",
  }),
  workRateLimitMs: setting(whole(0, LONGEST_INTERVAL * 1000), {
    flag: '--work-rate-limit <ms>',
    help: 'least milliseconds between two submissions of mining work; 0 is no limit',
    fallback: 0,
    rskjKeys: { 'miner.server.workSubmissionRateLimitInMills': same },
  }),
  accountQuota: setting(yesOrNo, {
    flag: '--account-quota',
    help: 'limit the gas that one sender may offer over time, as the reference node does',
    fallback: false,
    rskjKeys: { 'transaction.accountTxRateLimit.enabled': same },
  }),
  accountSlots: setting(whole(1, 1_000_000), {
    flag: '--account-slots <count>',
    help: "how far ahead of its account a pooled transaction's nonce may be",
    fallback: 16,
    rskjKeys: { 'transaction.accountSlots': same },
  }),
  lastingClock: setting(yesOrNo, {
    flag: '--lasting-clock',
    help: 'evm_increaseTime shifts all later blocks, not only the next one',
    fallback: false,
  }),
  frozenClock: setting(frozenClock, {
    flag: '--frozen-clock [time]',
    help: 'the clock of a local chain stands still, by default at 1700000000: a block is then one second later than its parent; evm_ methods move it',
    fallback: false,
  }),
  seed: setting(text, {
    flag: '--seed <text>',
    help: 'derive what is otherwise random (new keys, ids of filters and subscriptions) from a text: the same calls give the same results',
    fallback: undefined,
    fallbackText: 'none: random',
  }),
  strictCalls: setting(yesOrNo, {
    flag: '--strict-calls',
    help: 'eth_call answers an error, not 0x, when code fails without reverting',
    fallback: false,
  }),
  abi: setting(paths, {
    flag: '--abi <paths>',
    help: 'ABI files, artifact folders, Hardhat or Foundry projects: names for failures and call trees, and storage layouts for variables by name',
    fallback: [],
    fallbackText: 'none',
  }),
  coverage: setting(listOf(/^(transactions|calls|estimates)$/, 'some of transactions, calls, estimates'), {
    flag: '--coverage <kinds>',
    help: 'record from the start which code of contracts runs: in transactions, in calls, in estimates',
    fallback: [],
    fallbackText: 'off',
  }),
  coverageDir: setting(text, {
    flag: '--coverage-dir <folder>',
    help: 'write the coverage to a new file of this folder when the node closes; all kinds of runs unless --coverage names some',
    fallback: undefined,
    fallbackText: 'none',
  }),
  gasDir: setting(text, {
    flag: '--gas-dir <folder>',
    help: 'record from the start where transactions spend gas, and write it to a new file of this folder when the node closes',
    fallback: undefined,
    fallbackText: 'none',
  }),
  fsync: setting(yesOrNo, {
    flag: '--fsync',
    help: 'wait until each block is on the disk itself (fsync), against loss of power',
    fallback: false,
  }),
}
