/**
 * The `txpool_` methods: the transactions of the pool, runnable (pending) or behind a nonce gap (queued)
 * (docs/internals/rpc-reference.md#715-txpool).
 */
import { z } from 'zod'
import type { Transaction } from '../../chain/transaction.ts'
import { toQuantity } from '../../encoding/hex.ts'
import type { Queries } from '../../engine/engine.ts'
import { method } from '../method.ts'
import { PooledTransactionObject, toPooledLine, toPooledTransaction } from '../wire/pooled-transaction.ts'
import { Address, QuantityText } from '../wire/scalars.ts'
import { TransactionObject, toRpcTransaction } from '../wire/transaction.ts'
import { COW } from './example-accounts.ts'

/** By sender (40 digits without 0x), then by nonce in decimal; each nonce has one entry. */
type BySender<T> = Record<string, Record<string, T[]>>

const Sender = z.string().regex(/^[0-9a-f]{40}$/)
const Count = z.union([z.int(), QuantityText])
const Nonce = z.string().regex(/^\d+$/)

function bySender<T extends z.ZodType>(entry: T) {
  return z.record(Sender, z.record(Nonce, z.array(entry)))
}

function grouped<T>(
  transactions: readonly Transaction[],
  show: (transaction: Transaction) => T,
): BySender<T> {
  const groups: BySender<T> = {}
  for (const transaction of transactions) {
    const sender = transaction.from.slice(2)
    groups[sender] ??= {}
    groups[sender][String(transaction.nonce)] = [show(transaction)]
  }
  return groups
}

function wholePool<T>({ pendingTransactions, queuedTransactions }: Queries, show: (t: Transaction) => T) {
  return { pending: grouped(pendingTransactions(), show), queued: grouped(queuedTransactions(), show) }
}

export const txpool_content = method({
  name: 'txpool_content',
  summary: 'The transactions of the pool, by sender and nonce.',
  params: {},
  result: () =>
    z.strictObject({
      pending: bySender(PooledTransactionObject),
      queued: bySender(PooledTransactionObject),
    }),
  examples: [{ params: [], result: { pending: {}, queued: {} } }],
  run: (_, { engine }) => wholePool(engine.queries, toPooledTransaction),
})

export const txpool_inspect = method({
  name: 'txpool_inspect',
  summary: 'The transactions of the pool, one line each, by sender and nonce.',
  params: {},
  result: () => z.strictObject({ pending: bySender(z.string()), queued: bySender(z.string()) }),
  examples: [{ params: [], result: { pending: {}, queued: {} } }],
  run: (_, { engine }) => wholePool(engine.queries, toPooledLine),
})

export const txpool_status = method({
  name: 'txpool_status',
  summary:
    'Number of pooled transactions that are runnable, and that wait for an earlier nonce; JSON integers, with --dialect hardhat or anvil quantities.',
  params: {},
  result: () => z.strictObject({ pending: Count, queued: Count }),
  examples: [{ params: [], result: { pending: 0, queued: 0 } }],
  run(_, { engine, options }) {
    const { pending, queued } = engine.queries.poolSize()
    if (options.dialect === 'rsk') return { pending, queued }
    return { pending: toQuantity(pending), queued: toQuantity(queued) }
  },
})

export const txpool_contentFrom = method({
  name: 'txpool_contentFrom',
  summary:
    "The pooled transactions of one sender by nonce, as transaction objects, in geth's form; the reference node has no such method.",
  params: { address: Address },
  result: () =>
    z.strictObject({
      pending: z.record(Nonce, TransactionObject),
      queued: z.record(Nonce, TransactionObject),
    }),
  examples: [{ params: [COW], result: { pending: {}, queued: {} } }],
  run({ address }, { engine: { queries } }) {
    const ofSender = (transactions: readonly Transaction[]) =>
      Object.fromEntries(
        transactions.map((transaction) => [String(transaction.nonce), toRpcTransaction(transaction)]),
      )
    const { pending, queued } = queries.pooledOf(address)
    return { pending: ofSender(pending), queued: ofSender(queued) }
  },
})

/** The methods of this file, in the order of the document. */
export const TXPOOL_METHODS = [txpool_content, txpool_inspect, txpool_status, txpool_contentFrom] as const
