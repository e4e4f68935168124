/** Cuts a stream of bytes into the JSON objects and arrays that it holds one after another, with or without white space. */
import { NodeError } from '../errors.ts'

/** The values of one stream. */
export interface JsonStream {
  /** Bytes of a value that is not complete yet. */
  readonly partial: number
  /**
   * The values that are complete with these bytes, as text. The failure is `parse-error` for bytes behind them that begin
   * neither object nor array, `invalid-request` for a value beyond the limit; the stream is of no use then.
   */
  push(chunk: Buffer): { readonly values: string[]; readonly failure?: NodeError }
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
const OPENING: ReadonlySet<number> = new Set(Buffer.from('{['))
const CLOSING: ReadonlySet<number> = new Set(Buffer.from('}]'))
const WHITE_SPACE: ReadonlySet<number> = new Set(Buffer.from(' \t\r\n'))

/** Makes a stream; `limit` is bytes of one value. Brackets are counted and not matched: the parser of the text does that. */
export function createJsonStream(limit: number): JsonStream {
  let pieces: Buffer[] = []
  let partial = 0
  let depth = 0
  let isText = false
  let isEscaped = false

  /** Follows one byte of a value. */
  function follow(byte: number): void {
    if (isText) {
      if (isEscaped) isEscaped = false
      else if (byte === BACKSLASH) isEscaped = true
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) isText = true
    else if (OPENING.has(byte)) depth++
    else if (CLOSING.has(byte)) depth--
  }

  /** Why there is no room for the bytes; `undefined` when they are kept. */
  function keep(bytes: Buffer): NodeError | undefined {
    partial += bytes.length
    pieces.push(bytes)
    if (partial <= limit) return undefined
    return new NodeError('invalid-request', `Message too large: the limit is ${limit} bytes`)
  }

  return {
    get partial() {
      return partial
    },
    push(chunk) {
      const values: string[] = []
      let start = 0
      for (let i = 0; i < chunk.length; i++) {
        const byte = chunk[i] as number
        if (depth === 0) {
          start = i
          if (WHITE_SPACE.has(byte)) continue
          if (!OPENING.has(byte)) return { values, failure: new NodeError('parse-error', 'JSON parse error') }
        }
        follow(byte)
        if (depth > 0) continue
        const failure = keep(chunk.subarray(start, i + 1))
        if (failure !== undefined) return { values, failure }
        values.push(Buffer.concat(pieces).toString())
        pieces = []
        partial = 0
      }
      const failure = depth > 0 ? keep(chunk.subarray(start)) : undefined
      return failure === undefined ? { values } : { values, failure }
    },
  }
}
