/** The Bridge as it stands after a block, read without a call. */
import { isActive } from '../chain/activations.ts'
import { PRECOMPILE_ADDRESS } from '../chain/config.ts'
import { openBridge } from '../evm/precompiles/bridge/bridge.ts'
import { REGTEST } from '../evm/precompiles/bridge/constants/regtest.ts'
import type { BridgeState } from '../evm/precompiles/bridge/method.ts'
import type { StateReader } from '../state/model.ts'
import { cellBytes } from '../state/state-keys.ts'

/** Every rule of the local networks is in force at this height. */
const LATEST = Number.MAX_SAFE_INTEGER

/** The Bridge in a state, as a transaction in the block of a height finds it. What its parts write is dropped. */
export function bridgeAt(state: StateReader, height: number): BridgeState {
  const written = new Map<bigint, Uint8Array>()
  const bytes = (slot: bigint) => written.get(slot) ?? cellBytes(state.cell(PRECOMPILE_ADDRESS.bridge, slot))
  const storage = {
    get: (slot: bigint) => state.storage(PRECOMPILE_ADDRESS.bridge, slot),
    bytes,
    setBytes: (slot: bigint, value: Uint8Array) => void written.set(slot, value),
  }
  return openBridge({ storage, number: height }, REGTEST, (rule) => isActive('regtest', rule, LATEST))
}
