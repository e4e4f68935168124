/** Splits a stream of bytes into consecutive JSON objects and arrays, with or without white space. */
import { NodeError } from '../errors.ts'

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
const OPENING: ReadonlySet<number> = new Set(Buffer.from('{['))
const CLOSING: ReadonlySet<number> = new Set(Buffer.from('}]'))
const WHITE_SPACE: ReadonlySet<number> = new Set(Buffer.from(' \t\r\n'))

/** The values that are complete with some bytes, as text, and why no further one can be read. */
export interface StreamedValues {
  readonly values: string[]
  readonly failure?: NodeError
}

/** The values of one stream. Brackets are counted and not matched: the parser of the text does that. */
export class JsonStream {
  readonly #limit: number
  #pieces: Buffer[] = []
  #partial = 0
  #depth = 0
  #isText = false
  #isEscaped = false

  /** @param limit bytes of one value */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Bytes of a value that is not complete yet. */
  get partial(): number {
    return this.#partial
  }

  /**
   * The values that are complete with these bytes, as text. The failure is `parse-error` for bytes behind them that begin
   * neither object nor array, `invalid-request` for a value beyond the limit; the stream is of no use then.
   */
  push(chunk: Buffer): StreamedValues {
    const values: string[] = []
    let start = 0
    for (const [i, byte] of chunk.entries()) {
      if (this.#depth === 0) {
        start = i
        if (WHITE_SPACE.has(byte)) continue
        if (!OPENING.has(byte)) return { values, failure: new NodeError('parse-error', 'JSON parse error') }
      }
      this.#follow(byte)
      if (this.#depth > 0) continue
      const failure = this.#keep(chunk.subarray(start, i + 1))
      if (failure !== undefined) return { values, failure }
      values.push(Buffer.concat(this.#pieces).toString())
      this.#pieces = []
      this.#partial = 0
    }
    const failure = this.#depth > 0 ? this.#keep(chunk.subarray(start)) : undefined
    return failure === undefined ? { values } : { values, failure }
  }

  /** Follows one byte of a value. */
  #follow(byte: number): void {
    if (this.#isText) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === BACKSLASH) this.#isEscaped = true
      else if (byte === QUOTE) this.#isText = false
    } else if (byte === QUOTE) this.#isText = true
    else if (OPENING.has(byte)) this.#depth++
    else if (CLOSING.has(byte)) this.#depth--
  }

  /** Why there is no room for the bytes; `undefined` when they are kept. */
  #keep(bytes: Buffer): NodeError | undefined {
    this.#partial += bytes.length
    this.#pieces.push(bytes)
    if (this.#partial <= this.#limit) return undefined
    return new NodeError('invalid-request', `Message too large: the limit is ${this.#limit} bytes`)
  }
}
