/** Who shares the federation's part of a payout: the members of the federation that was active in the block that is paid. */
import { type IsActive, isActive } from '../../chain/activations.ts'
import { type ChainConfig, PRECOMPILE_ADDRESS } from '../../chain/config.ts'
import type { Hex } from '../../encoding/hex.ts'
import { bridgeNetwork } from '../../evm/precompiles/bridge/constants/networks.ts'
import { Federations } from '../../evm/precompiles/bridge/federation/federations.ts'
import { keyAddress } from '../../evm/precompiles/bridge/federation/members.ts'
import { FederationCells } from '../../evm/precompiles/bridge/storage/federation-cells.ts'
import { BridgeStore } from '../../evm/precompiles/bridge/storage/store.ts'
import type { StateReader } from '../../state/model.ts'
import { cellBytes } from '../../state/state-keys.ts'

/** Heights of the executing block, by whose rules and state the federation is read, and of the block that is paid. */
export interface PaidBlock {
  readonly config: Pick<ChainConfig, 'network' | 'ruleHeights'>
  readonly number: number
  readonly paidNumber: number
}

/** Their addresses, in the order of the members; `undefined` while the first federation is the only one. */
export function votedFederators(
  state: StateReader,
  { config, number, paidNumber }: PaidBlock,
): readonly Hex[] | undefined {
  const holds: IsActive = (rule) => isActive(config.ruleHeights, rule, number)
  const network = bridgeNetwork(config.network.bridge)
  const store = new BridgeStore({
    get: (slot) => state.storage(PRECOMPILE_ADDRESS.bridge, slot),
    bytes: (slot) => cellBytes(state.cell(PRECOMPILE_ADDRESS.bridge, slot)),
    setBytes: () => {},
  })
  const cells = new FederationCells(store, { network, isActive: holds })
  if (cells.newFederation.get() === undefined) return undefined
  const federations = new Federations({ cells, network, isActive: holds, number: paidNumber })
  return federations.active().members.map(([btc, rsk]) => keyAddress(holds('rskip415') ? rsk : btc))
}
