/** From which height each rule holds on each network; the tables behind `config.ts`. */

/** The four networks, by the names that `--chain` takes. */
export type ChainName = 'regtest' | 'devnet' | 'testnet' | 'mainnet'

/**
 * Which rules hold at a height (docs/protocol.md#11-versions, docs/protocol.md#14-encodings,
 * docs/protocol.md#15-hashes, docs/protocol.md#31-difficulty, docs/protocol.md#52-parallel-sublists).
 */
export interface Rules {
  /** Header layout: 0, 1 (RSKIP-351) or 2 (RSKIP-535). */
  readonly headerVersion: 0 | 1 | 2
  /** RSKIP-92: merkle proof and coinbase are left out of the block hash. */
  readonly rskip92: boolean
  /** RSKIP-UMM: the header has the element `ummRoot`. */
  readonly umm: boolean
  /** RSKIP-97: the difficulty no longer falls to the minimum after a gap of 600 s. */
  readonly rskip97: boolean
  /** RSKIP-110 and height >= 449: fork detection data in the merged-mining hash. */
  readonly forkDetection: boolean
  /** RSKIP-144 and 351: parallel execution sublists and their limits. */
  readonly parallelSublists: boolean
}

/** Activation heights by rule; `undefined` where the rule never comes into force. */
interface Heights {
  /** RSKIP-85: rewards below a minimum wait. */
  readonly rskip85: number
  readonly rskip92: number
  readonly rskip97: number | undefined
  readonly rskip110: number
  /** RSKIP-156: finer steps of difficulty. Regtest keeps its own divisor throughout. */
  readonly rskip156: number | undefined
  /** RSKIP-179: the parent chain's clock must agree with ours. */
  readonly rskip179: number
  /** RSKIP-218: the labs' share of rewards goes to another address. */
  readonly rskip218: number
  /** RSKIP-252: gas prices are capped. */
  readonly rskip252: number
  /** RSKIP-290: a higher floor of difficulty. */
  readonly rskip290: number | undefined
  /** RSKIP-297: the two clocks may be further apart. */
  readonly rskip297: number | undefined
  readonly umm: number
  /** RSKIP-144 together with RSKIP-351. */
  readonly rskip351: number | undefined
  readonly rskip535: number | undefined
}

/**
 * docs/protocol.md#11-versions, docs/protocol.md#14-encodings, docs/protocol.md#31-difficulty. The settings
 * that the reference node ships for devnet leave out heights that its loader asks for, so devnet follows regtest
 * in all that concerns headers.
 */
const HEIGHTS: Readonly<Record<ChainName, Heights>> = {
  regtest: {
    rskip85: 0,
    rskip92: 0,
    rskip97: undefined,
    rskip110: 0,
    rskip156: undefined,
    rskip179: 0,
    rskip218: 0,
    rskip252: 0,
    rskip290: undefined,
    rskip297: undefined,
    umm: 1,
    rskip351: 1,
    rskip535: 1,
  },
  devnet: {
    rskip85: 0,
    rskip92: 0,
    rskip97: undefined,
    rskip110: 0,
    rskip156: 0,
    rskip179: 0,
    rskip218: 0,
    rskip252: 0,
    rskip290: undefined,
    rskip297: undefined,
    umm: 1,
    rskip351: 1,
    rskip535: 1,
  },
  testnet: {
    rskip85: 0,
    rskip92: 0,
    rskip97: undefined,
    rskip110: 0,
    rskip156: 863_000,
    rskip179: 2_060_500,
    rskip218: 2_060_500,
    rskip252: 4_015_800,
    rskip290: 2_581_800,
    rskip297: 3_103_000,
    umm: 863_000,
    rskip351: 7_139_600,
    rskip535: 7_604_200,
  },
  mainnet: {
    rskip85: 729_000,
    rskip92: 729_000,
    rskip97: 729_000,
    rskip110: 1_591_000,
    rskip156: 2_392_700,
    rskip179: 3_614_800,
    rskip218: 3_614_800,
    rskip252: 5_468_000,
    rskip290: undefined,
    rskip297: undefined,
    umm: 2_392_700,
    rskip351: undefined,
    rskip535: undefined,
  },
}

/** Fork detection data needs this many headers below a block, whatever the rules say (docs/protocol.md#15-hashes). */
const FORK_DETECTION_HEADERS = 449

function holds(from: number | undefined, height: number): boolean {
  return from !== undefined && height >= from
}

function rulesOf(heights: Heights, height: number): Rules {
  const extended = holds(heights.rskip351, height)
  return {
    headerVersion: !extended ? 0 : holds(heights.rskip535, height) ? 2 : 1,
    rskip92: holds(heights.rskip92, height),
    rskip97: holds(heights.rskip97, height),
    umm: holds(heights.umm, height),
    forkDetection: holds(heights.rskip110, height) && height >= FORK_DETECTION_HEADERS,
    parallelSublists: extended,
  }
}

/** The rules of a network by height: one shared record per stretch of heights, so that asking costs nothing. */
export function rulesAt(name: ChainName): (height: number) => Rules {
  const heights = HEIGHTS[name]
  const starts = new Set<number>([0, FORK_DETECTION_HEADERS])
  for (const height of Object.values(heights) as (number | undefined)[]) {
    if (height !== undefined) starts.add(height)
  }
  const stretches = [...starts].sort((a, b) => b - a).map((from) => ({ from, rules: rulesOf(heights, from) }))
  const first = rulesOf(heights, 0)
  return (height) => {
    for (const { from, rules } of stretches) if (height >= from) return rules
    return first
  }
}

/** Floor of the difficulty by height (docs/protocol.md#31-difficulty). */
export function minimumDifficultyAt(name: ChainName): (height: number) => bigint {
  if (name === 'regtest') return () => 1n
  if (name === 'mainnet') return () => 7_000_000_000_000_000n
  const raised = HEIGHTS[name].rskip290
  return (height) => (holds(raised, height) ? 550_000_000n : 131_072n)
}

/** By what part of itself the difficulty moves, by height (docs/protocol.md#31-difficulty). */
export function boundDivisorAt(name: ChainName): (height: number) => bigint {
  if (name === 'regtest') return () => 2048n
  const finer = HEIGHTS[name].rskip156
  return (height) => (holds(finer, height) ? 400n : 50n)
}

/** Seconds by which the parent chain's clock must be less away than this, by height (docs/protocol.md#17-validity). */
export function parentChainTimeWindowAt(name: ChainName): (height: number) => number | undefined {
  const { rskip179, rskip297 } = HEIGHTS[name]
  return (height) => (!holds(rskip179, height) ? undefined : holds(rskip297, height) ? 7200 : 300)
}

/**
 * How many times the block's minimum a gas price may be, by height (RSKIP-252,
 * docs/protocol.md#42-minimum-gas-price).
 */
export function gasPriceCapAt(name: ChainName): (height: number) => bigint | undefined {
  const { rskip252 } = HEIGHTS[name]
  return (height) => (holds(rskip252, height) ? 100n : undefined)
}

/** Rules of REMASC by height (docs/protocol.md#54-remasc-payout). */
export function remascRulesAt(
  name: ChainName,
): (height: number) => { readonly rskip85: boolean; readonly rskip218: boolean } {
  const { rskip85, rskip218 } = HEIGHTS[name]
  return (height) => ({ rskip85: holds(rskip85, height), rskip218: holds(rskip218, height) })
}
