/** The bridge's state, as RPC methods return it. */
import { PRECOMPILE_ADDRESS } from '../../../chain/config.ts'
import type { StateReader } from '../../../state/model.ts'
import { HeaderChain } from './header-chain.ts'

/** Height of the best header of the parent chain that the bridge of this state knows. */
export function parentChainHeight(state: StateReader): number {
  const storage = {
    get: (slot: bigint) => state.storage(PRECOMPILE_ADDRESS.bridge, slot),
    set() {
      throw new Error('a state that is only read')
    },
  }
  return new HeaderChain(storage).best().height
}
