/** A transaction or block that is not accepted. */

/** Why, in Bitcoin Core's words: `bad-txns-inputs-missingorspent`, and what it adds for people. */
export class RuleViolation extends Error {
  override readonly name = 'RuleViolation'
  readonly reason: string
  readonly detail: string

  constructor(reason: string, detail = '') {
    super(detail === '' ? reason : `${reason}, ${detail}`)
    this.reason = reason
    this.detail = detail
  }
}

/** Throws a `RuleViolation` unless the condition holds. */
export function requireRule(condition: boolean, reason: string, detail?: string): void {
  if (!condition) throw new RuleViolation(reason, detail)
}
