/** A recording as it is read: line by line, never as a whole. */
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
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
  /** Number of the last line, where it is incomplete and left out; known when the lines have been read. */
  cutLine(): number | undefined
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
 * one that is malformed; so do the lines when they are read. A last line that the end of the file cuts off is left out.
 */
export async function openRecording(path: string): Promise<Recording> {
  const texts = textLines(path)
  const first = await texts.next()
  if (first.done) throw new NodeError('invalid-params', `Malformed recording: ${path} is empty.`)
  let cut: number | undefined
  const onCut = (line: number) => {
    cut = line
  }
  return { header: readHeader(first.value), lines: linesOf(path, texts, onCut), cutLine: () => cut }
}

/** Texts with their numbers from 2 on, each with whether it is the last. */
async function* numbered(
  texts: AsyncIterable<string>,
): AsyncGenerator<{ text: string; number: number; isLast: boolean }> {
  let number = 1
  let before: string | undefined
  for await (const text of texts) {
    if (before !== undefined) yield { text: before, number, isLast: false }
    before = text
    number++
  }
  if (before !== undefined) yield { text: before, number, isLast: true }
}

async function* linesOf(
  path: string,
  texts: AsyncIterable<string>,
  onCut: (line: number) => void,
): AsyncGenerator<NumberedLine> {
  for await (const { text, number, isLast } of numbered(texts)) {
    if (isLast && !isJson(text) && !(await endsWithNewline(path))) return onCut(number)
    yield { number, value: readLine(text, number) }
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A node that is killed leaves a file that ends within a line. */
async function endsWithNewline(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1)
    return buffer.toString() === '\n'
  } finally {
    await file.close()
  }
}

/** A recording that fits into memory, with all of its lines. */
export interface WholeRecording extends Omit<Recording, 'lines'> {
  readonly lines: readonly NumberedLine[]
}

/** Reads such a recording. Throws like `openRecording`. */
export async function readRecording(path: string): Promise<WholeRecording> {
  const { lines, ...recording } = await openRecording(path)
  const all: NumberedLine[] = []
  for await (const line of lines) all.push(line)
  return { ...recording, lines: all }
}
