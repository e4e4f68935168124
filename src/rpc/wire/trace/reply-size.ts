/** The size of a reply with traces, checked before its text is built. */
import type { CallFrame } from '../../../evm/tracing/call-frame.ts'
import { TraceBudget } from '../../../evm/tracing/trace-budget.ts'
import { responseTooLong } from '../../error-codes.ts'
import type { Context } from '../../method.ts'

/** Half the characters that a frame, an account or a slot takes at least, beside its payloads. */
export const ITEM_BYTES = 64

/** Counts payload bytes, each of which is two characters of the reply; throws `limit-exceeded` when the reply grows too long. */
export type ReplySize = (bytes: number) => void

/** Counts the size of one reply. Callers in process get values and not text: only the limit of traces holds for them. */
export function replySize({ options, session }: Pick<Context, 'options' | 'session'>): ReplySize {
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
