/** Seeds of the simulator of faults; `npm run simulate` runs more. */
import { randomInt } from 'node:crypto'
import { expect, it } from 'vitest'
import { MUTATIONS, seedsToFind } from './mutations.ts'
import { runSeed, SCENARIOS, type Scenario } from './run.ts'

/** New seeds of each scenario in one run. */
const NEW_SEEDS: Readonly<Record<Scenario, number>> = {
  storage: 150,
  chain: 15,
  replication: 40,
  recovery: 20,
}

/** Seeds that have found a fault of the code. */
const ONCE_FAILED: readonly (readonly [Scenario, number])[] = [
  ['chain', 265_336_872],
  ['chain', 1_717_533_375],
  ['replication', 206_849_373],
  ['replication', 206_849_375],
  ['replication', 1_144_165_010],
  ['replication', 1_141_510_571],
  ['replication', 1_311_430_497],
  ['replication', 1_311_430_761],
  ['replication', 865_120_140],
  ['replication', 865_121_124],
  ['replication', 865_124_095],
  ['recovery', 783_453_642],
]

const scenarios = Object.keys(SCENARIOS) as Scenario[]

async function requireHolds(scenario: Scenario, seed: number): Promise<void> {
  const { failure } = await runSeed(scenario, seed)
  if (failure === undefined) return
  throw new Error(`npm run simulate -- --scenario ${scenario} --seed ${seed}`, { cause: failure })
}

it.each(scenarios)('%s holds under the faults of new seeds', async (scenario) => {
  const first = randomInt(2 ** 31)
  console.info(`${scenario}: ${NEW_SEEDS[scenario]} seeds from ${first} on`)
  for (let i = 0; i < NEW_SEEDS[scenario]; i++) await requireHolds(scenario, first + i)
})

it.each(ONCE_FAILED)('%s holds under the faults of seed %i, which once failed', requireHolds)

it.each(scenarios)('%s: a seed gives the same events each time', async (scenario) => {
  const seed = randomInt(2 ** 31)
  const [once, again] = [await runSeed(scenario, seed), await runSeed(scenario, seed)]
  expect(once.trace.length).toBeGreaterThan(20)
  expect(again.trace).toEqual(once.trace)
  const other = await runSeed(scenario, seed + 1)
  expect(other.hash).not.toBe(once.hash)
})

const planted = Object.entries(MUTATIONS).flatMap(([name, { suiteSeed }]) =>
  suiteSeed === undefined ? [] : [[name, suiteSeed] as const],
)

it.each(planted)('a node that %s is found from seed %i on', async (name, seed) => {
  expect(await seedsToFind(name, seed, 400)).toBeDefined()
})
