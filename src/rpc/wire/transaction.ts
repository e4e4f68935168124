/** Transactions on the wire (docs/internals/rpc-reference.md#62-transaction). */
import { z } from 'zod'
import { ZERO_ADDRESS } from '../../chain/account.ts'
import { REMASC_SENDER } from '../../chain/config.ts'
import type { Transaction } from '../../chain/transaction.ts'
import { TYPE, typeText } from '../../chain/transaction-types.ts'
import { type Hex, toHex, toQuantity } from '../../encoding/hex.ts'
import type { TransactionView } from '../../engine/model.ts'
import { AddressText, DataText, HashText, QuantityText } from './scalars.ts'

/**
 * The type of a transaction: 0x0, 0x1, 0x2, 0x4, or the prefix of one of the chain's namespace, such as 0x0203 (RSKIP-543). A
 * fork of another family's chain has that chain's types too, such as 0x3.
 */
export const TypeText = z
  .templateLiteral(['0x', z.string()])
  .refine((text) => /^0x([0-9a-f]|[1-7][0-9a-f]|02[0-7][0-9a-f])$/.test(text))

const AuthorizationObject = z.strictObject({
  chainId: QuantityText,
  address: AddressText,
  nonce: QuantityText,
  yParity: QuantityText,
  r: QuantityText,
  s: QuantityText,
})

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
      type: TypeText,
      chainId: QuantityText.optional().describe('of types 1, 2 and 4, as the members below'),
      accessList: z
        .array(z.strictObject({ address: AddressText, storageKeys: z.array(HashText) }))
        .optional(),
      yParity: QuantityText.optional(),
      maxFeePerGas: QuantityText.optional().describe('of types 2 and 4, as `maxPriorityFeePerGas`'),
      maxPriorityFeePerGas: QuantityText.optional(),
      authorizationList: z.array(AuthorizationObject).optional().describe('of type 4'),
      maxFeePerBlobGas: QuantityText.optional().describe('of type 3, on a fork, as `blobVersionedHashes`'),
      blobVersionedHashes: z.array(HashText).optional(),
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

/** The members of a typed transaction. */
function typedMembers({ chainId, v, typed }: Transaction): Partial<RpcTransaction> {
  if (typed === undefined) return {}
  const { accessList, maxFeePerGas, maxPriorityFeePerGas, authorizations, blobs } = typed
  return {
    chainId: toQuantity(chainId),
    accessList: accessList.map(({ address, storageKeys }) => ({ address, storageKeys: [...storageKeys] })),
    yParity: toQuantity(v),
    ...(maxFeePerGas !== undefined && { maxFeePerGas: toQuantity(maxFeePerGas) }),
    ...(maxPriorityFeePerGas !== undefined && { maxPriorityFeePerGas: toQuantity(maxPriorityFeePerGas) }),
    ...(authorizations && {
      authorizationList: authorizations.map(({ address, ...tuple }) => ({
        chainId: toQuantity(tuple.chainId),
        address,
        nonce: toQuantity(tuple.nonce),
        yParity: toQuantity(tuple.yParity),
        r: toQuantity(tuple.r),
        s: toQuantity(tuple.s),
      })),
    }),
    ...(blobs && {
      maxFeePerBlobGas: toQuantity(blobs.maxFeePerBlobGas),
      blobVersionedHashes: [...blobs.versionedHashes],
    }),
  }
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
    type: typeText(transaction.type),
    ...typedMembers(transaction),
  }
}

/** The JSON of `toRpcTransaction`, faster than building the object and serialising it. */
export function transactionText(transaction: Transaction, place?: Place): string {
  const { hash, nonce, from, to, gasLimit, gasPrice, value, data, v, r, s } = transaction
  if (transaction.type !== TYPE.legacy) return JSON.stringify(toRpcTransaction(transaction, place))
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
