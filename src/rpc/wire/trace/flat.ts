/** Rows of `trace_*`, one per frame (docs/internals/rpc-reference.md#68-flat-trace). */
import { z } from 'zod'
import { type Hex, toHex, toQuantity } from '../../../encoding/hex.ts'
import type { FlatTrace } from '../../../engine/queries/trace-filter.ts'
import type { CallFrame } from '../../../evm/tracing/call-frame.ts'
import { AddressText, DataText, HashText, QuantityText } from '../scalars.ts'
import { toRpcSender } from '../transaction.ts'
import { type ErrorTexts, rowErrorText } from './frame-error.ts'
import { shownFailure, shownGas } from './shown-frame.ts'

const count = z.int().nonnegative()

const CallAction = z.lazy(() =>
  z.strictObject({
    callType: z.enum(['call', 'callcode', 'delegatecall', 'staticcall']),
    from: AddressText,
    to: AddressText,
    gas: QuantityText,
    input: DataText,
    value: QuantityText,
  }),
)
const CreateAction = z.lazy(() =>
  z.strictObject({
    from: AddressText,
    gas: QuantityText,
    init: DataText,
    value: QuantityText,
    creationMethod: z.enum(['create', 'create2']).optional(),
  }),
)
const SuicideAction = z.lazy(() =>
  z.strictObject({
    address: AddressText,
    refundAddress: AddressText,
    balance: QuantityText,
  }),
)
const CallResult = z.lazy(() => z.strictObject({ gasUsed: QuantityText, output: DataText }))
const CreateResult = z.lazy(() =>
  z.strictObject({ gasUsed: QuantityText, code: DataText, address: AddressText }),
)

/** Key order is that of the reference node; `error` is absent without a failure. */
export const TraceObject = z.lazy(() =>
  z.strictObject({
    action: z.union([CallAction, CreateAction, SuicideAction]),
    blockHash: HashText,
    blockNumber: count,
    transactionHash: HashText,
    transactionPosition: count,
    type: z.enum(['call', 'create', 'suicide']),
    subtraces: count,
    traceAddress: z.array(count),
    result: z.union([CallResult, CreateResult]).nullable(),
    error: z.string().optional(),
  }),
)

type RpcTrace = z.infer<typeof TraceObject>

/** The address of a frame; only a failed creation has none, and its row does not show it. */
function known(address: Hex | undefined): Hex {
  if (address === undefined) throw new Error('a frame has no address')
  return address
}

export function actionOf(frame: CallFrame): RpcTrace['action'] {
  const { kind, depth, from, to, input, value } = frame
  switch (kind) {
    case 'selfdestruct':
      return { address: from, refundAddress: known(to), balance: toQuantity(value) }
    case 'create':
    case 'create2':
      return {
        from: toRpcSender(from),
        gas: toQuantity(shownGas(frame)),
        init: toHex(input),
        value: toQuantity(value),
        ...(depth > 0 && { creationMethod: kind }),
      }
    default:
      return {
        callType: kind,
        from: toRpcSender(from),
        to: known(to),
        gas: toQuantity(shownGas(frame)),
        input: toHex(input),
        value: toQuantity(value),
      }
  }
}

export function resultOf(frame: CallFrame): RpcTrace['result'] {
  const { kind, gasUsed, output, to } = frame
  if (shownFailure(frame) !== undefined || kind === 'selfdestruct') return null
  if (kind === 'create' || kind === 'create2') {
    return { gasUsed: toQuantity(gasUsed), code: toHex(output), address: known(to) }
  }
  return { gasUsed: toQuantity(gasUsed), output: toHex(output) }
}

/** The error text; `undefined` without a failure. */
export function errorOf(frame: CallFrame, transactionHash: Hex, texts: ErrorTexts): string | undefined {
  const failure = shownFailure(frame)
  return failure && rowErrorText(failure, frame, transactionHash, texts)
}

export function typeOf({ kind }: CallFrame): RpcTrace['type'] {
  if (kind === 'selfdestruct') return 'suicide'
  return kind === 'create' || kind === 'create2' ? 'create' : 'call'
}

/** Block and index that the rows of a transaction show. */
export interface RowPlace {
  readonly blockHash: Hex
  readonly index: number
}

/** The wire form of a row; `place` replaces the block and the index of its transaction. */
export function toRpcTrace(
  { frame, path, children, trace }: FlatTrace,
  texts: ErrorTexts,
  place?: RowPlace,
): RpcTrace {
  const { block, transaction } = trace
  const { blockHash, index } = place ?? { blockHash: block.hash, index: trace.index }
  const error = errorOf(frame, transaction.hash, texts)
  return {
    action: actionOf(frame),
    blockHash,
    blockNumber: block.block.header.number,
    transactionHash: transaction.hash,
    transactionPosition: index,
    type: typeOf(frame),
    subtraces: children,
    traceAddress: [...path],
    result: resultOf(frame),
    ...(error !== undefined && { error }),
  }
}
