/** ASCII text outside the JavaScript heap, which keeps it away from the garbage collector; compressed once it is long. */
import { deflateRawSync } from 'node:zlib'
import type { TraceBudget } from '../../../evm/tracing/trace-budget.ts'
import { type JsonChunk, PackedText } from '../../raw-json.ts'

const FIRST_CHUNK = 1 << 12
const LARGEST_CHUNK = 1 << 18
/** Bytes that stay uncompressed: most texts are shorter. */
const UNPACKED = 1 << 22

/** Collects text in chunks. Throws `limit-exceeded` beyond its budget. */
export class TextBuffer {
  readonly #budget: TraceBudget
  readonly #full: JsonChunk[] = []
  #open = Buffer.allocUnsafeSlow(0)
  /** Bytes of the open chunk that are written. */
  #length = 0
  /** Bytes of full chunks that are not compressed. */
  #unpacked = 0

  constructor(budget: TraceBudget) {
    this.#budget = budget
  }

  /** `text` is ASCII. */
  append(text: string): void {
    this.#budget.write(text.length)
    if (this.#length + text.length > this.#open.length) this.#openChunk(text.length)
    this.#length += this.#open.write(text, this.#length, 'latin1')
  }

  /** The whole text; nothing may be appended afterwards. */
  chunks(): readonly JsonChunk[] {
    return [...this.#full, this.#open.subarray(0, this.#length)]
  }

  #openChunk(length: number): void {
    const packs = this.#unpacked >= UNPACKED
    if (this.#length > 0) this.#full.push(packs ? this.#packed() : this.#kept())
    this.#length = 0
    // The buffer of a compressed chunk can be reused.
    if (packs && this.#open.length >= length) return
    const size = Math.max(length, FIRST_CHUNK, Math.min(LARGEST_CHUNK, this.#open.length * 2))
    this.#budget.take(size)
    this.#open = Buffer.allocUnsafeSlow(size)
  }

  #kept(): Buffer {
    this.#unpacked += this.#length
    return this.#open.subarray(0, this.#length)
  }

  /** Consecutive steps are similar: compression adds a tenth to the time and leaves at most a tenth of the bytes. */
  #packed(): PackedText {
    const packed = deflateRawSync(this.#open.subarray(0, this.#length), { level: 1 })
    this.#budget.take(packed.length)
    return new PackedText(packed, this.#length)
  }
}
