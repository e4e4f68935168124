/** The constants of each network: ids, activation heights, difficulty, limits, addresses of precompiles. */
import type { Hex } from '../encoding/hex.ts'
import { gasPriceCapAt, isActive, type Rules, rulesAt, valueByRule } from './activations.ts'
import { byChain, type RuleHeights } from './consensus-rules.ts'
import type { Network } from './network.ts'
import { type RemascParameters, remascParameters } from './remasc-parameters.ts'
import { NETWORKS } from './shipped-networks.ts'

/** Releases of the reference node with different Bridges on local networks: another first federation, another order of peg-outs. */
export type BridgeRelease = '9.0' | '9.1'

/** One network's constants. Gas in gas, times in seconds, prices in wei. */
export interface ChainConfig {
  readonly name: string
  /** As it was defined; the members beside it may have been changed by settings. */
  readonly network: Network
  /** EIP-155 id, also the answer of `net_version`. */
  readonly chainId: number
  /** From which block each rule holds: everything below that has a height follows from it. */
  readonly ruleHeights: RuleHeights
  rulesAt(height: number): Rules
  readonly difficulty: {
    /** Floor of the difficulty at a height. */
    minimumAt(height: number): bigint
    /** D of docs/internals/protocol.md#31-difficulty, seconds. */
    readonly goalSeconds: number
    /** B of docs/internals/protocol.md#31-difficulty at a height. */
    boundDivisorAt(height: number): bigint
    /** The difficulty of every block above genesis, where a setting of the node fixes it. */
    readonly fixed?: bigint
  }
  /** Where the block gas limit moves to (docs/internals/protocol.md#41-block-gas-limit), and its floor. */
  readonly gasLimitTarget: bigint
  readonly gasLimitMinimum: bigint
  /** Where the minimum gas price moves to (docs/internals/protocol.md#42-minimum-gas-price). */
  readonly minimumGasPriceTarget: bigint
  /**
   * m of docs/internals/protocol.md#52-parallel-sublists; `undefined` switches the split off: one list whose limit is
   * the block's.
   */
  readonly minimumSequentialGas: bigint | undefined
  /** T of docs/internals/protocol.md#17-validity; 0 switches the timestamp rules off. */
  readonly maxSecondsInFuture: number
  /**
   * How many seconds the parent chain's header may be away from ours at a height (RSKIP-179, RSKIP-297): the distance
   * must be less. `undefined` before that rule.
   */
  parentChainTimeWindowAt(height: number): number | undefined
  /**
   * A transaction may offer at most this many times its block's minimum gas price, where that is not zero (RSKIP-252,
   * docs/internals/protocol.md#42-minimum-gas-price). `undefined` before that rule.
   */
  gasPriceCapAt(height: number): bigint | undefined
  /** How collected fees are paid out (docs/internals/protocol.md#54-remasc-payout). */
  readonly reward: RemascParameters
  /**
   * The release of the reference node whose Bridge a local network has; absent: the present one. `takeover`: on a fork, the
   * Bridge has the local network's constants, among them that the parent chain is regtest.
   */
  readonly bridgeRelease?: BridgeRelease | 'takeover'
  /** Height of the upstream's block below a fork: the state roots of higher blocks are synthetic. */
  readonly forkedAt?: number
  /** Replaces values of the genesis file, where a setting of the node asks for it. */
  readonly genesis?: { readonly gasLimit?: bigint; readonly minimumGasPrice?: bigint }
}

/** What of a network's constants depends on the heights of its rules. */
function byRules(network: Network, ruleHeights: RuleHeights) {
  const { window, windowSinceRskip297 } = network.parentChainSeconds
  const windowAt = valueByRule(ruleHeights, 'rskip297', window, windowSinceRskip297)
  return {
    ruleHeights,
    rulesAt: rulesAt(ruleHeights),
    gasPriceCapAt: gasPriceCapAt(ruleHeights),
    parentChainTimeWindowAt: (height: number) =>
      isActive(ruleHeights, 'rskip179', height) ? windowAt(height) : undefined,
    reward: remascParameters(network, ruleHeights),
  }
}

function difficultyOf({ difficulty }: Network, heights: RuleHeights): ChainConfig['difficulty'] {
  const { minimum, minimumSinceRskip290 = minimum, goalSeconds } = difficulty
  const { boundDivisor, boundDivisorSinceRskip156 = boundDivisor } = difficulty
  return {
    minimumAt: valueByRule(heights, 'rskip290', BigInt(minimum), BigInt(minimumSinceRskip290)),
    goalSeconds,
    boundDivisorAt: valueByRule(heights, 'rskip156', BigInt(boundDivisor), BigInt(boundDivisorSinceRskip156)),
  }
}

/** The constants of a network. */
export function configOfNetwork(network: Network): ChainConfig {
  const { name, chainId, heights, gasLimit, maxSecondsInFuture } = network
  return {
    name,
    network,
    chainId,
    ...byRules(network, heights),
    difficulty: difficultyOf(network, heights),
    gasLimitTarget: BigInt(gasLimit.target),
    gasLimitMinimum: BigInt(gasLimit.minimum),
    minimumGasPriceTarget: 0n,
    minimumSequentialGas: BigInt(gasLimit.minimumSequential),
    maxSecondsInFuture,
  }
}

