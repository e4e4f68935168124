/** Simulated steps as a caller sent them: checked, and run. */
import type { SimulationStep, StepResult } from '../engine/queries/simulate-steps.ts'
import type { ValueOf } from './parameter.ts'
import {
  type PlacingContext,
  placedSimulation,
  requireIndexWithin,
  requireOwnChain,
  stateOverridesOf,
} from './simulation-options.ts'
import { simulatedRequest } from './typed-request.ts'
import type { BlockArgument } from './wire/block-reference.ts'
import { NO_OVERRIDES } from './wire/overrides.ts'
import type { StepSimulationObject } from './wire/steps.ts'

/** Steps, and what they start from, as sent. */
export type SentSteps = ValueOf<typeof StepSimulationObject>

function stepOf(
  { call, send, set, warp = {} }: SentSteps['steps'][number],
  path: string,
  context: PlacingContext,
): SimulationStep {
  const message = call ?? send
  if (message !== undefined) {
    const kind = call === undefined ? 'send' : 'call'
    requireOwnChain(message, `${path}.${kind}`, context.engine.config)
    return { kind, request: simulatedRequest(message, context.engine, `${path}.${kind}`) }
  }
  if (set === undefined) return { kind: 'warp', warp }
  return { kind: 'set', overrides: stateOverridesOf(set, context, `${path}.set`) ?? new Map() }
}

/**
 * Runs the steps on the state of a block. Throws `invalid-params` with the path of a member, below `simulation`, and as
 * `simulateSteps` does.
 */
export async function simulateSent(
  { steps: sent, stateOverrides = NO_OVERRIDES, blockOverrides, transactionIndex }: SentSteps,
  block: BlockArgument,
  context: PlacingContext,
): Promise<readonly StepResult[]> {
  const place = placedSimulation(
    { block, stateOverrides, blockOverrides },
    context,
    'simulation.stateOverrides',
  )
  const steps = sent.map((step, index) => stepOf(step, `simulation.steps[${index}]`, context))
  if (transactionIndex !== undefined) {
    await requireIndexWithin(transactionIndex, block, context, 'simulation.transactionIndex')
  }
  return context.engine.queries.simulateSteps(
    { reference: place.reference, ...place.options, transactionCount: transactionIndex },
    steps,
  )
}
