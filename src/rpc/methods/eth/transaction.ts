/** Methods that look up transactions and receipts (docs/internals/rpc-reference.md#76-blocks-and-transactions). */
import { z } from 'zod'
import type { ExecutedBlock } from '../../../chain/block.ts'
import type { Transaction } from '../../../chain/transaction.ts'
import { type Hex, toHex } from '../../../encoding/hex.ts'
import type { BlockView, ReceiptView } from '../../../engine/model.ts'
import { method } from '../../method.ts'
import { shownTransactions } from '../../wire/block.ts'
import { LookupBlock, StateBlock } from '../../wire/block-reference.ts'
import { ReceiptObject, toRpcReceipt } from '../../wire/receipt.ts'
import { Address, BlockHash, DataText, Index, Quantity, TransactionHash } from '../../wire/scalars.ts'
import {
  type RpcTransaction,
  TransactionObject,
  toRpcTransaction,
  toRpcTransactionView,
} from '../../wire/transaction.ts'

const UNKNOWN = `0x${'9'.repeat(64)}`

function transactionIn(
  view: BlockView | undefined,
  index: number,
  hideRemasc: boolean,
): RpcTransaction | null {
  const transaction = view && shownTransactions(view.executed.block, hideRemasc)[index]
  if (view === undefined || transaction === undefined) return null
  const { hash, block } = view.executed
  return toRpcTransaction(transaction, { hash, number: block.header.number, index })
}

function bytesOf(transaction: Transaction | undefined): Hex | null {
  return transaction === undefined ? null : toHex(transaction.raw)
}

function receiptsOf(block: ExecutedBlock, hideRemasc: boolean): ReceiptView[] {
  let firstLogIndex = 0
  return shownTransactions(block.block, hideRemasc).flatMap((transaction, index) => {
    const receipt = block.receipts[index]
    if (receipt === undefined) return []
    const view = { transaction, receipt, block, index, firstLogIndex }
    firstLogIndex += receipt.logs.length
    return [view]
  })
}

export const eth_getTransactionByHash = method({
  name: 'eth_getTransactionByHash',
  hosted: true,
  summary: 'A transaction of the canonical chain, or a runnable one of the pool; null when unknown.',
  params: { transactionHash: TransactionHash },
  result: () => TransactionObject.nullable(),
  examples: [{ params: [UNKNOWN], result: null }],
  run({ transactionHash }, { engine }) {
    const view = engine.queries.transaction(transactionHash)
    return view === undefined ? null : toRpcTransactionView(view)
  },
})

export const eth_getTransactionByBlockHashAndIndex = method({
  name: 'eth_getTransactionByBlockHashAndIndex',
  hosted: true,
  summary: 'A transaction by its block and position; null when there is none.',
  params: { blockHash: BlockHash, index: Index },
  result: () => TransactionObject.nullable(),
  examples: [{ params: [UNKNOWN, '0x0'], result: null }],
  async run({ blockHash, index }, { engine, options }) {
    return transactionIn(await engine.queries.block({ hash: blockHash }), index, options.hideRemasc)
  },
})

export const eth_getTransactionByBlockNumberAndIndex = method({
  name: 'eth_getTransactionByBlockNumberAndIndex',
  hosted: true,
  summary:
    'A transaction by its block and position; with `pending`, by its position among the runnable ones of the pool.',
  params: { block: LookupBlock, index: Index },
  result: () => TransactionObject.nullable(),
  examples: [{ params: ['pending', '0x0'], result: null }],
  async run({ block, index }, { engine, options }) {
    if ('tag' in block.reference && block.reference.tag === 'pending') {
      const transaction = engine.queries.pendingTransactionAt(index)
      return transaction === undefined ? null : toRpcTransaction(transaction)
    }
    return transactionIn(await engine.queries.block(block.reference), index, options.hideRemasc)
  },
})

export const eth_getRawTransactionByHash = method({
  name: 'eth_getRawTransactionByHash',
  summary:
    'RLP of a transaction of the canonical chain, or of a runnable one of the pool; null when unknown.',
  params: { transactionHash: TransactionHash },
  result: () => DataText.nullable(),
  examples: [{ params: [UNKNOWN], result: null }],
  run: ({ transactionHash }, { engine }) => bytesOf(engine.queries.transaction(transactionHash)?.transaction),
})

