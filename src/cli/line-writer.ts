/** Lines to a stream, gathered so that a line per call costs no system call per call, and a deaf reader costs no memory. */
import type { Writable } from 'node:stream'

/** Takes lines. */
export interface LineWriter {
  /** Appends a line (without its newline); it is printed soon. Dropped while the reader is far behind. */
  write(line: string): void
  /** Prints what is gathered; resolves when the stream took it, or after a moment when the reader does not. */
  flush(): Promise<void>
}

/** Unread characters from which lines are dropped. */
const DEAF_CHARACTERS = 4_194_304
const FLUSH_MS = 500

/** Makes a writer. A stream whose reader has gone swallows the lines: the node goes on. */
export function createLineWriter(stream: Writable): LineWriter {
  let gathered: string[] = []
  let scheduled = false
  stream.on('error', () => {})

  function print(done?: () => void): void {
    scheduled = false
    const text = gathered.length === 0 ? '' : `${gathered.join('\n')}\n`
    gathered = []
    stream.write(text, done)
  }

  return {
    write(line) {
      if (stream.writableLength > DEAF_CHARACTERS) return
      gathered.push(line)
      if (scheduled) return
      scheduled = true
      setImmediate(() => {
        if (scheduled) print()
      })
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
