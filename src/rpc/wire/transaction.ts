/** Transactions on the wire (docs/internals/rpc-reference.md#62-transaction). */
import { z } from 'zod'
import { ZERO_ADDRESS } from '../../chain/account.ts'
import { REMASC_SENDER } from '../../chain/config.ts'
import type { Transaction } from '../../chain/transaction.ts'
import { type Hex, toHex, toQuantity } from '../../encoding/hex.ts'
import type { TransactionView } from '../../engine/model.ts'
import { AddressText, DataText, HashText, QuantityText } from './scalars.ts'

/** Key order is that of the reference node. `r` and `s` are quantities, `v` has at least two digits unless it is 0. */
export const TransactionObject = z.lazy(() =>
  z
    .strictObject({
      hash: HashText,
      nonce: QuantityText,
      blockHash: HashText.nullable(),
      blockNumber: QuantityText.nullable(),
      transactionIndex: QuantityText.nullable(),
      from: AddressText,
      to: AddressText.nullable(),
      gas: QuantityText,
      gasPrice: QuantityText,
      value: QuantityText,
      input: DataText,
      v: QuantityText,
      r: QuantityText,
      s: QuantityText,
      type: z.literal('0x0'),
    })
    .meta({ id: 'Transaction' }),
)

/** A transaction object. */
export type RpcTransaction = z.infer<typeof TransactionObject>

/** Where a mined transaction stands. */
export interface Place {
  readonly hash: Hex
  readonly number: number
  readonly index: number
}

/** A sender as 20 bytes: the REMASC transaction's sender, which is shorter, is shown as the zero address. */
export function toRpcSender(from: Hex): Hex {
  return from === REMASC_SENDER ? ZERO_ADDRESS : from
}

/** A transaction; without a place it is pending. */
export function toRpcTransaction(transaction: Transaction, place?: Place): RpcTransaction {
  return {
    hash: transaction.hash,
    nonce: toQuantity(transaction.nonce),
    blockHash: place === undefined ? null : place.hash,
    blockNumber: place === undefined ? null : toQuantity(place.number),
    transactionIndex: place === undefined ? null : toQuantity(place.index),
    from: toRpcSender(transaction.from),
    to: transaction.to,
    gas: toQuantity(transaction.gasLimit),
    gasPrice: toQuantity(transaction.gasPrice),
    value: toQuantity(transaction.value),
    input: toHex(transaction.data),
    v: toQuantity(transaction.v),
    r: toQuantity(transaction.r),
    s: toQuantity(transaction.s),
    type: '0x0',
  }
}

/** The JSON of `toRpcTransaction`, faster than building the object and serialising it. */
export function transactionText(transaction: Transaction, place?: Place): string {
  const { hash, nonce, from, to, gasLimit, gasPrice, value, data, v, r, s } = transaction
  const where =
    place === undefined
      ? '"blockHash":null,"blockNumber":null,"transactionIndex":null'
      : `"blockHash":"${place.hash}","blockNumber":"${toQuantity(place.number)}","transactionIndex":"${toQuantity(place.index)}"`
  return (
    `{"hash":"${hash}","nonce":"${toQuantity(nonce)}",${where},"from":"${toRpcSender(from)}",` +
    `"to":${to === null ? 'null' : `"${to}"`},"gas":"${toQuantity(gasLimit)}","gasPrice":"${toQuantity(gasPrice)}",` +
    `"value":"${toQuantity(value)}","input":"${toHex(data)}","v":"${toQuantity(v)}","r":"${toQuantity(r)}",` +
    `"s":"${toQuantity(s)}","type":"0x0"}`
  )
}

/** A transaction as a lookup found it. */
export function toRpcTransactionView({ transaction, block, index }: TransactionView): RpcTransaction {
  if (block === undefined || index === undefined) return toRpcTransaction(transaction)
  return toRpcTransaction(transaction, { hash: block.hash, number: block.block.header.number, index })
}