export const eth_getRawTransactionByBlockHashAndIndex = method({
  name: 'eth_getRawTransactionByBlockHashAndIndex',
  summary: 'RLP of a transaction by its block and position; null when there is none.',
  params: { blockHash: BlockHash, index: Index },
  result: () => DataText.nullable(),
  examples: [{ params: [UNKNOWN, '0x0'], result: null }],
  async run({ blockHash, index }, { engine, options }) {
    const view = await engine.queries.block({ hash: blockHash })
    return bytesOf(view && shownTransactions(view.executed.block, options.hideRemasc)[index])
  },
})

export const eth_getRawTransactionByBlockNumberAndIndex = method({
  name: 'eth_getRawTransactionByBlockNumberAndIndex',
  summary:
    'RLP of a transaction by its block and position; with `pending`, by its position among the runnable ones of the pool.',
  params: { block: LookupBlock, index: Index },
  result: () => DataText.nullable(),
  examples: [{ params: ['pending', '0x0'], result: null }],
  async run({ block, index }, { engine, options }) {
    if ('tag' in block.reference && block.reference.tag === 'pending') {
      return bytesOf(engine.queries.pendingTransactionAt(index))
    }
    const view = await engine.queries.block(block.reference)
    return bytesOf(view && shownTransactions(view.executed.block, options.hideRemasc)[index])
  },
})

export const eth_getTransactionReceipt = method({
  name: 'eth_getTransactionReceipt',
  hosted: true,
  summary:
    'The receipt of a mined transaction; null when it is pending, unknown or not on the canonical chain.',
  params: { transactionHash: TransactionHash },
  result: () => ReceiptObject.nullable(),
  examples: [{ params: [UNKNOWN], result: null }],
  run({ transactionHash }, { engine, options }) {
    const view = engine.queries.receipt(transactionHash)
    return view === undefined ? null : toRpcReceipt(view, options.dialect)
  },
})

export const eth_getBlockReceipts = method({
  name: 'eth_getBlockReceipts',
  summary: 'The receipts of all transactions of a block; null when it is unknown or pending.',
  params: { block: StateBlock },
  result: () => z.array(ReceiptObject).nullable(),
  examples: [
    { params: ['earliest'], result: [] },
    { params: ['0xffffff'], result: null },
  ],
  async run({ block }, { engine, options }) {
    const view = await engine.queries.block(block.reference)
    if (view === undefined || view.pending) return null
    return receiptsOf(view.executed, options.hideRemasc).map((receipt) =>
      toRpcReceipt(receipt, options.dialect),
    )
  },
})

export const eth_getTransactionBySenderAndNonce = method({
  name: 'eth_getTransactionBySenderAndNonce',
  summary:
    'The transaction of a sender with a given nonce, on the canonical chain or runnable in the pool; null when there is none.',
  params: { sender: Address, nonce: Quantity },
  result: () => TransactionObject.nullable(),
  examples: [{ params: ['0x00000000000000000000000000000000000dead1', '0x0'], result: null }],
  async run({ sender, nonce }, { engine: { queries } }) {
    const mined = await queries.transactionBySenderAndNonce(sender, nonce)
    if (mined !== undefined) return toRpcTransaction(mined.transaction, mined.place)
    const pooled = queries.pooledAt(sender, nonce)
    // The lookup by hash finds it only if it is runnable.
    const runnable = pooled && queries.transaction(pooled.hash)
    return runnable === undefined ? null : toRpcTransactionView(runnable)
  },
})

/** The methods of this file, in the order of the document. */
export const TRANSACTION_METHODS = [
  eth_getTransactionByHash,
  eth_getTransactionByBlockHashAndIndex,
  eth_getTransactionByBlockNumberAndIndex,
  eth_getRawTransactionByHash,
  eth_getRawTransactionByBlockHashAndIndex,
  eth_getRawTransactionByBlockNumberAndIndex,
  eth_getTransactionReceipt,
  eth_getBlockReceipts,
  eth_getTransactionBySenderAndNonce,
] as const
