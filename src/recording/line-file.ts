/** A file of lines that grows while others work: in order, and never more of it in memory than a writer waits for. */

import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { NodeError } from '../errors.ts'

/** A line in parts: a text, or bytes that are made when they are written. */
export type LinePart = string | Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>

/** Bytes in memory beyond which writers wait. */
const HIGH_WATER_MARK = 1 << 20

/** The file. */
export class LineFile {
  readonly #path: string
  readonly #stream: WriteStream
  #last: Promise<void> = Promise.resolve()
  #isLong = false
  #failure: Error | undefined
  #draining: Promise<void> | undefined

  private constructor(path: string, stream: WriteStream) {
    this.#path = path
    this.#stream = stream
    stream.on('error', (error) => {
      this.#failure = error
    })
  }

  /** Creates the file, in place of one that is there. Throws `invalid-options` where it cannot be written. */
  static async create(path: string): Promise<LineFile> {
    const stream = createWriteStream(path, { highWaterMark: HIGH_WATER_MARK, mode: 0o600 })
    try {
      await once(stream, 'open')
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new NodeError('invalid-options', `The recording ${path} cannot be written: ${why}.`)
    }
    return new LineFile(path, stream)
  }

  /**
   * Appends a line. Returns a promise where the caller should wait before it makes more: the file is behind, or a part of
   * the line is made bit by bit. Throws `storage` where the file cannot be written.
   */
  write(...parts: readonly LinePart[]): Promise<void> | undefined {
    if (!this.#isLong && parts.every((part) => typeof part === 'string')) {
      this.#check()
      return this.#stream.write(`${parts.join('')}\n`) ? undefined : this.#drained()
    }
    this.#isLong = true
    const before = this.#last
    const written = before.then(() => this.#writeParts(parts))
    this.#last = written
    const end = () => {
      if (this.#last === written) this.#isLong = false
    }
    written.then(end, end)
    return written
  }

  /** Resolves when everything is in the file, which is then closed. */
  async close(): Promise<void> {
    await this.#last.catch(() => {})
    await new Promise<void>((resolve) => this.#stream.end(() => resolve()))
    this.#check()
  }

  async #writeParts(parts: readonly LinePart[]): Promise<void> {
    for (const part of parts) {
      for await (const piece of typeof part === 'string' ? [part] : part) {
        this.#check()
        if (!this.#stream.write(piece)) await this.#drained()
      }
    }
    this.#stream.write('\n')
  }

  /** One wait for all that are held up: resolves when there is room, or the file has failed. */
  #drained(): Promise<void> {
    this.#draining ??= new Promise<void>((resolve) => {
      const end = () => {
        this.#stream.off('drain', end).off('close', end)
        this.#draining = undefined
        resolve()
      }
      this.#stream.on('drain', end).on('close', end)
    })
    return this.#draining
  }

  #check(): void {
    const { message } = this.#failure ?? {}
    if (message === undefined) return
    throw new NodeError('storage', `The recording ${this.#path} cannot be written: ${message}.`)
  }
}
