/** The methods of the explorer Otterscan, API level 8: blocks, transactions and accounts as its pages show them. */

import { z } from 'zod'
import { EMPTY_CODE_HASH } from '../../chain/account.ts'
import { type Hex, toHex } from '../../encoding/hex.ts'
import { receiptAt } from '../../engine/queries/lookup.ts'
import type { CallFrame } from '../../evm/tracing/call-frame.ts'
import { timeLeft } from '../deadlines.ts'
import { type Context, method } from '../method.ts'
import { REPLAY_CHANGES, replayChanges, type SentChanges } from '../simulation-options.ts'
import { shownTransactions, toRpcBlock } from '../wire/block.ts'
import { type BlockArgument, NumberedBlock } from '../wire/block-reference.ts'
import {
  AccountTransactions,
  BlockDetails,
  BlockTransactions,
  ErigonHeader,
  InternalOperation,
  jsonInteger,
  TraceEntry,
  toBlockDetails,
  toErigonHeader,
  toInternalOperations,
  toTimedReceipt,
  toTraceEntries,
} from '../wire/otterscan.ts'
import { toRpcReceipt } from '../wire/receipt.ts'
import {
  Address,
  AddressText,
  BlockHash,
  DataText,
  HashText,
  Quantity,
  TransactionHash,
} from '../wire/scalars.ts'
import { ITEM_BYTES, replySize } from '../wire/trace/reply-size.ts'
import { toRpcTransaction } from '../wire/transaction.ts'
import { NOBODY } from './example-accounts.ts'

const UNKNOWN = `0x${'9'.repeat(64)}`
const API_LEVEL = 8
const MOST_TRANSACTIONS = 1000

const Height = jsonInteger('Height: JSON integer; 0 means no bound', 0, Number.MAX_SAFE_INTEGER)
const PageNumber = jsonInteger(
  'Page, counted from 0; page 0 is at the end of the block',
  0,
  Number.MAX_SAFE_INTEGER,
)
const PageSize = jsonInteger('Minimum number of transactions, if there are so many', 1, MOST_TRANSACTIONS)

export const erigon_getHeaderByNumber = method({
  name: 'erigon_getHeaderByNumber',
  summary: 'The header of a block; null when there is no such block.',
  params: { block: NumberedBlock },
  result: () => ErigonHeader.nullable(),
  examples: [{ params: [16777215], result: null }],
  async run({ block }, { engine }) {
    const view = await engine.queries.block(block.reference)
    return view === undefined ? null : toErigonHeader(view)
  },
})

export const ots_getApiLevel = method({
  name: 'ots_getApiLevel',
  summary: "Version of Otterscan's API.",
  params: {},
  result: () => z.int(),
  examples: [{ params: [], result: API_LEVEL }],
  run: () => API_LEVEL,
})

async function blockDetails(
  reference: BlockArgument['reference'],
  { engine, options }: Context,
): Promise<z.infer<typeof BlockDetails> | null> {
  const view = await engine.queries.block(reference)
  return view === undefined
    ? null
    : toBlockDetails(view, toRpcBlock(view, false, engine.config, options.hideRemasc))
}

export const ots_getBlockDetails = method({
  name: 'ots_getBlockDetails',
  summary: 'A block by number without its transactions, with their count and fees; null when unknown.',
  params: { block: NumberedBlock },
  result: () => BlockDetails.nullable(),
  examples: [{ params: [16777215], result: null }],
  run: ({ block }, context) => blockDetails(block.reference, context),
})

export const ots_getBlockDetailsByHash = method({
  name: 'ots_getBlockDetailsByHash',
  summary: 'A block by hash without its transactions, with their count and fees; null when unknown.',
  params: { blockHash: BlockHash },
  result: () => BlockDetails.nullable(),
  examples: [{ params: [UNKNOWN], result: null }],
  run: ({ blockHash }, context) => blockDetails({ hash: blockHash }, context),
})

