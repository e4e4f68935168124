/** `tandem/ethers`: a provider and signers of ethers over a node in process. */
import { BrowserProvider, type JsonRpcSigner, Network } from 'ethers'
import type { Node } from '../node/node.ts'

export { type Revert, revertOf } from './revert-data.ts'

/** Milliseconds between two polls: the node is in this process. */
const POLLING_MS = 10

/** A provider and its signers. ethers decodes failures by the ABI of a contract; `revertOf` by those that the node knows. */
export interface EthersClients {
  readonly provider: BrowserProvider
  /** One for each account that the node signs for. */
  readonly signers: readonly JsonRpcSigner[]
}

/** Makes them. `provider.destroy()` ends the provider's polling. */
export async function createEthersClients(node: Node): Promise<EthersClients> {
  const staticNetwork = Network.from(node.engine.config.chainId)
  const options = { staticNetwork, cacheTimeout: -1, pollingInterval: POLLING_MS }
  const provider = new BrowserProvider(node, staticNetwork, options)
  const signers = await Promise.all(node.engine.accounts.list().map((address) => provider.getSigner(address)))
  return { provider, signers }
}
