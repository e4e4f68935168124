/** Methods that send a transaction and wait for its receipt (EIP-7966). */
import type { Hex } from '../../../encoding/hex.ts'
import type { Submitted } from '../../../engine/model.ts'
import { NodeError } from '../../../errors.ts'
import { timeLeft } from '../../deadlines.ts'
import { type Context, method } from '../../method.ts'
import { mapped, optional, orNull, type Parameter } from '../../parameter.ts'
import { completeRequest } from '../../signing.ts'
import { PricedCallObject } from '../../wire/call.ts'
import { ReceiptObject, toRpcReceipt } from '../../wire/receipt.ts'
import { Data, wholeNumber } from '../../wire/scalars.ts'
import { COW, COW1 } from '../example-accounts.ts'
import { readSigned, refuseTyped } from './submit.ts'

/** Maximum and default wait in milliseconds; the time limit of the call may end it earlier. */
const LONGEST_WAIT_MS = 30_000
/** How many milliseconds before the call's time limit the wait ends, so that the answer can still contain the hash. */
const MARGIN_MS = 100

/** Milliseconds; null and 0 mean the default wait, and a longer one is cut to the maximum. */
const Timeout: Parameter<number> = mapped(
  orNull(wholeNumber('milliseconds; 0: as long as the node allows', Number.MAX_SAFE_INTEGER), 0),
  (given) => (given === 0 ? LONGEST_WAIT_MS : Math.min(given, LONGEST_WAIT_MS)),
)

/** The receipt of a submitted transaction, once a block has it. Throws `not-runnable`, `receipt-timeout`. */
async function receiptOf({ hash, mined }: Submitted, timeoutMs: number, context: Context) {
  const { dialect } = context.options
  if (mined !== undefined) return toRpcReceipt(mined.view, dialect)
  const { queries, events } = context.engine
  if (queries.transaction(hash) === undefined) {
    throw new NodeError(
      'not-runnable',
      'The transaction was added to the pool and waits for an earlier nonce of its sender.',
      hash,
    )
  }
  const left = timeLeft(context)
  const waitMs = left === 0 ? timeoutMs : Math.max(1, Math.min(timeoutMs, left - MARGIN_MS))
  await changeWithin(waitMs, (done) => {
    const check = () => queries.receipt(hash) !== undefined && done()
    // A block may have taken it since it was submitted.
    check()
    return events.on('chain', check)
  })
  const view = queries.receipt(hash)
  if (view !== undefined) return toRpcReceipt(view, dialect)
  throw timedOut(hash, waitMs)
}

function timedOut(hash: Hex, waitMs: number): NodeError {
  const words = `The transaction was added to the pool but wasn't mined in ${waitMs} ms.`
  return new NodeError('receipt-timeout', words, hash)
}

/** Resolves when `watch` calls `done`, or after the time; `watch` returns a function that stops it. */
async function changeWithin(waitMs: number, watch: (done: () => void) => () => void): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  let stop: (() => void) | undefined
  try {
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs)
      stop = watch(resolve)
    })
  } finally {
    clearTimeout(timer)
    stop?.()
  }
}

const RECEIPT = {
  transactionHash: '0x8a6f66e7e1c0edaa6eafc05bc22f8f3161efefb98e2dae4f638aeb764011674c',
  transactionIndex: '0x0',
  blockHash: '0x2f2d9e3f3b4f4e0c2d8fdfb1dd2d8f5f0f4a9f4d3f3e8a1e9e6a3a7b5d0c1e2f',
  blockNumber: '0x1',
  cumulativeGasUsed: '0x5208',
  gasUsed: '0x5208',
  contractAddress: null,
  logs: [],
  from: COW,
  to: COW1,
  status: '0x1',
  logsBloom: `0x${'0'.repeat(512)}`,
  type: '0x0',
  effectiveGasPrice: '0x1',
}

export const eth_sendRawTransactionSync = method({
  name: 'eth_sendRawTransactionSync',
  changesState: true,
  counts: 'validTransactions',
  summary:
    'Sends a signed transaction and returns its receipt once it is mined, whether it succeeded or failed; after the timeout, an error with its hash (EIP-7966).',
  params: { transaction: Data, timeout: optional(Timeout, null) },
  result: () => ReceiptObject,
  errors: ['transaction-refused', 'not-mined', 'mining-refused', 'receipt-timeout', 'not-runnable'],
  examples: [
    {
      params: [
        '0xf85f8001825208947986b3df570230288501eea3d890bd66948c9b79018065a0ed009c50edd6adf86011e28200b5a16eb58f9515c71727eb6500df52ea93f01ba05ef1c506a89b2d519fae419b795524db87c71f6e68a34c52f27cd944e0173cc6',
      ],
      result: RECEIPT,
      varies: true,
    },
  ],
  async run({ transaction, timeout }, context) {
    const { engine } = context
    refuseTyped(transaction, context)
    return receiptOf(await engine.commands.submit(readSigned(transaction, engine)), timeout, context)
  },
})

export const eth_sendTransactionSync = method({
  name: 'eth_sendTransactionSync',
  changesState: true,
  needsWallet: true,
  counts: 'validTransactions',
  summary:
    'Signs a transaction with an unlocked account, sends it, and returns its receipt as eth_sendRawTransactionSync does.',
  params: { transaction: PricedCallObject, timeout: optional(Timeout, null) },
  result: () => ReceiptObject,
  errors: ['transaction-refused', 'not-mined', 'mining-refused', 'receipt-timeout', 'not-runnable'],
  examples: [
    {
      params: [{ from: COW, to: COW1, value: '0x1', gas: '0x5208', gasPrice: '0x1' }],
      result: RECEIPT,
      varies: true,
    },
  ],
  async run({ transaction, timeout }, context) {
    const { engine, options } = context
    const request = await completeRequest(transaction, engine, options)
    return receiptOf(await engine.commands.send(request), timeout, context)
  },
})

/** The methods of this file, in the order of the document. */
export const SUBMIT_SYNC_METHODS = [eth_sendRawTransactionSync, eth_sendTransactionSync] as const
