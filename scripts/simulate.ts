/**
 * Runs the simulator of faults: `npm run simulate -- --seeds 10000` new seeds of each scenario, `-- --seed 7` one again,
 * with its events; `--scenario` selects one, `--first` the first seed, so that two runs may share the work. Says every some
 * seconds, and when it is interrupted, how many seeds have run. Ends with 1 when a seed fails, and prints it.
 * `-- --mutate all` plants known faults, one after another, and reports how many seeds it takes to find each.
 */
import { randomInt } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { MUTATIONS, seedsToFind } from '../test/simulation/mutations.ts'
import { runSeed, SCENARIOS, type Scenario } from '../test/simulation/run.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    first: { type: 'string' },
    scenario: { type: 'string' },
    mutate: { type: 'string' },
  },
})
const known = Object.keys(SCENARIOS) as Scenario[]
const scenarios = known.filter((name) => values.scenario === undefined || name === values.scenario)
if (scenarios.length === 0) throw new Error(`--scenario is one of ${known.join(', ')}`)

/** The interval of progress reports. */
const PROGRESS_MS = 20_000

/** Was the run interrupted? */
let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isInterrupted = true))

/** A run of seeds that follow each other; prints each that fails and how far it is, and reports how many failed. */
async function runMany(scenario: Scenario, first: number, count: number): Promise<number> {
  const began = performance.now()
  let [done, failed, told] = [0, 0, began]
  const state = () => {
    const seconds = Math.round((performance.now() - began) / 1000)
    return `${done} of ${count} seeds from ${first} on, ${failed} failed, ${seconds} s`
  }
  console.info(`${scenario}: ${state()}`)
  while (done < count && !isInterrupted) {
    const seed = first + done
    const { failure } = await runSeed(scenario, seed)
    done++
    if (failure !== undefined) {
      failed++
      console.error(`${scenario}: seed ${seed}: ${failure}`)
      console.error(`  npm run simulate -- --scenario ${scenario} --seed ${seed}`)
    }
    // A seed may run without a turn of the event loop, in which signals arrive.
    await setImmediate()
    if (performance.now() < told + PROGRESS_MS) continue
    told = performance.now()
    console.info(`${scenario}: ${state()}`)
  }
  console.info(`${scenario}: ${isInterrupted ? 'interrupted' : 'done'}: ${state()}`)
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
    if (isInterrupted) break
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
  if (isInterrupted) break
  failed +=
    values.seed === undefined
      ? await runMany(scenario, Number(values.first ?? randomInt(2 ** 31)), Number(values.seeds ?? 1_000))
      : await runOne(scenario, Number(values.seed))
}
if (failed > 0) process.exitCode = 1
else if (isInterrupted) process.exitCode = 130
