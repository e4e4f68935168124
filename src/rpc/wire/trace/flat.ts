/** Rows of `trace_*` (docs/rpc-reference.md#68-flat-trace); input and output of each call are its own. */
import { z } from 'zod'
import { type Hex, toHex, toQuantity } from '../../../encoding/hex.ts'
import type { FlatTrace } from '../../../engine/queries/trace-filter.ts'
import type { CallFrame } from '../../../evm/tracing/call-frame.ts'
import { AddressText, DataText, HashText, QuantityText } from '../scalars.ts'
import { toRpcSender } from '../transaction.ts'

const count = z.int().nonnegative()

const CallAction = z.strictObject({
  callType: z.enum(['call', 'callcode', 'delegatecall', 'staticcall']),
  from: AddressText,
  to: AddressText,
  gas: QuantityText,
  input: DataText,
  value: QuantityText,
})
const CreateAction = z.strictObject({
  from: AddressText,
  gas: QuantityText,
  init: DataText,
  value: QuantityText,
  creationMethod: z.enum(['create', 'create2']).optional(),
})
const SuicideAction = z.strictObject({
  address: AddressText,
  refundAddress: AddressText,
  balance: QuantityText,
})
const CallResult = z.strictObject({ gasUsed: QuantityText, output: DataText })
const CreateResult = z.strictObject({ gasUsed: QuantityText, code: DataText, address: AddressText })

/** Key order is that of the chain's nodes; `error` is absent when there is none. */
export const TraceObject = z.strictObject({
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
})

type RpcTrace = z.infer<typeof TraceObject>

/** An address that a frame has unless it is a creation that failed, which stands in no list but as the first. */
function known(address: Hex | undefined): Hex {
  if (address === undefined) throw new Error('a frame has no address')
  return address
}

/** The gas that the node names: none where no code ran for a whole transaction. */
function gasOf({ depth, ranCode, gas }: CallFrame): Hex {
  return toQuantity(depth === 0 && !ranCode ? 0n : gas)
}

function actionOf(frame: CallFrame): RpcTrace['action'] {
  const { kind, depth, from, to, input, value } = frame
  switch (kind) {
    case 'selfdestruct':
      return { address: from, refundAddress: known(to), balance: toQuantity(value) }
    case 'create':
    case 'create2':
      return {
        from: toRpcSender(from),
        gas: gasOf(frame),
        init: toHex(input),
        value: toQuantity(value),
        ...(depth > 0 && { creationMethod: kind }),
      }
    default:
      return {
        callType: kind,
        from: toRpcSender(from),
        to: known(to),
        gas: gasOf(frame),
        input: toHex(input),
        value: toQuantity(value),
      }
  }
}

function resultOf({ kind, gasUsed, output, to, failure }: CallFrame): RpcTrace['result'] {
  if (failure !== undefined || kind === 'selfdestruct') return null
  if (kind === 'create' || kind === 'create2') {
    return { gasUsed: toQuantity(gasUsed), code: toHex(output), address: known(to) }
  }
  return { gasUsed: toQuantity(gasUsed), output: toHex(output) }
}

/** The words of the node: Java's, with the word `class` for a transaction as a whole. */
function errorOf({ failure, depth }: CallFrame, transactionHash: Hex): string | undefined {
  if (failure === undefined) return undefined
  const { kind, exception, reason } = failure
  if (kind === 'reverted') return 'Reverted'
  if (exception === undefined) return reason
  const words = `${exception.name}: ${exception.message.replace('{tx}', transactionHash)}`
  return depth === 0 ? `class ${words}` : words
}

function typeOf({ kind }: CallFrame): RpcTrace['type'] {
  if (kind === 'selfdestruct') return 'suicide'
  return kind === 'create' || kind === 'create2' ? 'create' : 'call'
}

/** A row as callers get it. */
export function toRpcTrace({ frame, path, children, trace }: FlatTrace): RpcTrace {
  const { block, transaction, index } = trace
  const error = errorOf(frame, transaction.hash)
  return {
    action: actionOf(frame),
    blockHash: block.hash,
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
