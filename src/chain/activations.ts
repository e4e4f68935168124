/** From which height each rule holds on each network (docs/internals/protocol.md#75-activation). */
import { RULE_NAMES, type RuleHeights, type RuleName } from './consensus-rules.ts'

export type { ChainName, RuleHeights, RuleName } from './consensus-rules.ts'

/**
 * Which rules hold at a height (docs/internals/protocol.md#11-versions, docs/internals/protocol.md#14-encodings,
 * docs/internals/protocol.md#15-hashes, docs/internals/protocol.md#31-difficulty, docs/internals/protocol.md#52-parallel-sublists).
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
  /** RSKIP-126: roots are those of the unified trie; before, of tries in the older format. */
  readonly unifiedTrie: boolean
  /** RSKIP-144 and 351: parallel execution sublists and their limits. */
  readonly parallelSublists: boolean
  /** RSKIP-543: transactions of other types than the legacy one. */
  readonly typedTransactions: boolean
  /** RSKIP-546: blocks are shown with a base fee, which is zero. */
  readonly zeroBaseFee: boolean
}

/** The roots' format since RSKIP-126. */
export const UNIFIED: Pick<Rules, 'unifiedTrie'> = { unifiedTrie: true }

/** Does a rule hold? */
export type IsActive = (rule: RuleName) => boolean

/** Fork detection data needs this many headers below a block, whatever the rules say (docs/internals/protocol.md#15-hashes). */
export const FORK_DETECTION_HEADERS = 449

/** Does a rule hold in the block of this height? */
export function isActive(heights: RuleHeights, rule: RuleName, height: number): boolean {
  const from = heights[rule]
  return from !== undefined && height >= from
}

/** The rules that begin to hold in exactly this block. */
export function activatingRules(heights: RuleHeights, height: number): readonly RuleName[] {
  return activatingByHeight(heights).get(height) ?? []
}

const activating = new WeakMap<RuleHeights, ReadonlyMap<number, readonly RuleName[]>>()

function activatingByHeight(heights: RuleHeights): ReadonlyMap<number, readonly RuleName[]> {
  let known = activating.get(heights)
  if (known === undefined) {
    const byHeight = new Map<number, RuleName[]>()
    for (const rule of RULE_NAMES) {
      const height = heights[rule]
      if (height !== undefined) byHeight.set(height, [...(byHeight.get(height) ?? []), rule])
    }
    activating.set(heights, byHeight)
    known = byHeight
  }
  return known
}

/**
 * A lookup by height of what depends on the rules, with one shared record for each range of heights without a change.
 * `also` are further heights at which the record changes.
 */
export function byStretch<T>(
  heights: RuleHeights,
  make: (isActive: IsActive, from: number) => T,
  also: readonly number[] = [],
): (height: number) => T {
  const starts = [...new Set([0, ...activatingByHeight(heights).keys(), ...also])].sort((a, b) => b - a)
  const stretches = starts.map((from) => ({
    from,
    made: make((rule) => isActive(heights, rule, from), from),
  }))
  const first = (stretches.at(-1) as { made: T }).made
  return (height) => {
    for (const { from, made } of stretches) if (height >= from) return made
    return first
  }
}

/** The rules of headers, roots and lists by height. */
export function rulesAt(heights: RuleHeights): (height: number) => Rules {
  const make = (holds: IsActive, from: number): Rules => {
    const extended = holds('rskip351') && holds('rskip144')
    return {
      headerVersion: !holds('rskip351') ? 0 : holds('rskip535') ? 2 : 1,
      rskip92: holds('rskip92'),
      rskip97: holds('rskip97'),
      umm: holds('rskipUMM'),
      forkDetection: holds('rskip110') && from >= FORK_DETECTION_HEADERS,
      unifiedTrie: holds('rskip126'),
      parallelSublists: extended,
      typedTransactions: holds('rskip543'),
      zeroBaseFee: holds('rskip546'),
    }
  }
  return byStretch(heights, make, [FORK_DETECTION_HEADERS])
}

/** One value before a rule's height, another from it on; the same at all heights without a value `since` the rule. */
export function valueByRule<T>(
  heights: RuleHeights,
  rule: RuleName,
  before: T,
  since: T = before,
): (height: number) => T {
  return (height) => (isActive(heights, rule, height) ? since : before)
}

/**
 * How many times the block's minimum a gas price may be, by height (RSKIP-252,
 * docs/internals/protocol.md#42-minimum-gas-price).
 */
export function gasPriceCapAt(heights: RuleHeights): (height: number) => bigint | undefined {
  return (height) => (isActive(heights, 'rskip252', height) ? 100n : undefined)
}

/** Rules of REMASC by height (docs/internals/protocol.md#54-remasc-payout). */
export function remascRulesAt(
  heights: RuleHeights,
): (height: number) => { readonly rskip85: boolean; readonly rskip218: boolean } {
  return byStretch(heights, (holds) => ({ rskip85: holds('rskip85'), rskip218: holds('rskip218') }))
}
