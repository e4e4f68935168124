/** Runs seeds, each in a world of its own. */
import { createHash } from 'node:crypto'
import { simulateChain } from './chain.ts'
import { simulateRecovery, simulateReplication } from './replication.ts'
import { simulateStorage } from './storage.ts'
import { Violation, World } from './world.ts'

/** What is simulated, by name. */
export const SCENARIOS = {
  storage: simulateStorage,
  chain: simulateChain,
  replication: simulateReplication,
  recovery: simulateRecovery,
} as const

/** Name of a scenario. */
export type Scenario = keyof typeof SCENARIOS

/** What a seed led to. */
export interface Result {
  readonly seed: number
  readonly trace: readonly string[]
  /** SHA-256 of the trace. */
  readonly hash: string
  /** The invariant that does not hold, or the error that nobody expected. */
  readonly failure: unknown
}

/** Runs one seed of a scenario. */
export async function runSeed(scenario: Scenario, seed: number): Promise<Result> {
  const world = new World(seed)
  let failure: unknown
  const note = (error: unknown) => {
    failure ??= error
  }
  const listeners = process.listeners('unhandledRejection')
  process.removeAllListeners('unhandledRejection')
  process.on('unhandledRejection', note)
  try {
    await world.inhabit(() => SCENARIOS[scenario](world))
  } catch (error) {
    note(error)
  } finally {
    process.removeListener('unhandledRejection', note)
    for (const listener of listeners) process.on('unhandledRejection', listener)
  }
  if (failure !== undefined)
    world.note(`failure: ${failure instanceof Violation ? failure.message : failure}`)
  const hash = createHash('sha256').update(world.trace.join('\n')).digest('hex')
  return { seed, trace: world.trace, hash, failure }
}
