/** What the explorer Otterscan reads: blocks with fees, receipts with times, calls as a list. */
import { z } from 'zod'
import { ZERO_ADDRESS } from '../../chain/account.ts'
import { toHex, toQuantity } from '../../encoding/hex.ts'
import type { BlockView, ReceiptView } from '../../engine/model.ts'
import type { CallFrame } from '../../evm/tracing/call-frame.ts'
import { integer } from '../json-forms.ts'
import { expected, type Parameter, scalar } from '../parameter.ts'
import { BlockObject, type RpcBlock } from './block.ts'
import { HeaderObject, toRpcHeader } from './header.ts'
import { LogObject } from './log.ts'
import { ReceiptObject, toRpcReceipt } from './receipt.ts'
import { AddressText, DataText, HashText, QuantityText } from './scalars.ts'
import { FrameType } from './trace/shown-frame.ts'
import { TransactionObject, toRpcSender } from './transaction.ts'

const count = z.int().nonnegative()
/** A JSON integer. */
export function jsonInteger(description: string, least: number, most: number): Parameter<number> {
  return scalar({
    form: integer(least, most),
    description,
    decode: (value) => value,
    refusal: (_, name) => expected(name, `a JSON integer from ${least} to ${most}`),
  })
}

const OtsBlock = z.lazy(() =>
  BlockObject.unwrap().omit({ transactions: true }).extend({ logsBloom: z.null(), transactionCount: count }),
)

/** This chain has no block reward: miners earn fees only. */
export const BlockDetails = z.lazy(() =>
  z
    .strictObject({
      block: OtsBlock,
      issuance: z.strictObject({
        blockReward: QuantityText,
        uncleReward: QuantityText,
        issuance: QuantityText,
      }),
      totalFees: QuantityText,
    })
    .meta({ id: 'BlockDetails', description: 'A block without its transactions (ots_getBlockDetails)' }),
)

/** A block without its transactions and bloom. */
export function toBlockDetails({ executed }: BlockView, described: RpcBlock): z.infer<typeof BlockDetails> {
  const { transactions, ...block } = described
  return {
    block: { ...block, logsBloom: null, transactionCount: transactions.length },
    issuance: { blockReward: '0x0', uncleReward: '0x0', issuance: '0x0' },
    totalFees: toQuantity(executed.block.header.paidFees),
  }
}

/** Receipts without the long members that Otterscan does not show. */
export const BlockTransactions = z.lazy(() =>
  z.strictObject({
    fullblock: OtsBlock.unwrap().extend({ transactions: z.array(TransactionObject) }),
    receipts: z.array(ReceiptObject.unwrap().extend({ logs: z.null(), logsBloom: z.null() })),
  }),
)

const TimedReceipt = z.lazy(() =>
  ReceiptObject.unwrap().extend({ logs: z.array(LogObject), timestamp: count }),
)

/** Newest first; `firstPage` when there are no newer ones, `lastPage` when there are no older ones. */
export const AccountTransactions = z.lazy(() =>
  z.strictObject({
    txs: z.array(TransactionObject),
    receipts: z.array(TimedReceipt),
    firstPage: z.boolean(),
    lastPage: z.boolean(),
  }),
)

/** A receipt with the time of its block, Unix seconds. */
export function toTimedReceipt(view: ReceiptView): z.infer<typeof TimedReceipt> {
  const receipt = toRpcReceipt(view)
  return {
    ...receipt,
    logs: receipt.logs.map((log) => ({ ...log, removed: false })),
    timestamp: view.block.block.header.timestamp,
  }
}

/** A header; mix hash and nonce as in blocks. */
export const ErigonHeader = z.lazy(() => HeaderObject.unwrap().extend({ mixHash: HashText, nonce: DataText }))

/** The header of a block. */
export function toErigonHeader({ executed }: BlockView): z.infer<typeof ErigonHeader> {
  return { ...toRpcHeader(executed), mixHash: `0x${'00'.repeat(32)}`, nonce: `0x${'00'.repeat(8)}` }
}

const OPERATIONS = { call: 0, selfdestruct: 1, create: 2, create2: 3 } as const

/** `type`: 0 transfer, 1 self-destruct, 2 CREATE, 3 CREATE2. */
export const InternalOperation = z.lazy(() =>
  z.strictObject({
    type: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]),
    from: AddressText,
    to: AddressText,
    value: QuantityText,
  }),
)

/** Transfers, creations and self-destructs below a transaction's own frame, without those that a failure reverted. */
export function toInternalOperations({ calls, failure }: CallFrame): z.infer<typeof InternalOperation>[] {
  if (failure !== undefined) return []
  return calls.flatMap((call) => {
    const { kind, from, to, value } = call
    const isShown = kind in OPERATIONS && (kind !== 'call' || value > 0n)
    const below = toInternalOperations(call)
    if (call.failure !== undefined || to === undefined || !isShown) return below
    const type = OPERATIONS[kind as keyof typeof OPERATIONS]
    return [{ type, from, to, value: toQuantity(value) }, ...below]
  })
}

/** `value` is null for kinds of calls that transfer no value. */
export const TraceEntry = z.lazy(() =>
  z.strictObject({
    type: FrameType,
    depth: count,
    from: AddressText,
    to: AddressText,
    value: QuantityText.nullable(),
    input: DataText,
    output: DataText,
  }),
)

/** A call tree as a list, parents before children; calls that were not made are left out, as in `vmTrace`. */
export function toTraceEntries(frame: CallFrame): z.infer<typeof TraceEntry>[] {
  const { kind, depth, from, to = ZERO_ADDRESS, value, input, output, calls, failure } = frame
  if (failure?.kind === 'refused') return []
  const entry = {
    type: kind.toUpperCase() as Uppercase<typeof kind>,
    depth,
    from: toRpcSender(from),
    to,
    value: kind === 'delegatecall' || kind === 'staticcall' ? null : toQuantity(value),
    input: toHex(input),
    output: toHex(output),
  }
  return [entry, ...calls.flatMap(toTraceEntries)]
}
