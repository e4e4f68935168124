/** Blocks out of an upstream's answers: what they carry has to have the roots of their header. */
import { cumulativeDifficulty, type ExecutedBlock, transactionsRoot, unclesHash } from '../../chain/block.ts'
import { logsBloom } from '../../chain/bloom.ts'
import type { ChainConfig } from '../../chain/config.ts'
import type { Header } from '../../chain/header.ts'
import { type Log, type Receipt, receiptsRoot } from '../../chain/receipt.ts'
import type { Transaction } from '../../chain/transaction.ts'
import { TYPE } from '../../chain/transaction-types.ts'
import type { WireBlock, WireLog, WireReceipt } from './wire.ts'
import { foreignTransaction, readTransaction } from './wire-transaction.ts'

/** The parts of a block, each as it was answered, the headers already read. */
export interface BlockAnswer {
  readonly fields: WireBlock
  readonly header: Header
  readonly uncles: readonly Header[]
  readonly receipts: readonly WireReceipt[]
}

/** A log without its place. */
export function logOf({ address, topics, data }: WireLog): Log {
  return { address, topics, data }
}

function receiptOf({ status, cumulativeGasUsed, gasUsed, logs }: WireReceipt, type: number): Receipt {
  const own = logs.map(logOf)
  return { succeeded: status, cumulativeGasUsed, gasUsed, logsBloom: logsBloom(own), logs: own, type }
}

function readTransactions({ fields, receipts }: BlockAnswer, config: ChainConfig, isSameFamily: boolean) {
  const found: Transaction[] = []
  for (const [index, wire] of fields.transactions.entries()) {
    const place = { height: fields.number, isLast: index === fields.transactions.length - 1, config }
    const transaction = isSameFamily
      ? readTransaction(wire, place)
      : foreignTransaction(wire, config.chainId, receipts[index]?.effectiveGasPrice)
    if (typeof transaction === 'string') return `transaction ${wire.hash} ${transaction}`
    found.push(transaction)
  }
  return found
}

/** Puts the parts together. A text is what is wrong. */
export function readBlock(
  answer: BlockAnswer,
  config: ChainConfig,
  isSameFamily: boolean,
): ExecutedBlock | string {
  const { fields, header, uncles } = answer
  const block = `block ${fields.number}`
  const transactions = readTransactions(answer, config, isSameFamily)
  if (typeof transactions === 'string') return `${transactions} in ${block}`
  const isInOrder = answer.receipts.every(
    ({ transactionHash, blockHash, transactionIndex }, index) =>
      transactionHash === transactions[index]?.hash &&
      blockHash === fields.hash &&
      transactionIndex === index,
  )
  if (!isInOrder || answer.receipts.length !== transactions.length) {
    return `the receipts of ${block} are not those of its transactions`
  }
  const receipts = answer.receipts.map((receipt, index) =>
    receiptOf(receipt, transactions[index]?.type ?? TYPE.legacy),
  )
  if (isSameFamily) {
    const rules = config.rulesAt(header.number)
    if (transactionsRoot(transactions, rules) !== header.transactionsRoot) {
      return `the transactions of ${block} have another root than its header`
    }
    if (receiptsRoot(receipts, rules) !== header.receiptsRoot) {
      return `the receipts of ${block} have another root than its header`
    }
    if (unclesHash(uncles, config) !== header.unclesHash) {
      return `the uncles of ${block} have another hash than its header`
    }
  }
  const own = { header, transactions, uncles }
  return {
    hash: fields.hash,
    block: own,
    receipts,
    totalDifficulty: fields.totalDifficulty ?? cumulativeDifficulty(own),
    postState: header.stateRoot,
  }
}