export const ots_getBlockTransactions = method({
  name: 'ots_getBlockTransactions',
  summary:
    'A page of the transactions of a block and their receipts; page 0 holds the last ones. Null when the block is unknown.',
  params: { block: NumberedBlock, page: PageNumber, size: PageSize },
  result: () => BlockTransactions.nullable(),
  examples: [{ params: [16777215, 0, 25], result: null }],
  async run({ block, page, size }, { engine, options }) {
    const view = await engine.queries.block(block.reference)
    if (view === undefined) return null
    const { executed, pending } = view
    const { block: details } = toBlockDetails(
      view,
      toRpcBlock(view, false, engine.config, options.hideRemasc),
    )
    const { hash, block: shown } = executed
    const total = shownTransactions(shown, options.hideRemasc).length
    const end = Math.max(0, total - page * size)
    const places = shown.transactions
      .slice(Math.max(0, end - size), end)
      .map((transaction, at) => ({ transaction, index: Math.max(0, end - size) + at }))
    return {
      fullblock: {
        ...details,
        transactions: places.map(({ transaction, index }) =>
          pending
            ? toRpcTransaction(transaction)
            : toRpcTransaction(transaction, { hash, number: shown.header.number, index }),
        ),
      },
      receipts: places.flatMap(({ index }) => {
        const receipt = receiptAt(executed, index)
        return receipt === undefined ? [] : [{ ...toRpcReceipt(receipt), logs: null, logsBloom: null }]
      }),
    }
  },
})

async function accountTransactions(
  account: Hex,
  direction: 'before' | 'after',
  height: number,
  count: number,
  context: Context,
): Promise<z.infer<typeof AccountTransactions>> {
  const { engine, options } = context
  const { transactions, isFirst, isLast } = await engine.queries.accountTransactions({
    account,
    direction,
    height: height === 0 ? undefined : height,
    count,
    hideRemasc: options.hideRemasc,
  })
  const size = replySize(context)
  const views = transactions.flatMap(({ block, index }) => receiptAt(block, index) ?? [])
  for (const { transaction, receipt } of views) {
    size(ITEM_BYTES + transaction.data.length)
    for (const { data } of receipt.logs) size(ITEM_BYTES + data.length)
  }
  return {
    txs: views.map(({ transaction, block: { hash, block }, index }) =>
      toRpcTransaction(transaction, { hash, number: block.header.number, index }),
    ),
    receipts: views.map(toTimedReceipt),
    firstPage: isFirst,
    lastPage: isLast,
  }
}

const NOTHING = { txs: [], receipts: [], firstPage: true, lastPage: true }

export const ots_searchTransactionsBefore = method({
  name: 'ots_searchTransactionsBefore',
  summary:
    'Transactions that involve an account, also in inner calls, in complete blocks below a height, newest first.',
  params: { address: Address, height: Height, size: PageSize },
  result: () => AccountTransactions,
  examples: [{ params: [NOBODY, 0, 25], result: NOTHING }],
  run: ({ address, height, size }, context) => accountTransactions(address, 'before', height, size, context),
})

export const ots_searchTransactionsAfter = method({
  name: 'ots_searchTransactionsAfter',
  summary:
    'Transactions that involve an account, also in inner calls, in complete blocks above a height, newest first.',
  params: { address: Address, height: Height, size: PageSize },
  result: () => AccountTransactions,
  examples: [{ params: [NOBODY, 0, 25], result: NOTHING }],
  run: ({ address, height, size }, context) => accountTransactions(address, 'after', height, size, context),
})

export const ots_hasCode = method({
  name: 'ots_hasCode',
  summary: 'Whether an account has code at a block; false when there is no such block.',
  params: { address: Address, block: NumberedBlock },
  result: () => z.boolean(),
  examples: [{ params: [NOBODY, 'latest'], result: false }],
  async run({ address, block }, { engine }) {
    const account = (await engine.queries.state(block.reference))?.account(address)
    return account !== undefined && account.codeHash !== EMPTY_CODE_HASH
  },
})

