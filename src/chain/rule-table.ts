/** Heights of rules by name, as they are given, kept and shown. */

/** The first block of a rule; null: it never holds. */
export type RuleHeight = number | null

/** Heights by the name of a rule or an upgrade, which stands for its rules. */
export type RuleTable = Readonly<Record<string, RuleHeight>>

/** Changes in words; empty for none. */
export function describeChanges(changes: RuleTable): string {
  const words = Object.entries(changes).map(([rule, height]) =>
    height === null ? `${rule} never` : `${rule} from block ${height}`,
  )
  return words.join(', ')
}

/** Are two sets of changes the same? */
export function sameChanges(one: RuleTable, other: RuleTable): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}
