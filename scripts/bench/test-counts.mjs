/** How many tests passed and failed, as test runners print it. */

/** The counts that mocha, vitest, node:test and forge print. */
const COUNTS = [
  { passed: /(\d+) passing/g, failed: /(\d+) failing/g },
  { passed: /Tests\s.*?(\d+) passed/g, failed: /Tests\s.*?(\d+) failed/g },
  { passed: /^(?:#|ℹ) pass (\d+)/gm, failed: /^(?:#|ℹ) fail (\d+)/gm },
  { passed: /(\d+) (?:tests )?passed[;,]/g, failed: /[;,] (\d+) failed/g },
]

/** How many tests passed and failed, by the last counts that were printed. Throws where none were. */
export function countsIn(text) {
  const last = (pattern) => [...text.matchAll(pattern)].at(-1)?.[1]
  for (const { passed, failed } of COUNTS) {
    const [good, bad] = [last(passed), last(failed)]
    if (good !== undefined || bad !== undefined)
      return { passed: Number(good ?? 0), failed: Number(bad ?? 0) }
  }
  throw new Error(`the tests printed no counts:\n${text.slice(-2000)}`)
}
