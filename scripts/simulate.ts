/**
 * Runs the simulator of faults: `npm run simulate -- --seeds 10000` new seeds of each scenario, `-- --seed 7` one again,
 * with its events; `--scenario` selects one. Ends with 1 when a seed fails, and prints it. `-- --mutate all` plants known
 * faults, one after another, and reports how many seeds it takes to find each.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { MUTATIONS, seedsToFind } from '../test/simulation/mutations.ts'
import { runSeed, SCENARIOS, type Scenario } from '../test/simulation/run.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    scenario: { type: 'string' },
    mutate: { type: 'string' },
  },
})
const known = Object.keys(SCENARIOS) as Scenario[]
const scenarios = known.filter((name) => values.scenario === undefined || name === values.scenario)
if (scenarios.length === 0) throw new Error(`--scenario is one of ${known.join(', ')}`)

/** A run of seeds that follow each other; prints each that fails, and reports how many did. */
async function runMany(scenario: Scenario, count: number): Promise<number> {
  const first = randomInt(2 ** 31)
  const began = performance.now()
  let failed = 0
  for (let seed = first; seed < first + count; seed++) {
    const { failure } = await runSeed(scenario, seed)
    if (failure === undefined) continue
    failed++
    console.error(`${scenario}: seed ${seed}: ${failure}`)
    console.error(`  npm run simulate -- --scenario ${scenario} --seed ${seed}`)
  }
  const seconds = Math.round((performance.now() - began) / 1000)
  console.info(`${scenario}: seeds ${first} to ${first + count - 1}: ${failed} failed, ${seconds} s`)
  return failed
}

async function runOne(scenario: Scenario, seed: number): Promise<number> {
  const { trace, failure, hash } = await runSeed(scenario, seed)
  for (const line of trace) console.info(line)
  if (failure !== undefined) console.error(failure)
  console.info(`${scenario}: seed ${seed}: ${failure === undefined ? 'holds' : 'fails'}, trace ${hash}`)
  return failure === undefined ? 0 : 1
}

/** Plants faults; reports how many were not found. */
async function runMutated(names: readonly string[], most: number): Promise<number> {
  let missed = 0
  for (const name of names) {
    const count = await seedsToFind(name, randomInt(2 ** 31), most)
    if (count === undefined) missed++
    console.info(`${name}: ${count === undefined ? `not found by ${most} seeds` : `found by seed ${count}`}`)
  }
  return missed
}

let failed = 0
if (values.mutate !== undefined) {
  const names = Object.keys(MUTATIONS).filter((name) => values.mutate === 'all' || name === values.mutate)
  failed += await runMutated(names, Number(values.seeds ?? 400))
}
for (const scenario of values.mutate === undefined ? scenarios : []) {
  failed +=
    values.seed === undefined
      ? await runMany(scenario, Number(values.seeds ?? 1_000))
      : await runOne(scenario, Number(values.seed))
}
if (failed > 0) process.exitCode = 1
