/** Steps that are done for real: transactions that are sent, and changes of state and clock. */
import { receiptOf, sendTransaction } from '../accounts.ts'
import { call } from '../client.ts'
import { grouped, toBigInt } from '../format.ts'
import { may } from '../store.ts'
import { changingCalls } from './calls.ts'
import type { Sent } from './page-state.ts'
import type { ScenarioStep } from './scenario.ts'

/** The first method that a step needs and that the caller may not use. */
function closedMethod(step: ScenarioStep): string | undefined {
  return changingCalls(step).find(([method]) => !may(method))?.[0]
}

/** Sends a step that is not a call. Throws an Error in words; the calls before the failed one have taken effect. */
export async function sendStep(step: ScenarioStep): Promise<Sent> {
  const closed = closedMethod(step)
  if (closed !== undefined) throw new Error(`The node does not let this caller use ${closed}`)
  if (step.send !== undefined) {
    const hash = await sendTransaction(step.send)
    const receipt = await receiptOf(hash)
    if (receipt === null) return { text: 'Waits in the pool:', hash, hasFailed: false }
    const gas = `${grouped(toBigInt(receipt.gasUsed))} gas`
    const hasFailed = receipt.status !== '0x1'
    return { text: hasFailed ? 'Failed on the chain:' : `Succeeded on the chain, ${gas}:`, hash, hasFailed }
  }
  const calls = changingCalls(step)
  for (const [method, params] of calls) await call(method, params)
  return { text: `Done on the chain: ${calls.map(([method]) => method).join(', ')}`, hasFailed: false }
}
