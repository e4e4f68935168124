/** The constants of every network. */
import type { ChainName } from '../../../../chain/consensus-rules.ts'
import { MAINNET } from './mainnet.ts'
import type { BridgeNetwork } from './network.ts'
import { REGTEST } from './regtest.ts'
import { TESTNET } from './testnet.ts'

/** devnet has none in the reference node; here it has those of the local network. */
const NETWORKS: Readonly<Record<ChainName, BridgeNetwork>> = {
  regtest: REGTEST,
  devnet: { ...REGTEST, chain: 'devnet' },
  testnet: TESTNET,
  mainnet: MAINNET,
}

/** The Bridge's constants on a network. */
export function bridgeNetwork(chain: ChainName): BridgeNetwork {
  return NETWORKS[chain]
}
