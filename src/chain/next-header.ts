/** What the next header must contain, given its parent: the builder fills it in, the validator checks it. */
import { EMPTY } from '../encoding/bytes.ts'
import { EMPTY_TRIE_ROOT, ZERO_ADDRESS } from './account.ts'
import { EMPTY_UNCLES_HASH } from './block.ts'
import type { ChainConfig } from './config.ts'
import type { Header } from './header.ts'

/** After a gap this long (seconds) the difficulty falls to its floor, until RSKIP-97. */
const DIFFICULTY_RESET_SECONDS = 600

/** No block moves the gas limit by more than one part in this many. */
const GAS_LIMIT_DIVISOR = 1024n

type Layout = Pick<
  Header,
  'version' | 'ummRoot' | 'edges' | 'baseEvent' | 'bitcoinHeader' | 'merkleProof' | 'coinbaseTransaction'
>

/** What determines the layout of a header at a height, each part empty, and no proof of work. */
export function emptyLayout(number: number, config: ChainConfig): Layout {
  const { headerVersion: version, umm } = config.rulesAt(number)
  return {
    version,
    ummRoot: umm ? EMPTY : undefined,
    edges: version === 0 ? undefined : [],
    baseEvent: version === 2 ? EMPTY : undefined,
    bitcoinHeader: EMPTY,
    merkleProof: EMPTY,
    coinbaseTransaction: EMPTY,
  }
}

/**
 * The header of a block at a height without parent, content and proof of work, in the layout of that height. Each member by
 * its name: V8 keeps what is added to a spread outside the object, and copying that takes ten times as long on Node 20.
 */
export function emptyHeader(number: number, config: ChainConfig): Header {
  const { version, ummRoot, edges, baseEvent, bitcoinHeader, merkleProof, coinbaseTransaction } = emptyLayout(
    number,
    config,
  )
  return {
    version,
    ummRoot,
    edges,
    baseEvent,
    bitcoinHeader,
    merkleProof,
    coinbaseTransaction,
    parentHash: EMPTY_TRIE_ROOT,
    unclesHash: EMPTY_UNCLES_HASH,
    coinbase: ZERO_ADDRESS,
    stateRoot: EMPTY_TRIE_ROOT,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: EMPTY,
    difficulty: 0n,
    number,
    gasLimit: 0n,
    gasUsed: 0n,
    timestamp: 0,
    extraData: EMPTY,
    paidFees: 0n,
    minimumGasPrice: 0n,
    uncleCount: 0,
  }
}

/**
 * Difficulty of the block after `parent` (docs/internals/protocol.md#31-difficulty). `timestamp` in seconds. Each uncle
 * makes the goal interval longer, so that the rule controls the rate of headers, uncles included.
 */
export function nextDifficulty(
  parent: Header,
  timestamp: number,
  uncleCount: number,
  config: ChainConfig,
): bigint {
  if (config.difficulty.fixed !== undefined) return config.difficulty.fixed
  const height = parent.number + 1
  const minimum = config.difficulty.minimumAt(height)
  const interval = timestamp - parent.timestamp
  if (!config.rulesAt(height).rskip97 && interval >= DIFFICULTY_RESET_SECONDS) return minimum
  const goal = (1 + uncleCount) * config.difficulty.goalSeconds
  if (interval < 0 || interval === goal) return parent.difficulty
  const step = parent.difficulty / config.difficulty.boundDivisorAt(height)
  const moved = interval < goal ? parent.difficulty + step : parent.difficulty - step
  return moved > minimum ? moved : minimum
}

/**
 * Gas limit of the block after `parent`: one step towards the network's target, never below its floor
 * (docs/internals/protocol.md#41-block-gas-limit).
 */
export function nextGasLimit(parent: Header, config: ChainConfig): bigint {
  const step = parent.gasLimit / GAS_LIMIT_DIVISOR
  const target =
    config.gasLimitTarget > config.gasLimitMinimum ? config.gasLimitTarget : config.gasLimitMinimum
  return nearest(target, parent.gasLimit - step, parent.gasLimit + step)
}

/** The gas limits (gas) that a block after `parent` may have (docs/internals/protocol.md#17-validity). */
export function gasLimitRange(parent: Header, config: ChainConfig): { lowest: bigint; highest: bigint } {
  const lowest = (parent.gasLimit * (GAS_LIMIT_DIVISOR - 1n)) / GAS_LIMIT_DIVISOR
  const highest = (parent.gasLimit * (GAS_LIMIT_DIVISOR + 1n)) / GAS_LIMIT_DIVISOR
  return { lowest: lowest > config.gasLimitMinimum ? lowest : config.gasLimitMinimum, highest }
}

/**
 * Minimum gas price (wei) of the block after `parent`: one step towards the network's target
 * (docs/internals/protocol.md#42-minimum-gas-price).
 */
export function nextMinimumGasPrice(parent: Header, config: ChainConfig): bigint {
  const { lowest, highest } = minimumGasPriceRange(parent)
  return nearest(config.minimumGasPriceTarget, lowest, highest)
}

/**
 * The minimum gas prices (wei) that a block after `parent` may have: a hundredth, and at least 1, to either
 * side (docs/internals/protocol.md#42-minimum-gas-price).
 */
export function minimumGasPriceRange(parent: Header): { lowest: bigint; highest: bigint } {
  const price = parent.minimumGasPrice
  const step = price >= 100n ? price / 100n : 1n
  return { lowest: price > step ? price - step : 0n, highest: price + step }
}

function nearest(wanted: bigint, lowest: bigint, highest: bigint): bigint {
  return wanted < lowest ? lowest : wanted > highest ? highest : wanted
}
