/** Bodies of requests, one by one within a limit and all together within another. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Bodies up to this many bytes are not counted: as many as there are sockets do no harm. */
const SMALL_BYTES = 16_384

/** Why a body was not read to its end: it is too large, or all of them together are. */
export type Unread = 'too large' | 'no room'

/** Collects a body and hands out its text, or why it did not. Whoever goes away in the middle is forgotten. */
export type BodyReader = (
  request: IncomingMessage,
  response: ServerResponse,
  done: (body: string | undefined, unread?: Unread) => void,
) => void

/** Makes the reader. Limits in bytes: of a body, and of all that are coming in or not answered yet. */
export function createBodyReader(maxBodyBytes: number, maxBufferedBytes: number): BodyReader {
  let buffered = 0
  return (request, response, done) => {
    const chunks: Buffer[] = []
    let length = 0
    let counted = 0
    const count = () => {
      if (counted === 0) response.once('close', () => (buffered -= counted))
      buffered += length - counted
      counted = length
    }
    const onData = (chunk: Buffer) => {
      length += chunk.length
      if (length > SMALL_BYTES) count()
      const unread = length > maxBodyBytes ? 'too large' : buffered > maxBufferedBytes ? 'no room' : undefined
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
