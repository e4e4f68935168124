import { createConfig, factory } from 'ponder'
import { parseAbi, parseAbiItem } from 'viem'

const { NODE, DATABASE, TOKENS, SENDER } = process.env as Record<string, `0x${string}`>

export default createConfig({
  database: { kind: 'pglite', directory: DATABASE },
  chains: { tandem: { id: 33, rpc: NODE, pollingInterval: 200, disableCache: true } },
  contracts: {
    Token: {
      chain: 'tandem',
      abi: parseAbi([
        'event Transfer(address indexed from, address indexed to, uint256 amount)',
        'function transfer(address to, uint256 amount)',
        'function balanceOf(address) view returns (uint256)',
      ]),
      address: factory({
        address: TOKENS,
        event: parseAbiItem('event Created(address indexed token)'),
        parameter: 'token',
      }),
      includeTransactionReceipts: true,
      includeCallTraces: true,
    },
  },
  accounts: { Sender: { chain: 'tandem', address: SENDER, includeTransactionReceipts: true } },
  blocks: { Block: { chain: 'tandem', interval: 1, startBlock: 1 } },
})
