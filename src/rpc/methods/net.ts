/** The `net_` methods: this node has no peers (docs/internals/rpc-reference.md#71-web3-net-rpc). */
import { z } from 'zod'
import { toQuantity } from '../../encoding/hex.ts'
import { method } from '../method.ts'
import { QuantityText } from '../wire/scalars.ts'

export const net_version = method({
  name: 'net_version',
  hosted: true,
  summary: 'Network id, in decimal; the same number as the chain id.',
  params: {},
  result: () => z.string(),
  examples: [{ params: [], result: '33' }],
  run: (_, { engine }) => String(engine.config.chainId),
})

export const net_listening = method({
  name: 'net_listening',
  summary:
    'Whether the node listens for peers. This node never does; with --dialect hardhat or anvil it answers true.',
  params: {},
  result: () => z.boolean(),
  examples: [{ params: [], result: false }],
  // web3.js checks with it whether the node is reachable; Hardhat and Anvil answer true.
  run: (_, { options }) => options.dialect !== 'rsk',
})

export const net_peerCount = method({
  name: 'net_peerCount',
  summary: 'Number of connected peers.',
  params: {},
  result: () => QuantityText,
  examples: [{ params: [], result: '0x0' }],
  run: () => toQuantity(0),
})

export const net_peerList = method({
  name: 'net_peerList',
  summary: 'The connected peers.',
  params: {},
  result: () => z.array(z.string()),
  examples: [{ params: [], result: [] }],
  run: () => [],
})

/** The methods of this file, in the order of the document. */
export const NET_METHODS = [net_version, net_listening, net_peerCount, net_peerList] as const
