/** Writes lines to a stream, batched to save system calls and bounded while the reader does not read. */
import type { Writable } from 'node:stream'

/** Takes lines. */
export interface LineWriter {
  /**
   * Appends a line (without its newline), printed with the next batch. Dropped while the reader is far behind. Of lines
   * one after another with the same `key` the first is printed, and their number once another line follows.
   */
  write(line: string, key?: string): void
  /** Prints what is queued; resolves when the stream has written it, or after a timeout. */
  flush(): Promise<void>
}

/** Takes also lines that are still being made, and keeps their place. */
export interface OrderedWriter extends LineWriter {
  /** Appends lines once the promise resolves, and none when it rejects; lines after them wait. */
  later(lines: Promise<readonly string[]>): void
}

/** Lines between two waits for the reader. */
const LINES_AT_ONCE = 500

/** Prints many lines at the pace of the reader. */
export async function printAll(lines: Iterable<string>, writer: LineWriter): Promise<void> {
  let count = 0
  for (const line of lines) {
    writer.write(line)
    if (++count % LINES_AT_ONCE === 0) await writer.flush()
  }
}

/** Lines are dropped while more characters than this are unread. */
const MAX_UNREAD_CHARACTERS = 4_194_304
const FLUSH_MS = 500

/** Writes lines to a stream. Errors of the stream are ignored: the node runs on without a reader. */
export class StreamLineWriter implements OrderedWriter {
  readonly #stream: Writable
  /** `undefined` are lines still being made. */
  #gathered: { readonly text: string | undefined }[] = []
  /** Characters of `#gathered`. */
  #waiting = 0
  #isScheduled = false
  /** The key of the last line, and how many lines with it were left out. */
  #key: string | undefined
  #leftOut = 0

  constructor(stream: Writable) {
    this.#stream = stream
    stream.on('error', () => {})
  }

  write(line: string, key?: string): void {
    if (key !== undefined && key === this.#key) {
      this.#leftOut++
      return
    }
    this.#printLeftOut()
    this.#key = key
    this.#append(line)
  }

  /** Appends the number of lines that were left out. */
  #printLeftOut(): void {
    const count = this.#leftOut
    this.#leftOut = 0
    this.#key = undefined
    if (count > 0) this.#append(`  (${count === 1 ? 'once' : `${count} times`} more)`)
  }

  #append(line: string): void {
    if (this.#stream.writableLength + this.#waiting > MAX_UNREAD_CHARACTERS) return
    this.#gathered.push({ text: `${line}\n` })
    this.#waiting += line.length + 1
    this.#schedule()
  }

  later(lines: Promise<readonly string[]>): void {
    this.#printLeftOut()
    const place: { text: string | undefined } = { text: undefined }
    this.#gathered.push(place)
    const fill = (made: readonly string[]) => {
      place.text = made.map((line) => `${line}\n`).join('')
      this.#waiting += place.text.length
      this.#schedule()
    }
    lines.then(fill, () => fill([]))
  }

  flush(): Promise<void> {
    this.#printLeftOut()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, FLUSH_MS)
      this.#print(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      if (this.#isScheduled) this.#print()
    })
  }

  /** Prints the lines before the first that is still being made. */
  #print(done?: () => void): void {
    this.#isScheduled = false
    const open = this.#gathered.findIndex(({ text }) => text === undefined)
    const ready = open < 0 ? this.#gathered : this.#gathered.slice(0, open)
    this.#gathered = open < 0 ? [] : this.#gathered.slice(open)
    const text = ready.map(({ text }) => text).join('')
    this.#waiting -= text.length
    this.#stream.write(text, done)
  }
}
