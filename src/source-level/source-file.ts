/** A source of a compilation: its lines by byte, and the functions in it. */

/** A range of bytes of a source. */
export interface SourceRange {
  readonly file: SourceFile
  /** First byte. */
  readonly start: number
  /** Behind the last byte. */
  readonly end: number
}

/** What a function is. A getter is that of a public variable. */
export type FunctionKind =
  | 'function'
  | 'constructor'
  | 'fallback'
  | 'receive'
  | 'getter'
  | 'modifier'
  | 'free function'

/** A function, a modifier, or a variable with a getter. */
export interface FunctionModel {
  readonly kind: FunctionKind
  /** As it is shown: `constructor`, `<fallback>` and `<receive>` where it has no name of its own. */
  readonly name: string
  readonly range: SourceRange
  readonly isPayable: boolean
  /** Neither `view` nor `pure`. */
  readonly changesState: boolean
  /** Can a transaction call it? */
  readonly isExternal: boolean
  /** 8 hex digits; absent where the compiler does not give it. */
  readonly selector?: string
  /** Number of parameters; -1 where it is not known. */
  readonly arity: number
}

/** Is the second range inside the first one? */
export function contains(outer: SourceRange, inner: SourceRange): boolean {
  return outer.file === inner.file && outer.start <= inner.start && inner.end <= outer.end
}

/** Are they the same bytes? */
export function isSameRange(a: SourceRange, b: SourceRange): boolean {
  return a.file === b.file && a.start === b.start && a.end === b.end
}

/** Line and column of a byte, both from 1; the column counts characters. */
export interface Position {
  readonly line: number
  readonly column: number
}

const NEWLINE = 0x0a
/** Bytes of a block whose characters are counted once. */
const BLOCK_BYTES = 1024

/** Characters that begin between two bytes of UTF-8, as JavaScript counts them: those beyond U+FFFF are two. */
function charactersIn(bytes: Uint8Array, start: number, end: number): number {
  let count = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    if ((byte & 0xc0) !== 0x80) count += byte >= 0xf0 ? 2 : 1
  }
  return count
}

/** Characters before each block, and before what follows the last one. */
function countsOf(bytes: Uint8Array): number[] {
  const counts = [0]
  for (let start = 0; start + BLOCK_BYTES <= bytes.length; start += BLOCK_BYTES) {
    counts.push((counts.at(-1) ?? 0) + charactersIn(bytes, start, start + BLOCK_BYTES))
  }
  return counts
}

function nextCharacter(bytes: Uint8Array, from: number): number {
  let next = from + 1
  while (((bytes[next] ?? 0) & 0xc0) === 0x80) next++
  return next
}

/** The first byte of each block of so many characters. */
function blocksOf(bytes: Uint8Array): number[] {
  const blocks: number[] = []
  let characters = 0
  for (let byte = 0; byte < bytes.length; byte = nextCharacter(bytes, byte)) {
    if (characters++ % BLOCK_BYTES === 0) blocks.push(byte)
  }
  return blocks
}

/** The index of the last element of an ascending list that is at most `most`; -1 where none is. */
function lastUpTo<T>(list: readonly T[], most: number, placeOf: (element: T) => number): number {
  let [low, high] = [-1, list.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    const element = list[middle]
    if (element !== undefined && placeOf(element) <= most) low = middle
    else high = middle - 1
  }
  return low
}

/** A source. Compilers count bytes of UTF-8. */
export class SourceFile {
  readonly path: string
  readonly #content: string
  #bytes: Buffer | undefined
  /** The first byte of each line. */
  #lines: readonly number[] | undefined
  readonly #functions: FunctionModel[] = []
  /** The functions by their first bytes; absent until it is asked for. */
  #byStart: readonly FunctionModel[] | undefined
  /** The first byte of each block of characters. */
  #blocks: readonly number[] | undefined
  /** Characters before each block of bytes. */
  #counts: readonly number[] | undefined

  constructor(path: string, content: string) {
    this.path = path
    this.#content = content
  }

  /** Is its text known? Without it there are no lines. */
  get hasText(): boolean {
    return this.#content !== ''
  }

  /** Its text. */
  get content(): string {
    return this.#content
  }

  get lineCount(): number {
    return this.#lineStarts().length
  }

  /** The first byte of a line; the end of the text behind the last one. */
  lineStart(line: number): number {
    return this.#lineStarts()[line - 1] ?? this.#utf8().length
  }

  /** Adds a function that is declared in it. */
  declare(declared: FunctionModel): void {
    this.#functions.push(declared)
    this.#byStart = undefined
  }

  /** All functions in it, in the order of their declaration. */
  get functions(): readonly FunctionModel[] {
    return this.#functions
  }

  /** The function or modifier around a range. Functions do not overlap. */
  functionAround(range: SourceRange): FunctionModel | undefined {
    this.#byStart ??= this.#functions.toSorted((a, b) => a.range.start - b.range.start)
    const around = this.#byStart[lastUpTo(this.#byStart, range.start, (one) => one.range.start)]
    return around && contains(around.range, range) ? around : undefined
  }

  /** The first byte of a character, as Python counts them: all are one. In time that does not depend on the text's length. */
  byteOf(character: number): number {
    const bytes = this.#utf8()
    if (bytes.length === this.#content.length) return character
    this.#blocks ??= blocksOf(bytes)
    const block = Math.min(Math.floor(character / BLOCK_BYTES), this.#blocks.length - 1)
    let byte = this.#blocks[block] ?? 0
    for (let left = character - block * BLOCK_BYTES; left > 0 && byte < bytes.length; left--) {
      byte = nextCharacter(bytes, byte)
    }
    return byte
  }

  /** Where a byte is. */
  positionOf(offset: number): Position {
    const starts = this.#lineStarts()
    const index = Math.max(
      0,
      lastUpTo(starts, offset, (start) => start),
    )
    const column = this.#charactersBefore(offset) - this.#charactersBefore(starts[index] ?? 0) + 1
    return { line: index + 1, column }
  }

  /** Characters before a byte, in time that does not depend on the length of the line. */
  #charactersBefore(offset: number): number {
    const bytes = this.#utf8()
    this.#counts ??= countsOf(bytes)
    const end = Math.min(offset, bytes.length)
    const block = Math.floor(end / BLOCK_BYTES)
    return (this.#counts[block] ?? 0) + charactersIn(bytes, block * BLOCK_BYTES, end)
  }

  /** The text of a line, without its end. */
  lineText(line: number): string | undefined {
    const starts = this.#lineStarts()
    const start = starts[line - 1]
    if (start === undefined) return undefined
    return this.#utf8()
      .subarray(start, starts[line])
      .toString('utf8')
      .replace(/\r?\n$/, '')
  }

  /** The text of a range. */
  textOf({ start, end }: { readonly start: number; readonly end: number }): string {
    return this.#utf8().subarray(start, end).toString('utf8')
  }

  #utf8(): Buffer {
    this.#bytes ??= Buffer.from(this.#content)
    return this.#bytes
  }

  #lineStarts(): readonly number[] {
    if (this.#lines !== undefined) return this.#lines
    const bytes = this.#utf8()
    const starts = [0]
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) starts.push(at + 1)
    this.#lines = starts
    return starts
  }
}
