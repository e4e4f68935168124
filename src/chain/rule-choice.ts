/** Rules that a chain has other than its network: how users name them, and how they are kept with the chain. */
import {
  CONSENSUS_RULES,
  DRAFT_RULES,
  REQUIRED_RULES,
  RULE_NAMES,
  type RuleHeights,
  type RuleName,
  UPGRADES,
} from './consensus-rules.ts'
import type { Network } from './network.ts'
import { HIGHEST_RULE, nameIn, RuleChoiceError, requireNeeded, rulesOf, unknownName } from './rule-names.ts'
import type { RuleHeight, RuleTable } from './rule-table.ts'
import { RULE_HEIGHTS } from './shipped-networks.ts'

/** What users choose. */
export interface RuleChoice {
  /** The last upgrade (`vetiver900`), `next` for every rule that is known, or heights. */
  readonly rules?: string | RuleTable | undefined
  /** Rules or upgrades that hold, each with a height where it is not the first block: `rskip559@10`. */
  readonly activate?: readonly string[] | undefined
  /** Rules or upgrades that never hold. */
  readonly deactivate?: readonly string[] | undefined
}

/** Heights of rules that differ from those of the network; none for the network's own rules. */
export type RuleChanges = Readonly<Partial<Record<RuleName, RuleHeight>>>

/** A chain by its network and its rules. */
interface RulesOfChain {
  readonly network: Pick<Network, 'heights'>
  readonly ruleHeights: RuleHeights
}

/** In the place of an upgrade: all rules. */
const NEXT = 'next'

/**
 * The rules up to an upgrade, from where the local network has them; later ones never hold. `next` has the drafts too,
 * from the first block. On a fork, what holds in the upstream's blocks stays, and what they lack begins with the fork's
 * first own block, `first`.
 */
function heightsUpTo(name: string, own: RuleHeights, first: number): RuleHeights {
  const last = nameIn([...UPGRADES, NEXT], name)
  if (last === undefined) throw unknownName('rules', name, [...UPGRADES, NEXT])
  const present = last === NEXT ? UPGRADES : UPGRADES.slice(0, UPGRADES.indexOf(last) + 1)
  const heights = RULE_NAMES.map((rule) => {
    const [upgrade] = CONSENSUS_RULES[rule]
    const holds = upgrade === undefined ? last === NEXT : present.includes(upgrade)
    const was = own[rule] ?? HIGHEST_RULE
    if (was < first && (holds || upgrade === undefined)) return [rule, was]
    const local = DRAFT_RULES.includes(rule) ? 0 : RULE_HEIGHTS.regtest[rule]
    return [rule, holds && local !== undefined ? Math.max(local, first) : undefined]
  })
  return Object.fromEntries(heights)
}

/** A name and its height, `first` without one. */
function readActivation(text: string, first: number): readonly [name: string, height: number] {
  const [name = '', height, ...rest] = text.split('@')
  if (height === undefined) return [name, first]
  if (rest.length === 0 && /^\d{1,10}$/.test(height) && Number(height) <= HIGHEST_RULE)
    return [name, Number(height)]
  throw new RuleChoiceError(
    'activate',
    `${JSON.stringify(text.slice(0, 64))} is not a name, or a name, @ and a height.`,
  )
}

type Heights = Record<RuleName, number | undefined>

/** Activates a rule, and by then those that it needs. */
function activateRule(heights: Heights, rule: RuleName, height: number): void {
  heights[rule] = height
  for (const needed of REQUIRED_RULES[rule] ?? [])
    heights[needed] = Math.min(heights[needed] ?? height, height)
}

/** Deactivates a rule, and those that need it. */
function deactivateRule(heights: Heights, rule: RuleName): void {
  heights[rule] = undefined
  for (const other of RULE_NAMES) if (REQUIRED_RULES[other]?.includes(rule)) heights[other] = undefined
}

/**
 * The rules that were chosen for a chain. `first` is the first block that a change can hold in: 0, or the one after the
 * block that a fork starts from; `own` are the rules that are changed. A rule by its name
 * brings those that it needs, and takes those with it that need it. Throws a `RuleChoiceError` for a name that is not known,
 * with the nearest one, for heights at which a rule lacks one that it needs, and for a change of blocks that a fork has from
 * its upstream.
 */
export function chosenHeights(own: RuleHeights, choice: RuleChoice, first = 0): RuleHeights {
  const { rules, activate = [], deactivate = [] } = choice
  const heights: Heights = { ...(typeof rules === 'string' ? heightsUpTo(rules, own, first) : own) }
  if (typeof rules === 'object') {
    for (const [name, height] of Object.entries(rules)) {
      if (height !== null && height > HIGHEST_RULE) {
        throw new RuleChoiceError('rules', `${name}: ${height} is above ${HIGHEST_RULE}, the highest block.`)
      }
      for (const rule of rulesOf('rules', name)) heights[rule] = height ?? undefined
    }
  }
  for (const text of activate) {
    const [name, height] = readActivation(text, first)
    for (const rule of rulesOf('activate', name)) activateRule(heights, rule, height)
  }
  for (const name of deactivate) {
    for (const rule of rulesOf('deactivate', name)) deactivateRule(heights, rule)
  }
  requireNeeded(heights)
  if (first > 0) requireLater(own, heights, first)
  return RULE_NAMES.every((rule) => heights[rule] === own[rule]) ? own : heights
}

/** Throws a `RuleChoiceError` where a rule would change before a height. */
function requireLater(own: RuleHeights, heights: RuleHeights, first: number): void {
  for (const rule of RULE_NAMES) {
    const [was, is] = [own[rule] ?? HIGHEST_RULE, heights[rule] ?? HIGHEST_RULE]
    if (was === is || Math.min(was, is) >= first) continue
    throw new RuleChoiceError(
      'rules',
      `${rule} would change in a block of the upstream; on this fork rules can change from block ${first} on.`,
    )
  }
}

/** The changes of a chain's rules against those of its network. */
export function changesOf({ network: { heights: own }, ruleHeights }: RulesOfChain): RuleChanges {
  const changed = RULE_NAMES.filter((rule) => ruleHeights[rule] !== own[rule])
  return Object.fromEntries(changed.map((rule) => [rule, ruleHeights[rule] ?? null]))
}

/** `changesOf`, or `undefined` where nothing differs. */
export function changesIn(chain: RulesOfChain): RuleChanges | undefined {
  const changes = changesOf(chain)
  return Object.keys(changes).length === 0 ? undefined : changes
}

/** The rules of a network with changes, as `changesOf` states them. Throws a `RuleChoiceError` for an unknown rule. */
export function changedHeights({ heights }: Pick<Network, 'heights'>, changes: RuleTable = {}): RuleHeights {
  return chosenHeights(heights, { rules: changes })
}
