/** ASCII text that grows outside of the heap, which would otherwise be searched for garbage over and over; packed once it is long. */
import { deflateRawSync } from 'node:zlib'
import type { TraceBudget } from '../../../evm/tracing/trace-budget.ts'
import { type JsonChunk, PackedText } from '../../raw-json.ts'

const FIRST_CHUNK = 1 << 12
const LARGEST_CHUNK = 1 << 18
/** So many bytes stay as they are: most texts are not longer, and cost no packing. */
const UNPACKED = 1 << 22

/** Gathers text in chunks. Throws `limit-exceeded` beyond its budget. */
export class TextBuffer {
  readonly #budget: TraceBudget
  readonly #full: JsonChunk[] = []
  #open = Buffer.allocUnsafeSlow(0)
  /** Bytes of the open chunk that are written. */
  #length = 0
  /** Bytes of full chunks that are not packed. */
  #unpacked = 0

  constructor(budget: TraceBudget) {
    this.#budget = budget
  }

  /** `text` is ASCII. */
  append(text: string): void {
    this.#budget.write(text.length)
    if (this.#length + text.length > this.#open.length) this.#makeRoom(text.length)
    this.#length += this.#open.write(text, this.#length, 'latin1')
  }

  /** All text so far; nothing may be appended afterwards. */
  chunks(): readonly JsonChunk[] {
    return [...this.#full, this.#open.subarray(0, this.#length)]
  }

  #makeRoom(length: number): void {
    const packs = this.#unpacked >= UNPACKED
    if (this.#length > 0) this.#full.push(packs ? this.#packed() : this.#kept())
    this.#length = 0
    // What is packed leaves its chunk free.
    if (packs && this.#open.length >= length) return
    const size = Math.max(length, FIRST_CHUNK, Math.min(LARGEST_CHUNK, this.#open.length * 2))
    this.#budget.take(size)
    this.#open = Buffer.allocUnsafeSlow(size)
  }

  #kept(): Buffer {
    this.#unpacked += this.#length
    return this.#open.subarray(0, this.#length)
  }

  /** Steps resemble each other: packing takes a tenth of the time, and leaves a tenth of the bytes or less. */
  #packed(): PackedText {
    const packed = deflateRawSync(this.#open.subarray(0, this.#length), { level: 1 })
    this.#budget.take(packed.length)
    return new PackedText(packed, this.#length)
  }
}
