/** Reads request bodies, each within its limit and all together within the server's budget. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ByteBudget, CountedBuffer, SMALL_BYTES } from './byte-budget.ts'

/** Why a body was not read to its end: it is too large, or the budget is spent. */
export type Unread = 'too large' | 'no room'

/** Reads a body and calls back with its text, or with the reason why not; never for a caller that disconnects. */
export type BodyReader = (
  request: IncomingMessage,
  response: ServerResponse,
  done: (body: string | undefined, unread?: Unread) => void,
) => void

/** Makes the reader. `maxBodyBytes` limits one body; bytes are taken from the budget until the request is answered. */
export function createBodyReader(maxBodyBytes: number, budget: ByteBudget): BodyReader {
  return (request, response, done) => {
    const chunks: Buffer[] = []
    let length = 0
    let counted: CountedBuffer | undefined
    const hasRoom = () => {
      if (length <= SMALL_BYTES) return true
      if (counted === undefined) {
        const buffer = new CountedBuffer(budget)
        counted = buffer
        response.once('close', () => buffer.resize(0))
      }
      return counted.resize(length)
    }
    const onData = (chunk: Buffer) => {
      length += chunk.length
      const isRoomLeft = hasRoom()
      if (isRoomLeft && length <= maxBodyBytes) {
        chunks.push(chunk)
        return
      }
      chunks.length = 0
      request.off('data', onData).off('end', onEnd)
      done(undefined, length > maxBodyBytes ? 'too large' : 'no room')
    }
    const onEnd = () => {
      const [first] = chunks
      done((chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, length)).toString())
    }
    request.on('data', onData).on('end', onEnd)
    // Starts to read now and not in the next tick: a body that has arrived already is then not buffered.
    request.read(0)
  }
}
