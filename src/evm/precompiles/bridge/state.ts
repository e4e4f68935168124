/** The bridge's state, as RPC methods return it. */
import { PRECOMPILE_ADDRESS } from '../../../chain/config.ts'
import type { StateReader } from '../../../state/model.ts'
import { cellBytes } from '../../../state/state-keys.ts'
import { readBestHeader } from './header-chain.ts'

/** Height of the parent chain's best header in the Bridge's storage. */
export function parentChainHeight(state: StateReader): number {
  return readBestHeader({ bytes: (slot) => cellBytes(state.cell(PRECOMPILE_ADDRESS.bridge, slot)) }).height
}
