/** Lines to a stream, gathered so that a line per call costs no system call per call, and a deaf reader costs no memory. */
import type { Writable } from 'node:stream'

/** Takes lines. */
export interface LineWriter {
  /** Appends a line (without its newline); it is printed soon. Dropped while the reader is far behind. */
  write(line: string): void
  /** Prints what is gathered; resolves when the stream took it, or after a moment when the reader does not. */
  flush(): Promise<void>
}

/** Takes also lines that are still being made. */
export interface PatientWriter extends LineWriter {
  /** Appends lines once they are there; those after them wait. They are left out when the promise rejects. */
  later(lines: Promise<readonly string[]>): void
}

/** Lines between two waits for the reader. */
const LINES_AT_ONCE = 500

/** Prints many lines of a command that has nothing else to do than to wait for its reader. */
export async function printAll(lines: Iterable<string>, writer: LineWriter): Promise<void> {
  let count = 0
  for (const line of lines) {
    writer.write(line)
    if (++count % LINES_AT_ONCE === 0) await writer.flush()
  }
}

/** Unread characters from which lines are dropped. */
const DEAF_CHARACTERS = 4_194_304
const FLUSH_MS = 500

/** Makes a writer. A stream whose reader has gone swallows the lines: the node goes on. */
export function createLineWriter(stream: Writable): PatientWriter {
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
      if (stream.writableLength + waiting > DEAF_CHARACTERS) return
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
