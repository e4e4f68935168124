/** The coins of the node itself: rewards of the blocks that it mines, sent on request. */
import { virtualSize } from '../bitcoin/chain/block.ts'
import { dustLimit, feeFor } from '../bitcoin/chain/policy.ts'
import { hash160 } from '../bitcoin/hash.ts'
import { outputScript } from '../bitcoin/output-script.ts'
import { publicKeyOf } from '../bitcoin/private-key.ts'
import { addressOf } from '../bitcoin/regtest-address.ts'
import { SIGHASH_ALL } from '../bitcoin/sighash.ts'
import { FINAL_SEQUENCE, type Output, type Transaction } from '../bitcoin/transaction.ts'
import { signerOf, signInput } from '../bitcoin/wallet/signing.ts'
import { EMPTY } from '../encoding/bytes.ts'
import { NodeError } from '../errors.ts'
import { secretOfName } from './members.ts'

/** The faucet's key, known to everyone: keccak-256 of `faucet`. */
const KEY = { secret: secretOfName('faucet'), isCompressed: true }
const SIGNER = signerOf([KEY], [])

/** The script that rewards pay to, of the kind of sender that the Bridge refunds. */
export const FAUCET_SCRIPT: Uint8Array = outputScript({
  kind: 'publicKeyHash',
  hash: hash160(publicKeyOf(KEY)),
})
/** Its address. */
export const FAUCET_ADDRESS: string = addressOf(FAUCET_SCRIPT) ?? ''

/** Satoshi for 1,000 virtual bytes. */
const FEE_RATE = 10_000n
/** Bytes that the signature and key of an input take. */
const UNLOCKING_BYTES = 107

/** An output of the faucet's that can be spent. */
export interface FaucetCoin {
  readonly output: Output
  /** Of the transaction, raw order. */
  readonly hash: Uint8Array
  readonly index: number
}

function build(coins: readonly FaucetCoin[], outputs: readonly Output[]): Transaction {
  const inputs = coins.map(({ hash, index }) => ({
    hash,
    index,
    script: EMPTY,
    sequence: FINAL_SEQUENCE,
    witness: [],
  }))
  return { version: 2, inputs, outputs, lockTime: 0 }
}

/** Adds change where it is worth an output. */
function withChange(coins: readonly FaucetCoin[], outputs: readonly Output[]): Transaction | undefined {
  const sum = coins.reduce((total, { output }) => total + output.value, 0n)
  const paid = outputs.reduce((total, { value }) => total + value, 0n)
  const change = { value: 0n, script: FAUCET_SCRIPT }
  const whole = build(coins, [...outputs, change])
  const fee = feeFor(virtualSize(whole) + coins.length * UNLOCKING_BYTES, FEE_RATE)
  const rest = sum - paid - fee
  if (rest < 0n) return undefined
  return rest < dustLimit(change)
    ? build(coins, outputs)
    : build(coins, [...outputs, { ...change, value: rest }])
}

/** A signed transaction with these outputs, paid by the faucet. Throws `transaction-refused` when it has too little. */
export async function pay(
  coins: AsyncIterable<FaucetCoin>,
  outputs: readonly Output[],
): Promise<Transaction> {
  const spent: FaucetCoin[] = []
  let transaction: Transaction | undefined
  for await (const coin of coins) {
    spent.push(coin)
    transaction = withChange(spent, outputs)
    if (transaction !== undefined) break
  }
  if (transaction === undefined) {
    throw new NodeError(
      'transaction-refused',
      'The faucet does not have as many coins: btc_mine mines blocks, whose rewards it can spend after 100 more.',
    )
  }
  return spent.reduce(
    (signed, { output }, index) => signInput(signed, index, output, SIGNER, SIGHASH_ALL),
    transaction,
  )
}
