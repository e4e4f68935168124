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

/** A source. Compilers count bytes of UTF-8. */
export class SourceFile {
  readonly path: string
  readonly #content: string
  #bytes: Buffer | undefined
  /** The first byte of each line. */
  #lines: readonly number[] | undefined
  readonly #functions: FunctionModel[] = []

  constructor(path: string, content: string) {
    this.path = path
    this.#content = content
  }

  /** Is its text known? Without it there are no lines. */
  get hasText(): boolean {
    return this.#content !== ''
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
  }

  /** All functions in it, in the order of their declaration. */
  get functions(): readonly FunctionModel[] {
    return this.#functions
  }

  /** The function or modifier around a range. */
  functionAround(range: SourceRange): FunctionModel | undefined {
    return this.#functions.find(({ range: outer }) => contains(outer, range))
  }

  /** Where a byte is. */
  positionOf(offset: number): Position {
    const starts = this.#lineStarts()
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    const before = this.#utf8().subarray(starts[low], offset)
    return { line: low + 1, column: before.toString('utf8').length + 1 }
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
