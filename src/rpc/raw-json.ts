/** A result that is JSON text already, in pieces: what is too large to be built as objects first. */
import { constants } from 'node:buffer'
import { inflateRawSync } from 'node:zlib'
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

/** JSON of a value without characters beyond ASCII. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Strings, and values as JSON, after one another. */
export function rawJson(...parts: readonly (string | RawJson)[]): RawJson {
  return new RawJson(
    parts.flatMap((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part.chunks)),
  )
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

/** An object of members; raw when one of them is. */
export function jsonObject(members: readonly (readonly [string, unknown])[]): object {
  if (!members.some(([, value]) => value instanceof RawJson)) return Object.fromEntries(members)
  return rawJson(
    '{',
    ...members.flatMap(([key, value], i) => [`${i === 0 ? '' : ','}${asciiJson(key)}:`, pieceOf(value)]),
    '}',
  )
}
