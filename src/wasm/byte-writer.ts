/** Writes the bytes of WebAssembly modules, tens of thousands for hot code. */

/** Bytes that grow at their end; numbers are those of the format (LEB128). */
export class ByteWriter {
  #bytes = new Uint8Array(256)
  length = 0

  push(...bytes: number[]): void {
    if (this.length + bytes.length > this.#bytes.length) this.#grow(bytes.length)
    for (const byte of bytes) this.#bytes[this.length++] = byte
  }

  append(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.#bytes.length) this.#grow(bytes.length)
    this.#bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  /** A length or index. */
  unsigned(value: number): void {
    let rest = value
    while (rest >= 0x80) {
      this.push((rest & 0x7f) | 0x80)
      rest = Math.floor(rest / 128)
    }
    this.push(rest)
  }

  /** A signed number of 32 bits. */
  signed32(value: number): void {
    let rest = value | 0
    while (rest < -0x40 || rest >= 0x40) {
      this.push((rest & 0x7f) | 0x80)
      rest >>= 7
    }
    this.push(rest & 0x7f)
  }

  /** A signed number of 64 bits. */
  signed64(value: bigint): void {
    let rest = value
    while (rest < -0x40n || rest >= 0x40n) {
      this.push(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    this.push(Number(rest & 0x7fn))
  }

  /** The bytes, until more are written. */
  view(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.length)
  }

  #grow(by: number): void {
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + by))
    larger.set(this.view())
    this.#bytes = larger
  }
}
