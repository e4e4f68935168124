/** Writes lines to a stream, batched to save system calls and bounded while the reader does not read. */
import type { Writable } from 'node:stream'

/** Takes lines. */
export interface LineWriter {
  /** Appends a line (without its newline), printed with the next batch. Dropped while the reader is far behind. */
  write(line: string): void
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

/** Makes a writer. Errors of the stream are ignored: the node goes on without a reader. */
export function createLineWriter(stream: Writable): OrderedWriter {
  /** `undefined` are lines still being made. */
  let gathered: { readonly text: string | undefined }[] = []
  /** Characters of `gathered`. */
  let waiting = 0
  let scheduled = false
  stream.on('error', () => {})

  function print(done?: () => void): void {
    scheduled = false
    const open = gathered.findIndex(({ text }) => text === undefined)
    const ready = open < 0 ? gathered : gathered.slice(0, open)
    gathered = open < 0 ? [] : gathered.slice(open)
    const text = ready.map(({ text }) => text).join('')
    waiting -= text.length
    stream.write(text, done)
  }

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(() => {
      if (scheduled) print()
    })
  }

  return {
    write(line) {
      if (stream.writableLength + waiting > MAX_UNREAD_CHARACTERS) return
      gathered.push({ text: `${line}\n` })
      waiting += line.length + 1
      schedule()
    },
    later(lines) {
      const place: { text: string | undefined } = { text: undefined }
      gathered.push(place)
      const fill = (made: readonly string[]) => {
        place.text = made.map((line) => `${line}\n`).join('')
        waiting += place.text.length
        schedule()
      }
      lines.then(fill, () => fill([]))
    },
    flush() {
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, FLUSH_MS)
        print(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    },
  }
}
