/** The calls of JSON-RPC that do what a step does. */
import { entriesOf, type Hex } from '../format.ts'
import {
  type AccountOverrides,
  parametersOf,
  type Scenario,
  type ScenarioStep,
  type Warp,
} from './scenario.ts'

/** A call: its method and parameters. */
export type Call = readonly [method: string, params: readonly unknown[]]

/** The call of the whole simulation. */
export function simulationCall(scenario: Scenario): Call {
  return ['evm_simulate', parametersOf(scenario)]
}

/** The call that reads what the message of a step returns, with the overrides of its scenario. */
export function readingCall(scenario: Scenario, step: ScenarioStep): Call {
  const { block, transactionIndex, stateOverrides, blockOverrides } = scenario
  // Only a simulation runs at a place within a block.
  if (transactionIndex !== undefined) return simulationCall({ ...scenario, steps: [step] })
  const overrides = blockOverrides !== undefined ? [stateOverrides ?? {}, blockOverrides] : []
  const needed = stateOverrides !== undefined && overrides.length === 0 ? [stateOverrides] : overrides
  return ['eth_call', [step.call ?? step.send ?? {}, block, ...needed]]
}

function editsOf(address: Hex, account: AccountOverrides): Call[] {
  const { balance, nonce, code, state, stateDiff, variables, movePrecompileToAddress } = account
  if (state !== undefined)
    throw new Error('No method of the node empties the storage of an account: set single slots')
  if (movePrecompileToAddress !== undefined)
    throw new Error('Precompiled contracts move only in a simulation')
  return [
    ...(balance === undefined ? [] : [['hardhat_setBalance', [address, balance]] as const]),
    ...(nonce === undefined ? [] : [['hardhat_setNonce', [address, nonce]] as const]),
    ...(code === undefined ? [] : [['hardhat_setCode', [address, code]] as const]),
    ...entriesOf(stateDiff ?? {}).map(
      ([slot, word]): Call => ['hardhat_setStorageAt', [address, slot, word]],
    ),
    ...(variables === undefined ? [] : [['evm_setVariables', [address, variables]] as const]),
  ]
}

function moveOf({ seconds, blocks, time }: Warp): Call[] {
  return [
    ...(seconds === undefined ? [] : [['evm_increaseTime', [seconds]] as const]),
    ...(time === undefined ? [] : [['evm_setNextBlockTimestamp', [time]] as const]),
    ...(blocks === undefined ? [] : [['hardhat_mine', [blocks]] as const]),
  ]
}

/**
 * The calls that change the chain as a step does; none for one that only reads. Throws an Error in words for a change
 * that no method makes.
 */
export function changingCalls({ send, set, warp }: ScenarioStep): readonly Call[] {
  if (send !== undefined) return [['eth_sendTransaction', [send]]]
  if (set !== undefined) return entriesOf(set).flatMap(([address, account]) => editsOf(address, account))
  return warp === undefined ? [] : moveOf(warp)
}
