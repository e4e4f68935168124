/**
 * State of the bridge contract, without a call (docs/internals/rpc-reference.md#611-other-objects,
 * docs/internals/rpc-reference.md#72-chain).
 */
import { z } from 'zod'
import { parentChainHeight } from '../../../state/bridge-headers.ts'
import { releasesToSign } from '../../../state/bridge-releases.ts'
import { method } from '../../method.ts'

export const eth_bridgeState = method({
  name: 'eth_bridgeState',
  summary:
    'State of the bridge at the head: height of its parent-chain headers, and the transactions that made peg-outs that wait for signatures.',
  params: {},
  result: () =>
    z.strictObject({
      btcBlockchainBestChainHeight: z.int(),
      rskTxsWaitingForSignatures: z.array(z.string()),
    }),
  examples: [{ params: [], result: { btcBlockchainBestChainHeight: 0, rskTxsWaitingForSignatures: [] } }],
  async run(_, { engine }) {
    const state = await engine.queries.state({ tag: 'latest' })
    if (state === undefined) throw new Error('the head has no state')
    return {
      btcBlockchainBestChainHeight: parentChainHeight(state),
      rskTxsWaitingForSignatures: releasesToSign(state).map((hash) => hash.slice(2)),
    }
  },
})

/** The methods of this file, in the order of the document. */
export const BRIDGE_METHODS = [eth_bridgeState] as const
