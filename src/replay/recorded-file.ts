/** A recording as it is read: line by line, never as a whole. */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { NodeError } from '../errors.ts'
import { type Header, type Line, readHeader, readLine } from '../recording/lines.ts'

/** A line and its number in the file, from 1. */
export interface NumberedLine {
  readonly number: number
  readonly value: Line
}

/** A recording. */
export interface Recording {
  readonly header: Header
  /** The lines after the header; to be read once. */
  readonly lines: AsyncIterable<NumberedLine>
}

async function* textLines(path: string): AsyncGenerator<string> {
  const input = createReadStream(path)
  try {
    yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  } catch (error) {
    const why =
      error instanceof Error && 'code' in error && error.code === 'ENOENT'
        ? 'there is no such file'
        : String(error)
    throw new NodeError('invalid-options', `The recording ${path} cannot be read: ${why}.`)
  } finally {
    input.destroy()
  }
}

/**
 * Opens a recording. Throws `invalid-options` for a file that cannot be read, and `invalid-params` with line and member for
 * one that is malformed; so do the lines when they are read.
 */
export async function openRecording(path: string): Promise<Recording> {
  const texts = textLines(path)
  const first = await texts.next()
  if (first.done) throw new NodeError('invalid-params', `Malformed recording: ${path} is empty.`)
  return { header: readHeader(first.value), lines: linesOf(texts) }
}

async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<NumberedLine> {
  let number = 1
  for await (const text of texts) yield { number: ++number, value: readLine(text, number) }
}

/** All lines of a recording that fits into memory. */
export async function readRecording(path: string): Promise<{ header: Header; lines: NumberedLine[] }> {
  const { header, lines } = await openRecording(path)
  const all: NumberedLine[] = []
  for await (const line of lines) all.push(line)
  return { header, lines: all }
}
