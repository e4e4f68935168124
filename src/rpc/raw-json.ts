/** A result that is already JSON text, in pieces, because it is too large to be built as objects first. */
import { constants } from 'node:buffer'
import { inflateRawSync } from 'node:zlib'
import { type Hex, toHex } from '../encoding/hex.ts'
import { NodeError } from '../errors.ts'

/** Compressed text. */
export class PackedText {
  readonly #packed: Uint8Array
  /** Bytes of the text. */
  readonly length: number

  /** `packed` is raw deflate of a text of `length` bytes. */
  constructor(packed: Uint8Array, length: number) {
    this.#packed = packed
    this.length = length
  }

  /** Makes the text anew each time. */
  unpack(): Buffer {
    return inflateRawSync(this.#packed, { chunkSize: this.length })
  }
}

/** Text as it is, or packed. */
export type JsonChunk = Buffer | PackedText

/** A result, or a part of one, whose text is there; ASCII only. */
export class RawJson {
  readonly chunks: readonly JsonChunk[]
  /** Bytes of the text. */
  readonly length: number

  constructor(chunks: readonly JsonChunk[]) {
    this.chunks = chunks
    this.length = chunks.reduce((sum, { length }) => sum + length, 0)
  }

  /** The text piece by piece; what is packed is unpacked when it is reached. */
  *pieces(): Generator<Buffer, void> {
    for (const chunk of this.chunks) yield chunk instanceof PackedText ? chunk.unpack() : chunk
  }

  /** The text, as far as there can be one: throws `limit-exceeded` beyond the half gigabyte that a text may have. */
  toString(): string {
    if (this.length > constants.MAX_STRING_LENGTH) {
      throw new NodeError(
        'limit-exceeded',
        `The result of ${this.length} bytes is too long for one text; ask for it over HTTP or WebSocket`,
      )
    }
    let text = ''
    for (const piece of this.pieces()) text += piece.toString('latin1')
    return text
  }

  /** The value that the text stands for, as callers in process get it. */
  toJSON(): unknown {
    return JSON.parse(this.toString())
  }
}

/** A result as text because it is long; unlike other raw results it counts towards the limit of a reply's size. */
export class WrittenJson extends RawJson {}

/** Up to this many values are answered as objects, which callers in process get without a parse. */
export const MOST_AS_OBJECTS = 16

/** Bytes of a piece of written text; a longer text is a piece of its own. */
const PIECE = 256 << 10
/** Characters that are joined before they are copied into a piece: longer texts of many parts take longer to flatten. */
const JOINED = 16 << 10

/** The array of values that `write` makes the JSON of, ASCII only. */
export function writtenArray<T>(
  values: readonly T[],
  write: (value: T, index: number) => string,
): WrittenJson {
  const chunks: Buffer[] = []
  let piece = Buffer.alloc(0)
  let used = 0
  let text = values.length === 0 ? '[' : ''
  for (let i = 0; i < values.length; i++) {
    text += (i === 0 ? '[' : ',') + write(values[i] as T, i)
    if (text.length < JOINED) continue
    if (used + text.length > piece.length) {
      chunks.push(piece.subarray(0, used))
      piece = Buffer.allocUnsafe(Math.max(text.length, PIECE))
      used = 0
    }
    used += piece.write(text, used, 'latin1')
    text = ''
  }
  chunks.push(piece.subarray(0, used), Buffer.from(`${text}]`, 'latin1'))
  return new WrittenJson(chunks.filter(({ length }) => length > 0))
}

/** Bytes that are written at once: their digits are a string of the young generation. */
const HEX_PART = 32 << 10

/** `0x` text of bytes, written where it is long: each further copy of megabytes takes 25 ms of new pages. */
export function writtenHex(bytes: Uint8Array): Hex | WrittenJson {
  if (bytes.length <= HEX_PART) return toHex(bytes)
  const text = Buffer.allocUnsafe(2 * bytes.length + 4)
  let at = text.write('"0x', 'latin1')
  const from = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let i = 0; i < from.length; i += HEX_PART) {
    at += text.write(from.toString('hex', i, i + HEX_PART), at, 'latin1')
  }
  text.write('"', at, 'latin1')
  return new WrittenJson([text])
}

/** JSON of a value without characters beyond ASCII. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Strings, and values as JSON, after one another. Each chunk is written on its own, so strings side by side are one. */
export function rawJson(...parts: readonly (string | RawJson)[]): RawJson {
  const chunks: JsonChunk[] = []
  let text = ''
  const endText = () => {
    if (text !== '') chunks.push(Buffer.from(text, 'latin1'))
    text = ''
  }
  for (const part of parts) {
    if (typeof part === 'string') {
      text += part
      continue
    }
    endText()
    for (const chunk of part.chunks) chunks.push(chunk)
  }
  endText()
  return new RawJson(chunks)
}

/** A value, raw or not, as a piece of a larger raw one. */
export function pieceOf(value: unknown): string | RawJson {
  return value instanceof RawJson ? value : asciiJson(value)
}

/** An array of values; raw when one of them is. */
export function jsonArray(values: readonly unknown[]): readonly unknown[] | RawJson {
  if (!values.some((value) => value instanceof RawJson)) return values
  return rawJson(
    '[',
    ...values.flatMap((value, i) => (i === 0 ? [pieceOf(value)] : [',', pieceOf(value)])),
    ']',
  )
}

/** An object of members of which one is written. */
export function writtenObject(members: object): WrittenJson {
  return new WrittenJson((jsonObject(Object.entries(members)) as RawJson).chunks)
}

/** An object of members; raw when one of them is. */
export function jsonObject(members: readonly (readonly [string, unknown])[]): object {
  if (!members.some(([, value]) => value instanceof RawJson)) return Object.fromEntries(members)
  return rawJson(
    '{',
    ...members.flatMap(([key, value], i) => [`${i === 0 ? '' : ','}${asciiJson(key)}:`, pieceOf(value)]),
    '}',
  )
}
