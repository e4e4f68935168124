/** `btc_flyoverAddress` and `btc_proof`: what a test of a contract that registers flyover peg-ins needs. */
import { z } from 'zod'
import { method } from '../method.ts'
import { Address, DataText, HashText, Topic } from '../wire/scalars.ts'
import { BitcoinAddress, BitcoinHashText, pegOf } from './peg-values.ts'

export const btc_flyoverAddress = method({
  name: 'btc_flyoverAddress',
  summary:
    "The federation's Bitcoin address for a flyover peg-in (RSKIP-176), which commits to the hash of an agreement, the Bitcoin address of the user, the contract that calls the Bridge, and the Bitcoin address of the liquidity provider; with the hash of all that, and both addresses as `registerFastBridgeBtcTransaction` takes them.",
  params: { agreement: Topic, user: BitcoinAddress, contract: Address, provider: BitcoinAddress },
  result: () =>
    z.object({ address: z.string(), derivationHash: HashText, user: DataText, provider: DataText }),
  examples: [],
  run: async (agreement, context) => ({ ...(await pegOf(context).flyoverAddress(agreement)) }),
})

export const btc_proof = method({
  name: 'btc_proof',
  summary:
    'What proves a Bitcoin transaction to the Bridge: its bytes without witness, the height of its block, and a partial Merkle tree of that; null where it is in no block of the best chain.',
  params: { hash: BitcoinHashText },
  result: () => z.object({ transaction: DataText, height: z.int(), tree: DataText }).nullable(),
  examples: [],
  run: async ({ hash }, context) => {
    const proof = await pegOf(context).proof(hash)
    return proof === undefined ? null : { ...proof }
  },
})
