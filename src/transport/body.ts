/** Bodies of requests, one by one within a limit and all together within another. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ByteBudget, SMALL_BYTES } from './byte-budget.ts'

/** Why a body was not read to its end: it is too large, or all of them together are. */
export type Unread = 'too large' | 'no room'

/** Collects a body and hands out its text, or why it did not. Whoever goes away in the middle is forgotten. */
export type BodyReader = (
  request: IncomingMessage,
  response: ServerResponse,
  done: (body: string | undefined, unread?: Unread) => void,
) => void

/** Makes the reader. `maxBodyBytes` is the limit of one body; the budget has those that come in or are not answered yet. */
export function createBodyReader(maxBodyBytes: number, budget: ByteBudget): BodyReader {
  return (request, response, done) => {
    const chunks: Buffer[] = []
    let length = 0
    let counted = 0
    const count = () => {
      if (counted === 0) response.once('close', () => budget.give(counted))
      budget.take(length - counted)
      counted = length
    }
    const onData = (chunk: Buffer) => {
      length += chunk.length
      if (length > SMALL_BYTES) count()
      const unread = length > maxBodyBytes ? 'too large' : budget.isSpent ? 'no room' : undefined
      if (unread === undefined || (unread === 'no room' && counted === 0)) {
        chunks.push(chunk)
        return
      }
      chunks.length = 0
      request.off('data', onData).off('end', onEnd)
      done(undefined, unread)
    }
    const onEnd = () =>
      done(chunks.length === 1 ? (chunks[0] as Buffer).toString() : Buffer.concat(chunks, length).toString())
    request.on('data', onData).on('end', onEnd)
  }
}
