/** An answer on a connection of messages, or in process, under chaos. Loaded with the first such one. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Disturbance } from '../chaos/model.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { errorOf } from './disturbed-error.ts'
import type { LongReply } from './text-dispatcher.ts'

type Answer = string | LongReply | undefined

/**
 * Answers a message late, cut off, or not at all (`undefined`). A connection of messages has no status: 429 is an error of
 * JSON-RPC, and behind 502 and 503 the connection ends. One that is half-open answers nothing more until it ends.
 */
export async function disturbedAnswer(
  { fault, latencyMs, errorText }: Disturbance,
  answer: () => MaybePromise<Answer>,
  disconnect: () => void,
): Promise<Answer> {
  const isDropped = fault?.kind === 'status' ? fault.status !== 429 : fault?.kind === 'drop'
  const isAnswered =
    fault === undefined || fault.kind === 'truncate' || (fault.kind === 'drop' && fault.when === 'after')
  const answered = isAnswered ? await answer() : undefined
  if (latencyMs > 0) await delay(latencyMs)
  if (fault?.kind === 'stall') await delay(fault.ms, undefined, { ref: false })
  if (isDropped || fault?.kind === 'stall') {
    disconnect()
    return undefined
  }
  const error = errorOf(fault)
  if (error !== undefined) return errorText(error.code, error.message)
  if (fault?.kind !== 'truncate') return answered
  const text = answered?.toString()
  return text?.slice(0, Math.floor(text.length * fault.share))
}
