/** The Bridge as it stands after a block, read without a call. */
import { isActive } from '../chain/activations.ts'
import { type ChainConfig, PRECOMPILE_ADDRESS } from '../chain/config.ts'
import type { Engine } from '../engine/engine.ts'
import { openBridge } from '../evm/precompiles/bridge/bridge.ts'
import { bridgeNetwork, bridgeRules } from '../evm/precompiles/bridge/constants/networks.ts'
import type { BridgeState } from '../evm/precompiles/bridge/method.ts'
import type { StateReader } from '../state/model.ts'
import { cellBytes } from '../state/state-keys.ts'

/** The Bridge in a state, as a transaction in the block of a height finds it. What its parts write is dropped. */
export function bridgeAt(
  state: StateReader,
  height: number,
  { network, ruleHeights, bridgeRelease }: Pick<ChainConfig, 'network' | 'ruleHeights' | 'bridgeRelease'>,
): BridgeState {
  const written = new Map<bigint, Uint8Array>()
  const bytes = (slot: bigint) => written.get(slot) ?? cellBytes(state.cell(PRECOMPILE_ADDRESS.bridge, slot))
  const storage = {
    get: (slot: bigint) => state.storage(PRECOMPILE_ADDRESS.bridge, slot),
    bytes,
    setBytes: (slot: bigint, value: Uint8Array) => void written.set(slot, value),
  }
  const rules = bridgeRules((rule) => isActive(ruleHeights, rule, height), bridgeRelease)
  return openBridge({ storage, number: height }, bridgeNetwork(network.bridge, bridgeRelease), rules)
}

/** The first block of the chain's own: what is below the fork point happened elsewhere. */
export function firstBlock({ fork }: Engine): number {
  return fork === undefined ? 0 : fork.remote.point.number + 1
}

/** Runs a read; on a fork again after what it lacked was fetched. */
export async function onDemand<T>({ fork }: Engine, read: () => T): Promise<T> {
  return fork === undefined ? read() : fork.demand.run(read)
}
