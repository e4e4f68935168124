/** Nested call frames: the reference node's `callTracer`, with the members that geth adds (docs/internals/rpc-reference.md#610-call-tracer). */
import { z } from 'zod'
import { type Hex, toHex, toQuantity } from '../../../encoding/hex.ts'
import type { CallFrame, FrameKind } from '../../../evm/tracing/call-frame.ts'
import { CallTracer } from '../../../evm/tracing/call-tracer.ts'
import { AddressText, DataText, HashText, QuantityText } from '../scalars.ts'
import { toRpcSender } from '../transaction.ts'
import { type ErrorTexts, frameErrorText } from './frame-error.ts'
import { OFF } from './options.ts'
import { ITEM_BYTES } from './reply-size.ts'
import { FrameType, shownFailure, shownGas } from './shown-frame.ts'
import { type ReplyLimits, type TracePlace, tracer } from './tracer-record.ts'

/** `index` within the block; `position` is the number of child frames before the log. */
const FrameLogObject = z.strictObject({
  index: z.int().nonnegative(),
  address: AddressText,
  topics: z.array(HashText),
  data: DataText,
  position: QuantityText,
})

/** A frame with its calls. */
export const CallFrameObject = z.strictObject({
  type: FrameType,
  from: AddressText,
  to: AddressText.optional(),
  value: QuantityText,
  gas: QuantityText,
  gasUsed: QuantityText,
  input: DataText,
  output: DataText.optional(),
  error: z.string().optional(),
  revertReason: z.string().optional(),
  get calls() {
    return z.array(CallFrameObject).optional()
  },
  logs: z.array(FrameLogObject).optional(),
})
z.globalRegistry.add(CallFrameObject, {
  id: 'CallFrame',
  description: 'A call, creation or self-destruct (callTracer)',
})

/** A frame object. */
export type RpcCallFrame = z.infer<typeof CallFrameObject>

/** What is shown of a call tree. */
export interface CallTreeOptions {
  readonly onlyTopCall: boolean
  readonly withLog: boolean
}

/** The `callTracer`. */
export const callTracer = tracer<CallTreeOptions, RpcCallFrame>({
  name: 'callTracer',
  summary: 'the tree of calls and creations',
  options: { onlyTopCall: OFF, withLog: OFF },
  result: CallFrameObject,
  start(options, limits) {
    const calls = new CallTracer(limits.budget)
    return { tracer: calls, result: (place) => toRpcCallTree(calls.root, options, place, limits) }
  },
  ofCallTree: toRpcCallTree,
})

/** A call tree as the `callTracer` returns it. Checks the size of the reply before it is built. */
export function toRpcCallTree(
  root: CallFrame,
  options: CallTreeOptions,
  place: TracePlace,
  { size, errorTexts }: ReplyLimits,
): RpcCallFrame {
  size(frameBytes(root, options))
  return toRpcCallFrame(root, options, place, errorTexts)
}

/** Bytes of a frame, and of all frames below it unless only the top frame is requested. */
function frameBytes({ input, output, logs, calls }: CallFrame, options: CallTreeOptions): number {
  let bytes = ITEM_BYTES + input.length + output.length
  if (options.withLog) for (const { log } of logs) bytes += ITEM_BYTES + log.data.length
  if (!options.onlyTopCall) for (const call of calls) bytes += frameBytes(call, options)
  return bytes
}

/** Returned bytes or revert payload; the address for a creation that did not revert. A self-destruct has none. */
function outputOf({ kind, output, to, failure }: CallFrame): Hex | undefined {
  if (kind === 'selfdestruct') return undefined
  const creates = kind === 'create' || kind === 'create2'
  return creates && failure?.kind !== 'reverted' ? to : toHex(output)
}

function toRpcCallFrame(
  frame: CallFrame,
  options: CallTreeOptions,
  place: TracePlace,
  texts: ErrorTexts,
): RpcCallFrame {
  const { kind, from, to, value, gasUsed, input } = frame
  const failure = shownFailure(frame)
  const output = outputOf(frame)
  const creates = kind === 'create' || kind === 'create2'
  const calls = options.onlyTopCall ? [] : frame.calls
  const logs = options.withLog ? logsOf(frame, place) : []
  return {
    type: kind.toUpperCase() as Uppercase<FrameKind>,
    from: toRpcSender(from),
    ...(to !== undefined && !(creates && failure !== undefined) && { to }),
    value: toQuantity(value),
    gas: toQuantity(shownGas(frame)),
    gasUsed: toQuantity(gasUsed),
    input: toHex(input),
    ...(output !== undefined && { output }),
    ...(failure && { error: frameErrorText(failure, frame, place.transactionHash, texts) }),
    ...(failure?.revertReason !== undefined && { revertReason: failure.revertReason }),
    ...(calls.length > 0 && { calls: calls.map((call) => toRpcCallFrame(call, options, place, texts)) }),
    ...(logs.length > 0 && { logs }),
  }
}

/** The logs of a frame that are in the receipt. */
function logsOf({ logs }: CallFrame, { firstLogIndex }: TracePlace): z.infer<typeof FrameLogObject>[] {
  return logs.flatMap(({ log, position, index }) =>
    index === undefined
      ? []
      : [
          {
            index: firstLogIndex + index,
            address: log.address,
            topics: [...log.topics],
            data: toHex(log.data),
            position: toQuantity(position),
          },
        ],
  )
}
