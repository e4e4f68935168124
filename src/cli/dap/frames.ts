/**
 * The messages of an editor in their frames (https://microsoft.github.io/debug-adapter-protocol/overview#base-protocol):
 * headers, an empty line, and as many bytes as Content-Length tells. What is no such frame ends the stream, so that a web
 * page that posts to the port of an adapter is not read as an editor.
 */
import { pipeline, Transform, type TransformCallback } from 'node:stream'

/** Bytes of the headers of a message. */
const LONGEST_HEADER = 1024
/** Bytes of a message. */
const LONGEST_MESSAGE = 16 << 20
const HEADER_END = '\r\n\r\n'
const HEADER = /^(?:Content-Length: *(\d{1,9})|Content-Type: .*)$/i

/** The length that headers tell; `undefined` where they are not those of this protocol. */
function lengthIn(headers: string): number | undefined {
  let length: number | undefined
  for (const line of headers.split('\r\n')) {
    const found = HEADER.exec(line)
    if (found === null) return undefined
    if (found[1] !== undefined) length = Number(found[1])
  }
  return length
}

/** Passes whole messages on, each as one chunk; fails at the first that is malformed. */
class Frames extends Transform {
  #header = Buffer.alloc(0)
  #body: Buffer[] = []
  /** Bytes of the message that are still to come; `undefined` within headers. */
  #missing: number | undefined

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    let rest = chunk
    while (rest.length > 0) {
      const taken = this.#missing === undefined ? this.#takeHeader(rest) : this.#takeBody(rest, this.#missing)
      if (taken === undefined) {
        done(new Error('a message is malformed, or too long'))
        return
      }
      rest = rest.subarray(taken)
    }
    done()
  }

  /** Returns how many bytes belong to the headers. */
  #takeHeader(chunk: Buffer): number | undefined {
    const before = this.#header.length
    const seen = Buffer.concat([this.#header, chunk.subarray(0, LONGEST_HEADER)])
    const end = seen.indexOf(HEADER_END)
    if (end === -1) {
      if (seen.length >= LONGEST_HEADER) return undefined
      this.#header = seen
      return chunk.length
    }
    const length = lengthIn(seen.toString('latin1', 0, end))
    if (length === undefined || length > LONGEST_MESSAGE) return undefined
    this.#header = Buffer.alloc(0)
    this.#body = [Buffer.from(`Content-Length: ${length}${HEADER_END}`)]
    this.#missing = length === 0 ? undefined : length
    return end + HEADER_END.length - before
  }

  #takeBody(chunk: Buffer, missing: number): number {
    const taken = chunk.subarray(0, missing)
    this.#body.push(taken)
    this.#missing = missing - taken.length
    if (this.#missing === 0) {
      this.push(Buffer.concat(this.#body))
      this.#body = []
      this.#missing = undefined
    }
    return taken.length
  }
}

/** The frames of a stream, which ends with them. */
export function framesOf(input: NodeJS.ReadableStream): NodeJS.ReadableStream {
  // What ends the stream is seen at the frames.
  return pipeline(input, new Frames(), () => {})
}
