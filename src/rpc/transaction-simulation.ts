/** Transactions that are simulated one after another, for the methods of simulation services. */
import type { ExecutedStep } from '../engine/queries/simulate-steps.ts'
import type { Context } from './method.ts'
import { placedSimulation, requireOwnChain, type SentSimulation } from './simulation-options.ts'
import { sequenceHeight, simulatedRequest } from './typed-request.ts'
import type { CallArgument } from './wire/call.ts'

/** Maximum number of transactions per simulation: each adds a state overlay over the previous one. */
export const MOST_TRANSACTIONS = 100

/** The transactions of a list by their names. */
export function namedTransactions(calls: readonly CallArgument[]): ReadonlyMap<string, CallArgument> {
  return new Map(calls.map((call, index) => [`transactions[${index}]`, call]))
}

/** The only transaction of a call, by its name. */
export function onlyTransaction(call: CallArgument): ReadonlyMap<string, CallArgument> {
  return new Map([['transaction', call]])
}

/** Simulation services take gas 0 for no limit of the caller. */
export function withoutZeroGas({ gas, ...call }: CallArgument): CallArgument {
  return gas === undefined || gas === 0n ? call : { ...call, gas }
}

/**
 * What the transactions would do, by their names, each on the state that the previous one left. A nonce is not checked, and
 * without a gas price there is no fee. Throws `invalid-params` for one of another chain, and as `placedSimulation` does.
 */
export async function simulateTransactions(
  calls: ReadonlyMap<string, CallArgument>,
  sent: SentSimulation,
  context: Context,
): Promise<readonly ExecutedStep[]> {
  const place = placedSimulation(sent, context)
  const { reference, options } = place
  const height = () => sequenceHeight(place, context.engine)
  const steps = [...calls].map(([name, call]) => {
    requireOwnChain(call, name, context.engine.config)
    const request = simulatedRequest(withoutZeroGas(call), context.engine, height, name)
    return { kind: 'send', rules: 'message', request } as const
  })
  const done = await context.engine.queries.simulateSteps({ reference, ...options }, steps)
  return done.flatMap((step) => (step.kind === 'send' || step.kind === 'call' ? [step] : []))
}
