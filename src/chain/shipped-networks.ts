/** The networks that are shipped (docs/internals/protocol.md#73-networks), and from which block each rule holds on them. */
import { byChain, type ChainName } from './consensus-rules.ts'
import { type Network, type NetworkFile, networkFile } from './network.ts'
import devnet from './networks/devnet.json' with { type: 'json' }
import mainnet from './networks/mainnet.json' with { type: 'json' }
import regtest from './networks/regtest.json' with { type: 'json' }
import testnet from './networks/testnet.json' with { type: 'json' }
import testnet2 from './networks/testnet2.json' with { type: 'json' }
import { readNetwork } from './read-network.ts'

const FILES: Readonly<Record<ChainName, unknown>> = { regtest, devnet, testnet, testnet2, mainnet }

/** By name. */
export const NETWORKS = byChain((name) => readNetwork(FILES[name], `network ${name}`))

/** Is it the name of a shipped network? */
export function isShipped(name: string): name is ChainName {
  return Object.hasOwn(NETWORKS, name)
}

/** The definition to keep with a chain of a network; none for a shipped one, which its name tells. */
export function definitionOf(network: Network): NetworkFile | undefined {
  return isShipped(network.name) ? undefined : networkFile(network)
}

/** The heights of each network (docs/internals/protocol.md#75-activation). */
export const RULE_HEIGHTS = byChain((name) => NETWORKS[name].heights)
