/** The networks that are shipped (docs/internals/protocol.md#73-networks), and from which block each rule holds on them. */
import type { ChainName, RuleHeights } from './consensus-rules.ts'
import type { Network } from './network.ts'
import devnet from './networks/devnet.json' with { type: 'json' }
import mainnet from './networks/mainnet.json' with { type: 'json' }
import regtest from './networks/regtest.json' with { type: 'json' }
import testnet from './networks/testnet.json' with { type: 'json' }
import testnet2 from './networks/testnet2.json' with { type: 'json' }
import { readNetwork } from './read-network.ts'

const shipped = (json: { readonly name: string }): Network => readNetwork(json, `network ${json.name}`)

/** By name. */
export const NETWORKS: Readonly<Record<ChainName, Network>> = {
  regtest: shipped(regtest),
  devnet: shipped(devnet),
  testnet: shipped(testnet),
  testnet2: shipped(testnet2),
  mainnet: shipped(mainnet),
}

/** Is it the name of a shipped network? */
export function isShipped(name: string): name is ChainName {
  return Object.hasOwn(NETWORKS, name)
}

/** The heights of each network (docs/internals/protocol.md#75-activation). */
export const RULE_HEIGHTS: Readonly<Record<ChainName, RuleHeights>> = {
  regtest: NETWORKS.regtest.heights,
  devnet: NETWORKS.devnet.heights,
  testnet: NETWORKS.testnet.heights,
  testnet2: NETWORKS.testnet2.heights,
  mainnet: NETWORKS.mainnet.heights,
}
