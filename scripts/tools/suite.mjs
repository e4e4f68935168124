/** One suite of checks: what passed, what failed, and what the rules of the chain make fail. */

/** @typedef {{ title: string, error: string }} Failure */
/** @typedef {{ passed: string[], failed: Failure[], expected: string[], surprising: string[] }} Outcome */

/**
 * Sorts results by the titles that the chain's rules make fail.
 * @param {{ passed: string[], failed: Failure[] }} results
 * @param {readonly string[]} byRule titles that have to fail; one that passes is surprising
 * @returns {Outcome}
 */
export function outcomeOf({ passed, failed }, byRule = []) {
  const rules = new Set(byRule)
  const seen = new Set([...passed, ...failed.map(({ title }) => title)])
  return {
    passed: passed.filter((title) => !rules.has(title)),
    failed: failed.filter(({ title }) => !rules.has(title)),
    expected: failed.filter(({ title }) => rules.has(title)).map(({ title }) => title),
    surprising: [
      ...passed.filter((title) => rules.has(title)).map((title) => `${title}: passes, though listed to fail`),
      ...byRule
        .filter((title) => !seen.has(title))
        .map((title) => `${title}: listed to fail, and did not run`),
    ],
  }
}

/** The outcome of a suite that cannot run without something: it is skipped, and fails under `CI=true`. */
export function missing(what) {
  const surprising = process.env.CI ? [`${what} is missing`] : []
  return { passed: [], failed: [], expected: [], surprising, skipped: what }
}

/** Collects checks that run one after another. */
export function createChecks() {
  const passed = []
  const failed = []
  return {
    /** Runs one check; what it throws is its failure. */
    async check(title, run) {
      try {
        await run()
        passed.push(title)
      } catch (error) {
        failed.push({ title, error: error?.stack ?? String(error) })
      }
    },
    results: () => ({ passed, failed }),
  }
}