export const ots_getTransactionBySenderAndNonce = method({
  name: 'ots_getTransactionBySenderAndNonce',
  summary: 'Hash of the mined transaction of a sender with a given nonce; null when there is none.',
  params: { sender: Address, nonce: Quantity },
  result: () => HashText.nullable(),
  examples: [{ params: [NOBODY, 0], result: null }],
  async run({ sender, nonce }, { engine }) {
    const mined = await engine.queries.transactionBySenderAndNonce(sender, nonce)
    return mined?.transaction.hash ?? null
  },
})

export const ots_getContractCreator = method({
  name: 'ots_getContractCreator',
  summary:
    'The transaction that created a contract, and the account or contract that created it; null for other accounts.',
  params: { address: Address },
  result: () => z.strictObject({ hash: HashText, creator: AddressText }).nullable(),
  examples: [{ params: [NOBODY], result: null }],
  async run({ address }, { engine }) {
    return (await engine.queries.contractOrigin(address)) ?? null
  },
})

/** The call tree of a mined transaction, which may have changes, checked to fit a reply; `undefined` when it is unknown or pending. */
async function callTree(hash: Hex, sent: SentChanges, context: Context): Promise<CallFrame | undefined> {
  const { queries } = context.engine
  const { transaction, block, index } = queries.transaction(hash) ?? {}
  const changes = replayChanges(sent, transaction, context)
  if (block === undefined || index === undefined) return undefined
  const { root } = await queries.trace(block, index, { changes, timeoutMs: timeLeft(context) })
  const size = replySize(context)
  function add({ input, output, calls }: CallFrame): void {
    size(ITEM_BYTES + input.length + output.length)
    for (const call of calls) add(call)
  }
  add(root)
  return root
}

export const ots_getTransactionError = method({
  name: 'ots_getTransactionError',
  heavy: true,
  summary: 'The output of a failed transaction; 0x for one that succeeded, null for an unknown one.',
  params: { transactionHash: TransactionHash },
  result: () => DataText.nullable(),
  errors: ['block-not-found'],
  examples: [{ params: [UNKNOWN], result: null }],
  async run({ transactionHash }, context) {
    const view = context.engine.queries.receipt(transactionHash)
    if (view === undefined) return null
    if (view.receipt.succeeded) return '0x'
    const root = await callTree(transactionHash, {}, context)
    return toHex(root?.output ?? new Uint8Array(0))
  },
})

export const ots_getInternalOperations = method({
  name: 'ots_getInternalOperations',
  heavy: true,
  summary: 'Transfers, creations and self-destructs in inner calls of a transaction, except reverted ones.',
  params: { transactionHash: TransactionHash, ...REPLAY_CHANGES },
  result: () => z.array(InternalOperation),
  errors: ['block-not-found', 'transaction-refused'],
  examples: [{ params: [UNKNOWN], result: [] }],
  async run({ transactionHash, ...sent }, context) {
    const root = await callTree(transactionHash, sent, context)
    return root === undefined ? [] : toInternalOperations(root)
  },
})

export const ots_traceTransaction = method({
  name: 'ots_traceTransaction',
  heavy: true,
  summary: 'The calls of a mined transaction as a list with depths; empty when it is unknown.',
  params: { transactionHash: TransactionHash, ...REPLAY_CHANGES },
  result: () => z.array(TraceEntry),
  errors: ['block-not-found', 'transaction-refused'],
  examples: [{ params: [UNKNOWN], result: [] }],
  async run({ transactionHash, ...sent }, context) {
    const root = await callTree(transactionHash, sent, context)
    return root === undefined ? [] : toTraceEntries(root)
  },
})

/** The methods of this file, in the order of the document. */
export const OTS_METHODS = [
  erigon_getHeaderByNumber,
  ots_getApiLevel,
  ots_getBlockDetails,
  ots_getBlockDetailsByHash,
  ots_getBlockTransactions,
  ots_searchTransactionsBefore,
  ots_searchTransactionsAfter,
  ots_hasCode,
  ots_getTransactionBySenderAndNonce,
  ots_getContractCreator,
  ots_getTransactionError,
  ots_getInternalOperations,
  ots_traceTransaction,
] as const
