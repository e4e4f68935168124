/** Raw blocks in a stream of bytes: RLP lists one after another, or lines of hex or JSON. One block is in memory at a time. */
import { fromHex, isHexDigits, lowerCaseHex } from '../encoding/hex.ts'
import { beginsList, itemEnd } from '../encoding/rlp-frame.ts'
import { NodeError } from '../errors.ts'

/** A longer item is not a block. */
const MAX_BLOCK_BYTES = 64 << 20
/** Bytes of the longest prefix of an RLP list. */
const PREFIX_BYTES = 9
const NEWLINE = 0x0a

/** A raw block and where it was found, for error messages. */
export interface RawBlock {
  readonly bytes: Uint8Array
  /** `at byte 1024`, `in line 3`. */
  readonly place: string
  /** Bytes of the stream up to its end. */
  readonly end: number
}

function malformed(message: string): NodeError {
  return new NodeError('invalid-block', message)
}

/** Bytes that were received and are not used yet. */
class Buffered {
  readonly #chunks: AsyncIterator<Uint8Array>
  #bytes: Uint8Array = new Uint8Array()
  /** Bytes of the stream before `bytes`. */
  offset = 0

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  get bytes(): Uint8Array {
    return this.#bytes
  }

  /** Reads until `length` bytes are there; false when the stream ends first. */
  async fill(length: number): Promise<boolean> {
    if (this.#bytes.length >= length) return true
    const parts = [this.#bytes]
    let size = this.#bytes.length
    let isOpen = true
    while (size < length && isOpen) {
      const { value, done } = await this.#chunks.next()
      if (done) {
        isOpen = false
      } else {
        parts.push(value)
        size += value.length
      }
    }
    if (parts.length > 1) this.#bytes = Buffer.concat(parts)
    return size >= length
  }

  /** Takes bytes from the front. */
  take(length: number): Uint8Array {
    const taken = this.#bytes.subarray(0, length)
    this.#bytes = this.#bytes.subarray(length)
    this.offset += length
    return taken
  }

  /** Closes the stream. */
  async close(): Promise<void> {
    await this.#chunks.return?.()
  }
}

/**
 * The blocks of a stream, in its order. The first byte decides the form. Throws `invalid-block` with the place where the
 * stream holds something else; what stood before has been yielded by then.
 */
export async function* readRawBlocks(stream: AsyncIterable<Uint8Array>): AsyncGenerator<RawBlock> {
  const input = new Buffered(stream)
  try {
    if (!(await input.fill(1))) return
    if (beginsList(input.bytes)) yield* readRlp(input)
    else yield* readLines(input)
  } finally {
    await input.close()
  }
}

async function* readRlp(input: Buffered): AsyncGenerator<RawBlock> {
  while (await input.fill(1)) {
    const place = `at byte ${input.offset}`
    await input.fill(PREFIX_BYTES)
    if (!beginsList(input.bytes)) throw malformed(`There is no RLP list ${place}.`)
    const length = itemEnd(input.bytes, 0)
    if (length > MAX_BLOCK_BYTES) throw malformed(`The RLP list ${place} is longer than any block.`)
    if (!(await input.fill(length))) throw malformed(`The block ${place} is cut off at the end of the input.`)
    yield { bytes: input.take(length), place, end: input.offset }
  }
}

async function* readLines(input: Buffered): AsyncGenerator<RawBlock> {
  for (let line = 1; await input.fill(1); line++) {
    const place = `in line ${line}`
    const text = Buffer.from(await takeLine(input, place))
      .toString()
      .trim()
    if (text !== '') yield { bytes: blockOf(text, place), place, end: input.offset }
  }
}

async function takeLine(input: Buffered, place: string): Promise<Uint8Array> {
  for (let from = 0; ; ) {
    const end = input.bytes.indexOf(NEWLINE, from)
    if (end >= 0) return input.take(end + 1)
    from = input.bytes.length
    if (from > 2 * MAX_BLOCK_BYTES) throw malformed(`The text ${place} is longer than any block.`)
    if (!(await input.fill(from + 1))) return input.take(from)
  }
}

/** A line is a hex string, with or without quotes, or an object that has it as `raw`. */
function blockOf(line: string, place: string): Uint8Array {
  const raw = line.startsWith('0x') ? line : rawIn(line)
  if (
    typeof raw !== 'string' ||
    !raw.startsWith('0x') ||
    !isHexDigits(raw.slice(2)) ||
    raw.length % 2 !== 0
  ) {
    throw malformed(`There is no raw block ${place}: expected a hex string, or an object with one as "raw".`)
  }
  return fromHex(lowerCaseHex(raw))
}

function rawIn(line: string): unknown {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && 'raw' in value ? value.raw : value
  } catch {
    return undefined
  }
}
