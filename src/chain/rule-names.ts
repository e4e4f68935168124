/** Rules and upgrades by the names that users give, and what of a choice of rules cannot be. */
import { editDistance } from '../encoding/edit-distance.ts'
import {
  CONSENSUS_RULES,
  REQUIRED_RULES,
  RULE_NAMES,
  type RuleHeights,
  type RuleName,
  UPGRADES,
  type Upgrade,
} from './consensus-rules.ts'

/** Highest block that a rule can begin at: numbers of headers have 4 bytes (RSKIP-110). */
export const HIGHEST_RULE = 2 ** 31 - 1

/** Why a choice cannot be made. */
export class RuleChoiceError extends Error {
  /** The part of the choice. */
  readonly option: 'rules' | 'activate' | 'deactivate'

  constructor(option: RuleChoiceError['option'], message: string) {
    super(message)
    this.option = option
  }
}

/** The refusal of a name, with the nearest of those that exist. */
export function unknownName(
  option: RuleChoiceError['option'],
  name: string,
  names: readonly string[],
): RuleChoiceError {
  const given = name.slice(0, 32)
  const [nearest] = names.toSorted((a, b) => editDistance(given, a) - editDistance(given, b))
  return new RuleChoiceError(
    option,
    `${JSON.stringify(given)} is no rule or upgrade that this version knows; the nearest is ${nearest}.`,
  )
}

/** The name that was meant, whatever its case. */
export function nameIn<Name extends string>(names: readonly Name[], given: string): Name | undefined {
  return names.find((name) => name.toLowerCase() === given.toLowerCase())
}

function broughtBy(upgrade: Upgrade): readonly RuleName[] {
  return RULE_NAMES.filter((rule) => CONSENSUS_RULES[rule][0] === upgrade)
}

/** The rules that a name stands for. Throws a `RuleChoiceError` for one that is not known. */
export function rulesOf(option: RuleChoiceError['option'], name: string): readonly RuleName[] {
  const rule = nameIn(RULE_NAMES, name)
  if (rule !== undefined) return [rule]
  const upgrade = nameIn(UPGRADES, name)
  if (upgrade !== undefined) return broughtBy(upgrade)
  throw unknownName(option, name, [...RULE_NAMES, ...UPGRADES])
}

/** Throws a `RuleChoiceError` where a rule holds before one that it needs. */
export function requireNeeded(heights: RuleHeights): void {
  for (const rule of RULE_NAMES) {
    const missing = REQUIRED_RULES[rule]?.find(
      (needed) => (heights[needed] ?? HIGHEST_RULE) > (heights[rule] ?? HIGHEST_RULE),
    )
    if (missing !== undefined) throw new RuleChoiceError('rules', `${rule} cannot hold without ${missing}.`)
  }
}