/**
 * The shipped networks' constants (docs/internals/protocol.md#31-difficulty,
 * docs/internals/protocol.md#41-block-gas-limit, docs/internals/protocol.md#52-parallel-sublists,
 * docs/internals/protocol.md#73-networks). Seconds, gas, wei.
 */
export const CHAINS = byChain((name) => configOfNetwork(NETWORKS[name]))

/**
 * The same network with one fixed block gas limit from genesis on, and the parallel split off, so that a single
 * transaction may take a whole block.
 */
export function withBlockGasLimit(config: ChainConfig, limit: bigint): ChainConfig {
  return {
    ...config,
    gasLimitTarget: limit,
    gasLimitMinimum: limit,
    minimumSequentialGas: undefined,
    genesis: { ...config.genesis, gasLimit: limit },
  }
}

/** The same network with a minimum gas price (wei per gas) that holds from genesis on and that blocks mined here keep. */
export function withMinimumGasPrice(config: ChainConfig, price: bigint): ChainConfig {
  return {
    ...config,
    minimumGasPriceTarget: price,
    genesis: { ...config.genesis, minimumGasPrice: price },
  }
}

/** The same network with other rules. */
export function withRules(config: ChainConfig, ruleHeights: RuleHeights): ChainConfig {
  const { network, difficulty } = config
  return {
    ...config,
    ...byRules(network, ruleHeights),
    difficulty: { ...difficulty, ...difficultyOf(network, ruleHeights) },
  }
}

/** The same network with one difficulty for all blocks above genesis, so that the proof search takes as long as wanted. */
export function withDifficulty(config: ChainConfig, difficulty: bigint): ChainConfig {
  return { ...config, difficulty: { ...config.difficulty, fixed: difficulty } }
}

/**
 * Gas that each of the two parallel sublists, and the sequential one, may take in a block of this gas limit
 * (RSKIP-144, docs/internals/protocol.md#52-parallel-sublists). Where the split is off the sequential list has it all.
 */
export function sublistLimits(
  config: ChainConfig,
  blockGasLimit: bigint,
  height: number,
): { parallel: bigint; sequential: bigint } {
  const minimum = config.minimumSequentialGas
  if (minimum === undefined || blockGasLimit <= minimum || !config.rulesAt(height).parallelSublists) {
    return { parallel: 0n, sequential: blockGasLimit }
  }
  const third = blockGasLimit / 3n
  const parallel = third >= minimum ? third : (blockGasLimit - minimum) / 2n
  return { parallel, sequential: blockGasLimit - 2n * parallel }
}

/**
 * The most gas that one transaction in this block may ask for: that of the larger sublist
 * (docs/internals/protocol.md#45-pool-admission), or 2^60.
 */
export function maxTransactionGas(
  config: ChainConfig,
  header: { readonly gasLimit: bigint; readonly number: number },
): bigint {
  const { parallel, sequential } = sublistLimits(config, header.gasLimit, header.number)
  const larger = parallel > sequential ? parallel : sequential
  return larger < MAX_TRANSACTION_GAS ? larger : MAX_TRANSACTION_GAS
}

/** No transaction may ask for more gas than this (docs/internals/protocol.md#44-intrinsic-gas). */
export const MAX_TRANSACTION_GAS = 1n << 60n

/** Latest supported timestamp, Unix seconds: the end of JavaScript's range of dates. */
export const LATEST_TIMESTAMP = 8_640_000_000_000

/** Addresses of the contracts that the chain itself implements (docs/internals/protocol.md#65-precompiled-contracts). */
export const PRECOMPILE_ADDRESS = {
  ecrecover: '0x0000000000000000000000000000000000000001',
  sha256: '0x0000000000000000000000000000000000000002',
  ripemd160: '0x0000000000000000000000000000000000000003',
  identity: '0x0000000000000000000000000000000000000004',
  modexp: '0x0000000000000000000000000000000000000005',
  bn128Add: '0x0000000000000000000000000000000000000006',
  bn128Mul: '0x0000000000000000000000000000000000000007',
  bn128Pairing: '0x0000000000000000000000000000000000000008',
  blake2f: '0x0000000000000000000000000000000000000009',
  bridge: '0x0000000000000000000000000000000001000006',
  remasc: '0x0000000000000000000000000000000001000008',
  hdWalletUtils: '0x0000000000000000000000000000000001000009',
  blockHeader: '0x0000000000000000000000000000000001000010',
  environment: '0x0000000000000000000000000000000001000011',
  secp256k1Add: '0x0000000000000000000000000000000001000016',
  secp256k1Mul: '0x0000000000000000000000000000000001000017',
} as const satisfies Record<string, Hex>

/**
 * The sender of every block's REMASC transaction: the single byte 00
 * (docs/internals/protocol.md#53-remasc-transaction). In JSON it prints as the zero address.
 */
export const REMASC_SENDER: Hex = '0x00'
