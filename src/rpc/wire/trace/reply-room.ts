/** How much a reply with traces may hold, known before its text is built: what could not be sent is not made. */
import type { CallFrame } from '../../../evm/tracing/call-frame.ts'
import { TraceBudget } from '../../../evm/tracing/trace-budget.ts'
import { responseTooLong } from '../../error-codes.ts'
import type { Context } from '../../method.ts'
import type { TraceOptions } from './options.ts'

/** Half the characters that a frame, an account or a slot takes at least, beside its payloads. */
export const ITEM_BYTES = 64

/** Makes room for payloads of so many bytes, each of which is two characters; throws `limit-exceeded` when there is none. */
export type ReplyRoom = (bytes: number) => void

/** The room of one reply. Callers in process get values and not text: only the limit of traces holds for them. */
export function replyRoom({ options, session }: Pick<Context, 'options' | 'session'>): ReplyRoom {
  const longest = session.remote === undefined ? 0 : options.maxResponseBytes
  const budget = new TraceBudget(options.maxTraceBytes)
  return (bytes) => {
    budget.take(bytes)
    if (longest > 0 && budget.used * 2 > longest) throw responseTooLong(longest)
  }
}

/** Bytes of a row of a flat list. */
export function rowBytes({ input, output, failure }: CallFrame): number {
  return ITEM_BYTES + input.length + (failure === undefined ? output.length : 0)
}

/** Bytes of a frame, and of all below it unless only the top is wanted. */
export function frameBytes(
  { input, output, logs, calls }: CallFrame,
  flags: Pick<TraceOptions['flags'], 'onlyTopCall' | 'withLog'>,
): number {
  let bytes = ITEM_BYTES + input.length + output.length
  if (flags.withLog) for (const { log } of logs) bytes += ITEM_BYTES + log.data.length
  if (!flags.onlyTopCall) for (const call of calls) bytes += frameBytes(call, flags)
  return bytes
}
