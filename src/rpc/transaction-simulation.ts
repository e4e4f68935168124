/** Transactions that are simulated one after another, for the methods of simulation services. */
import type { ExecutedStep } from '../engine/queries/simulate-steps.ts'
import type { Context } from './method.ts'
import { placedSimulation, type SentSimulation } from './simulation-options.ts'
import type { CallArgument } from './wire/call.ts'

/** Maximum number of transactions per simulation: each adds a state overlay over the previous one. */
export const MOST_TRANSACTIONS = 100

/** Simulation services take gas 0 for no limit of the caller. */
export function withoutZeroGas({ gas, ...call }: CallArgument): CallArgument {
  return gas === undefined || gas === 0n ? call : { ...call, gas }
}

/**
 * What the transactions would do, each on the state that the previous one left. A nonce is not checked, and without a gas
 * price there is no fee. Throws as `placedSimulation` does.
 */
export async function simulateTransactions(
  calls: readonly CallArgument[],
  sent: SentSimulation,
  context: Context,
): Promise<readonly ExecutedStep[]> {
  const { reference, options } = placedSimulation(sent, context)
  const steps = calls.map((call) => {
    return { kind: 'send', rules: 'message', request: withoutZeroGas(call) } as const
  })
  const done = await context.engine.queries.simulateSteps({ reference, ...options }, steps)
  return done.flatMap((step) => (step.kind === 'send' || step.kind === 'call' ? [step] : []))
}
