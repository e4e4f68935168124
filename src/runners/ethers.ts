/** `tandem/ethers`: a provider and signers of ethers over a node in process. */
import {
  BrowserProvider,
  type Eip1193Provider,
  type JsonRpcError,
  type JsonRpcPayload,
  type JsonRpcSigner,
  Network,
} from 'ethers'
import type { Node } from '../node/node.ts'
import { prependStack, RpcError } from '../rpc/error-codes.ts'

export { type Revert, revertOf } from './revert-data.ts'

/** Milliseconds between two polls: the node is in this process. */
const POLLING_MS = 10

/** A provider and its signers. ethers decodes failures by the ABI of a contract; `revertOf` by those that the node knows. */
export interface EthersClients {
  readonly provider: BrowserProvider
  /** One for each account that the node signs for. */
  readonly signers: readonly JsonRpcSigner[]
}

/** The stacks of failed requests, by their parameters. */
type Stacks = WeakMap<object, NonNullable<RpcError['stackTrace']>>

/** A provider that puts the lines of contracts in front of the stacks of its errors. */
class ExplainingProvider extends BrowserProvider {
  readonly #stacks: Stacks

  constructor(node: Node, network: Network, options: ConstructorParameters<typeof BrowserProvider>[2]) {
    const stacks: Stacks = new WeakMap()
    const ethereum: Eip1193Provider = {
      async request(call) {
        try {
          return await node.request(call)
        } catch (error) {
          if (
            error instanceof RpcError &&
            error.stackTrace !== undefined &&
            typeof call.params === 'object'
          ) {
            stacks.set(call.params, error.stackTrace)
          }
          throw error
        }
      },
    }
    super(ethereum, network, options)
    this.#stacks = stacks
  }

  override getRpcError(payload: JsonRpcPayload, error: JsonRpcError): Error {
    const made = super.getRpcError(payload, error)
    const stack = this.#stacks.get(payload.params)
    if (stack !== undefined) prependStack(made, stack)
    return made
  }
}

/** Makes them. `provider.destroy()` ends the provider's polling. */
export async function createEthersClients(node: Node): Promise<EthersClients> {
  const staticNetwork = Network.from(node.engine.config.chainId)
  const options = { staticNetwork, cacheTimeout: -1, pollingInterval: POLLING_MS }
  const provider = new ExplainingProvider(node, staticNetwork, options)
  const signers = await Promise.all(node.engine.accounts.list().map((address) => provider.getSigner(address)))
  return { provider, signers }
}
