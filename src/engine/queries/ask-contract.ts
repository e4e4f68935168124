/** Questions to contracts, asked without a sender on the state of a block. */
import type { Hex } from '../../encoding/hex.ts'
import type { Vm } from '../../evm/rules.ts'
import { messageCall } from '../../execution/message-call.ts'
import type { ExecutionPlace } from '../../execution/overrides.ts'

/** A question: a contract and its input. */
export interface Question {
  readonly to: Hex
  readonly data: Uint8Array
  /** Gas that the answer may take. */
  readonly gas: bigint
}

/** The answer of a contract; `undefined` where the call fails. */
export async function askContract(
  vm: Vm,
  { state, env }: ExecutionPlace,
  { to, data, gas }: Question,
): Promise<Uint8Array | undefined> {
  const { failure, output } = await messageCall({ request: { to, data }, state, env, vm, gasCap: gas })
  return failure === undefined ? output : undefined
}
