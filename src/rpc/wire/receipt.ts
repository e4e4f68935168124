/** Receipts on the wire (docs/internals/rpc-reference.md#63-receipt). */
import { z } from 'zod'
import { contractAddress } from '../../chain/transaction.ts'
import { typeText } from '../../chain/transaction-types.ts'
import { toHex, toQuantity } from '../../encoding/hex.ts'
import type { ReceiptView } from '../../engine/model.ts'
import type { Dialect } from '../dialects.ts'
import { ReceiptLogObject, showsTimestamps, toRpcReceiptLog } from './log.ts'
import { AddressText, BloomText, HashText, QuantityText } from './scalars.ts'
import { TypeText, toRpcSender } from './transaction.ts'

/** Key order is that of the reference node. */
export const ReceiptObject = z.lazy(() =>
  z
    .strictObject({
      transactionHash: HashText,
      transactionIndex: QuantityText,
      blockHash: HashText,
      blockNumber: QuantityText,
      cumulativeGasUsed: QuantityText,
      gasUsed: QuantityText,
      contractAddress: AddressText.nullable(),
      logs: z.array(ReceiptLogObject),
      from: AddressText,
      to: AddressText.nullable(),
      status: z.enum(['0x0', '0x1']),
      logsBloom: BloomText,
      type: TypeText,
      effectiveGasPrice: QuantityText,
    })
    .meta({ id: 'Receipt' }),
)

/** A receipt; every creation has a `contractAddress`, including one that failed. */
export function toRpcReceipt(view: ReceiptView, dialect: Dialect = 'rsk'): z.infer<typeof ReceiptObject> {
  const { transaction, receipt, block, index, firstLogIndex } = view
  const blockNumber = block.block.header.number
  const place = {
    blockHash: block.hash,
    blockNumber,
    transactionHash: transaction.hash,
    transactionIndex: index,
    blockTimestamp: showsTimestamps(dialect) ? block.block.header.timestamp : undefined,
  }
  return {
    transactionHash: transaction.hash,
    transactionIndex: toQuantity(index),
    blockHash: block.hash,
    blockNumber: toQuantity(blockNumber),
    cumulativeGasUsed: toQuantity(receipt.cumulativeGasUsed),
    gasUsed: toQuantity(receipt.gasUsed),
    contractAddress: transaction.to === null ? contractAddress(transaction.from, transaction.nonce) : null,
    logs: receipt.logs.map((log, i) => toRpcReceiptLog(log, { ...place, logIndex: firstLogIndex + i })),
    from: toRpcSender(transaction.from),
    to: transaction.to,
    status: receipt.succeeded ? '0x1' : '0x0',
    logsBloom: toHex(receipt.logsBloom),
    type: typeText(transaction.type),
    effectiveGasPrice: toQuantity(transaction.gasPrice),
  }
}
