/** Transactions as the pool's own methods show them (docs/internals/rpc-reference.md#715-txpool). */
import { z } from 'zod'
import type { Transaction } from '../../chain/transaction.ts'
import { fromBigIntSigned } from '../../encoding/bytes.ts'
import { type Hex, toHex, toQuantity } from '../../encoding/hex.ts'
import { AddressText, DataText, HashText, QuantityText } from './scalars.ts'

const NO_BLOCK: Hex = `0x${'0'.repeat(64)}`
/** The receiver that is shown for a creation. */
const NOBODY = '0x00'

/** Price and value are signed big-endian bytes here, not quantities: 128 is `0x0080`. */
export const PooledTransactionObject = z.lazy(() =>
  z
    .strictObject({
      blockHash: HashText,
      blockNumber: z.null(),
      transactionIndex: z.null(),
      from: AddressText,
      gas: QuantityText,
      gasPrice: DataText,
      hash: HashText,
      input: DataText,
      nonce: QuantityText,
      to: z.union([AddressText, z.literal(NOBODY)]),
      value: DataText,
    })
    .meta({ id: 'PooledTransaction' }),
)

/** A transaction that waits for a block. */
export function toPooledTransaction(transaction: Transaction): z.infer<typeof PooledTransactionObject> {
  return {
    blockHash: NO_BLOCK,
    blockNumber: null,
    transactionIndex: null,
    from: transaction.from,
    gas: toQuantity(transaction.gasLimit),
    gasPrice: toHex(fromBigIntSigned(transaction.gasPrice)),
    hash: transaction.hash,
    input: toHex(transaction.data),
    nonce: toQuantity(transaction.nonce),
    to: transaction.to ?? NOBODY,
    value: toHex(fromBigIntSigned(transaction.value)),
  }
}

/** The same in one line: receiver, then value, gas and price in decimal. */
export function toPooledLine({ to, value, gasLimit, gasPrice }: Transaction): string {
  return `${to?.slice(2) ?? ''}: ${value} wei + ${gasLimit} x ${gasPrice} gas`
}
