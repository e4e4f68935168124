/** Simulated steps as a caller sent them: checked, and run. */
import type { SequencePlace } from '../engine/queries/call-sequence.ts'
import type { SimulationStep, StepResult } from '../engine/queries/simulate-steps.ts'
import type { ValueOf } from './parameter.ts'
import {
  type PlacingContext,
  placedSimulation,
  requireIndexWithin,
  requireOwnChain,
  stateOverridesOf,
} from './simulation-options.ts'
import { sequenceHeight, simulatedRequest } from './typed-request.ts'
import type { BlockArgument } from './wire/block-reference.ts'
import { NO_OVERRIDES } from './wire/overrides.ts'
import type { StepSimulationObject } from './wire/steps.ts'

/** Steps, and what they start from, as sent. */
export type SentSteps = ValueOf<typeof StepSimulationObject>

function stepOf(
  { call, send, set, warp = {} }: SentSteps['steps'][number],
  { path, height }: { readonly path: string; readonly height: () => number },
  context: PlacingContext,
): SimulationStep {
  const message = call ?? send
  if (message !== undefined) {
    const kind = call === undefined ? 'send' : 'call'
    requireOwnChain(message, `${path}.${kind}`, context.engine.config)
    return { kind, request: simulatedRequest(message, context.engine, height, `${path}.${kind}`) }
  }
  if (set === undefined) return { kind: 'warp', warp }
  return { kind: 'set', overrides: stateOverridesOf(set, context, `${path}.set`) ?? new Map() }
}

/** Steps of a simulation, checked, and where they run. */
export interface PlacedSteps {
  readonly place: SequencePlace
  readonly steps: readonly SimulationStep[]
}

/** Checks the steps of a simulation on the state of a block. Throws `invalid-params` with the path of a member, below `simulation`. */
export async function placedSteps(
  { steps: sent, stateOverrides = NO_OVERRIDES, blockOverrides, transactionIndex }: SentSteps,
  block: BlockArgument,
  context: PlacingContext,
): Promise<PlacedSteps> {
  const placed = placedSimulation(
    { block, stateOverrides, blockOverrides },
    context,
    'simulation.stateOverrides',
  )
  const { reference, options } = placed
  let warped = 0
  const steps = sent.map((step, index) => {
    warped += step.warp?.blocks ?? 0
    const above = warped
    const height = () => sequenceHeight(placed, context.engine) + above
    return stepOf(step, { path: `simulation.steps[${index}]`, height }, context)
  })
  if (transactionIndex !== undefined) {
    await requireIndexWithin(transactionIndex, block, context, 'simulation.transactionIndex')
  }
  return { place: { reference, ...options, transactionCount: transactionIndex }, steps }
}

/** Runs the steps on the state of a block. Throws as `placedSteps` and `simulateSteps` do. */
export async function simulateSent(
  sent: SentSteps,
  block: BlockArgument,
  context: PlacingContext,
): Promise<readonly StepResult[]> {
  const { place, steps } = await placedSteps(sent, block, context)
  return context.engine.queries.simulateSteps(place, steps)
}
