/** The size of a reply with traces, checked before its text is built. */
import type { CallFrame } from '../../../evm/tracing/call-frame.ts'
import { TraceBudget } from '../../../evm/tracing/trace-budget.ts'
import { responseTooLong } from '../../error-codes.ts'
import type { Context } from '../../method.ts'

/** Half the minimum characters of a frame, an account or a slot without its payloads. */
export const ITEM_BYTES = 64

/** Counts payload bytes, each two characters of the reply; throws `limit-exceeded` when the reply becomes too long. */
export type ReplySize = (bytes: number) => void

/** Counts the size of one reply. In-process callers get values instead of text, so only the limit on traces applies to them. */
export function replySize({ options, session }: Pick<Context, 'options' | 'session'>): ReplySize {
  const longest = session.remote === undefined ? 0 : options.maxResponseBytes
  const budget = new TraceBudget(options.maxTraceBytes)
  return (bytes) => {
    budget.take(bytes)
    if (longest > 0 && budget.used * 2 > longest) throw responseTooLong(longest)
  }
}

/** Bytes of one row of `trace_*`. */
export function rowBytes({ input, output, failure }: CallFrame): number {
  return ITEM_BYTES + input.length + (failure === undefined ? output.length : 0)
}
