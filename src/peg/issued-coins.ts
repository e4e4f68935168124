/** Coins of a federation that a simulated Bitcoin chain begins with. */
import type { Bitcoin } from '../bitcoin/bitcoin.ts'
import { txid } from '../bitcoin/transaction.ts'
import { NodeError } from '../errors.ts'
import type { SpendableOutput } from '../evm/precompiles/bridge/storage/outputs.ts'
import { FAUCET_SCRIPT, pay } from './faucet.ts'
import { faucetCoins } from './simulated-bitcoin.ts'

/** Outputs of a transaction. */
const AT_ONCE = 500

/** Pays coins of these values (satoshi) to a script, each transaction in a block of its own. Throws `upstream` for more than the faucet has. */
export async function issueCoins(
  bitcoin: Bitcoin,
  values: readonly bigint[],
  script: Uint8Array,
): Promise<readonly SpendableOutput[]> {
  const issued: SpendableOutput[] = []
  for (let from = 0; from < values.length; from += AT_ONCE) {
    const outputs = values.slice(from, from + AT_ONCE).map((value) => ({ value, script }))
    const transaction = await pay(faucetCoins(bitcoin), outputs).catch((error: unknown) => {
      if (!(error instanceof NodeError)) throw error
      throw new NodeError(
        'upstream',
        `The simulated Bitcoin chain has fewer coins than the upstream's Bridge: ${error.message}`,
      )
    })
    const { chain } = bitcoin
    chain.submit(chain.assemble({ script: FAUCET_SCRIPT, transactions: { list: [transaction], fees: 0n } }))
    const hash = txid(transaction)
    const place = { hash, script, height: 0, isCoinbase: false }
    issued.push(...outputs.map(({ value }, index) => ({ ...place, index, value })))
  }
  return issued
}
