/**
 * Nested call frames: geth's `callTracer`, with the chain's words for failures
 * (docs/rpc-reference.md#610-call-tracer).
 */
import { type Hex, toHex, toQuantity } from '../../../encoding/hex.ts'
import { revertReason } from '../../../evm/failure-message.ts'
import type { CallFrame, FrameFailure } from '../../../evm/tracing/call-frame.ts'
import { toRpcSender } from '../transaction.ts'
import type { TraceOptions } from './options.ts'
import { frameBytes, type ReplyRoom } from './reply-room.ts'

/** A frame as callers get it; absent members have nothing to say. */
export interface RpcCallFrame {
  readonly type: string
  readonly from: Hex
  readonly to?: Hex
  readonly value?: Hex
  readonly gas: Hex
  readonly gasUsed: Hex
  readonly input: Hex
  readonly output?: Hex
  readonly error?: string
  readonly revertReason?: string
  readonly calls?: readonly RpcCallFrame[]
  readonly logs?: readonly RpcFrameLog[]
}

/** A log of a frame: `index` within its block, `position` among the frame's children. */
export interface RpcFrameLog {
  readonly index: number
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly position: Hex
}

/** Where the traced transaction stands; none for a call that is only simulated. */
export interface TracePlace {
  readonly transactionHash: Hex
  /** Logs of the block before those of this transaction. */
  readonly firstLogIndex: number
}

/** A transaction that stands nowhere. */
export const NOWHERE: TracePlace = { transactionHash: '0x', firstLogIndex: 0 }

function wordsOf({ kind, reason, exception }: FrameFailure, { transactionHash }: TracePlace): string {
  if (kind === 'reverted') return 'execution reverted'
  return exception?.message.replace('{tx}', transactionHash) ?? reason
}

/** A transaction's frame and, unless only the top is wanted, all below it. */
export function toRpcCallTree(
  root: CallFrame,
  flags: Pick<TraceOptions['flags'], 'onlyTopCall' | 'withLog'>,
  place: TracePlace,
  room: ReplyRoom,
): RpcCallFrame {
  room(frameBytes(root, flags))
  return toRpcCallFrame(root, flags, place)
}

function toRpcCallFrame(
  frame: CallFrame,
  { onlyTopCall, withLog }: Pick<TraceOptions['flags'], 'onlyTopCall' | 'withLog'>,
  place: TracePlace,
): RpcCallFrame {
  const { kind, from, to, value, gas, gasUsed, input, output, failure } = frame
  const creates = kind === 'create' || kind === 'create2'
  const reason = failure?.kind === 'reverted' ? revertReason(output) : undefined
  const calls = onlyTopCall ? [] : frame.calls
  const logs = withLog
    ? frame.logs.flatMap(({ log, position, index }) =>
        index === undefined
          ? []
          : [
              {
                index: place.firstLogIndex + index,
                address: log.address,
                topics: log.topics,
                data: toHex(log.data),
                position: toQuantity(position),
              },
            ],
      )
    : []
  return {
    type: kind.toUpperCase(),
    from: toRpcSender(from),
    ...(to !== undefined && !(creates && failure !== undefined) && { to }),
    ...(kind !== 'staticcall' && { value: toQuantity(value) }),
    gas: toQuantity(gas),
    gasUsed: toQuantity(gasUsed),
    input: toHex(input),
    ...((failure === undefined || output.length > 0) && kind !== 'selfdestruct' && { output: toHex(output) }),
    ...(failure && { error: wordsOf(failure, place) }),
    ...(reason !== undefined && { revertReason: reason }),
    ...(calls.length > 0 && {
      calls: calls.map((call) => toRpcCallFrame(call, { onlyTopCall, withLog }, place)),
    }),
    ...(logs.length > 0 && { logs }),
  }
}
