/** `tandem/viem`: clients of viem over a node in process. */
import {
  type Account,
  type Chain,
  type CustomTransport,
  createPublicClient,
  createTestClient,
  createWalletClient,
  custom,
  defineChain,
  type PublicClient,
  type TestClient,
  type WalletClient,
} from 'viem'
import type { Node } from '../node/node.ts'
import { EXECUTION_REVERTED, RpcError } from '../rpc/error-codes.ts'

export { type Revert, revertOf } from './revert-data.ts'

/** Milliseconds between two polls: the node is in this process. */
const POLLING_MS = 10

/** Clients of one node. viem decodes failures by the ABI of a call; `revertOf` by those that the node knows. */
export interface ViemClients {
  readonly chain: Chain
  readonly publicClient: PublicClient<CustomTransport, Chain>
  readonly testClient: TestClient<'anvil' | 'hardhat', CustomTransport, Chain>
  /** One for each account that the node signs for. */
  readonly walletClients: readonly WalletClient<CustomTransport, Chain, Account>[]
}

/** The node's requests, with viem's code on failures that carry data: the dialect of the node may have another. */
function requestsOf(node: Node): Node['request'] {
  return async (call) => {
    try {
      return await node.request(call)
    } catch (error) {
      if (!(error instanceof RpcError) || typeof error.data !== 'string') throw error
      const { message, data, stackTrace } = error
      throw new RpcError({ code: EXECUTION_REVERTED, message, data }, stackTrace)
    }
  }
}

/** Makes the clients. */
export function createViemClients(node: Node): ViemClients {
  const chain = defineChain({
    id: node.engine.config.chainId,
    name: 'Tandem',
    nativeCurrency: { name: 'Coin', symbol: 'COIN', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  })
  // A retry within this process would get the same answer, unless calls are disturbed.
  const retryCount = node.options.chaos === undefined ? 0 : 5
  const transport = custom({ request: requestsOf(node) }, { retryCount, retryDelay: POLLING_MS })
  const common = { chain, transport, pollingInterval: POLLING_MS, cacheTime: 0 }
  const mode = node.options.preset === 'hardhat' ? 'hardhat' : 'anvil'
  return {
    chain,
    publicClient: createPublicClient(common),
    testClient: createTestClient({ ...common, mode }),
    walletClients: node.engine.accounts
      .list()
      .map(
        (account): WalletClient<CustomTransport, Chain, Account> =>
          createWalletClient({ ...common, account }),
      ),
  }
}
