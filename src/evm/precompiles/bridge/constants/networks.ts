/** The constants of every network. */
import type { IsActive } from '../../../../chain/activations.ts'
import type { ChainConfig } from '../../../../chain/config.ts'
import { BRIDGES, type BridgeName } from '../../../../chain/network.ts'
import { MAINNET } from './mainnet.ts'
import { type BridgeNetwork, FORMAT } from './network.ts'
import { REGTEST } from './regtest.ts'
import { TESTNET } from './testnet.ts'

/** Which Bridge a chain has. */
type BridgeVariant = NonNullable<ChainConfig['bridgeRelease']>

/** devnet has none in the reference node; here it has those of the local network. */
const NETWORKS: Readonly<Record<BridgeName, BridgeNetwork>> = {
  regtest: REGTEST,
  devnet: { ...REGTEST, chain: 'devnet' },
  testnet: TESTNET,
  mainnet: MAINNET,
}

/** The local network of VETIVER 9.0: its first federation has no emergency keys, and another contract governs the union bridge. */
function earlyRelease(network: BridgeNetwork): BridgeNetwork {
  const authorizer = '0x377e67e16c13994a4d44791daf0a4d4cac445783'
  return {
    ...network,
    genesisFederation: { ...network.genesisFederation, format: FORMAT.standard },
    senders: { ...network.senders, unionCapAuthorizer: authorizer, unionPermissionsAuthorizer: authorizer },
  }
}

const EARLY: ReadonlyMap<BridgeName, BridgeNetwork> = new Map(
  (['regtest', 'devnet'] as const).map((chain) => [chain, earlyRelease(NETWORKS[chain])]),
)

/** The constants of the local network, on another. */
const TAKEN: ReadonlyMap<BridgeName, BridgeNetwork> = new Map(
  BRIDGES.map((chain) => [chain, { ...REGTEST, chain }]),
)

/** The Bridge's constants on a network; only local ones differ by release. */
export function bridgeNetwork(chain: BridgeName, release: BridgeVariant = '9.1'): BridgeNetwork {
  if (release === 'takeover') return TAKEN.get(chain) ?? NETWORKS[chain]
  return (release === '9.0' ? EARLY.get(chain) : undefined) ?? NETWORKS[chain]
}

/** The rules as a release has them: 9.0 does not know RSKIP-559. */
export function bridgeRules(isActive: IsActive, release: BridgeVariant = '9.1'): IsActive {
  return release === '9.0' ? (rule) => rule !== 'rskip559' && isActive(rule) : isActive
}
