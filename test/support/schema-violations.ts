/**
 * Answers of methods in this process that violate their schemas. It has a module of its own, because files share a
 * process and its modules, and the set-up file alone is evaluated again for each of them.
 */
const violations: string[] = []

export function addViolation(violation: string): void {
  violations.push(violation)
}

/** Returns the violations of this test and clears the list, so that they do not fail it. */
export function takeViolations(): string[] {
  return violations.splice(0)
}
