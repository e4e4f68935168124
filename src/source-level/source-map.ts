/**
 * Source maps of solc, and of Vyper before 0.4: for each instruction a range of a source, and whether a jump enters or
 * leaves a function (https://docs.soliditylang.org/en/latest/internals/source_mappings.html).
 */

/** Whether an instruction is a jump into a function or out of one. */
export type JumpKind = 'in' | 'out' | 'none'

/** The entries of a map, by the number of the instruction. */
export interface SourceMap {
  /** Instructions that have an entry. */
  readonly length: number
  /** First bytes. */
  readonly starts: Int32Array
  /** Bytes. */
  readonly lengths: Int32Array
  /** Ids of sources; -1 for none. */
  readonly files: Int32Array
  /** Are the entries those of program counters, and not of the instructions in order? */
  readonly isByPc: boolean
  jumpAt(index: number): JumpKind
}

const JUMPS: readonly JumpKind[] = ['none', 'in', 'out']
const LETTERS: ReadonlyMap<string, number> = new Map([
  ['-', 0],
  ['i', 1],
  ['o', 2],
])

const NUMBER = /^-?\d{1,10}$/

/** A number of a field; the one before where it is absent, and `undefined` where it is no number. */
function numberIn(field: string | undefined, before: number): number | undefined {
  if (field === undefined || field === '') return before
  return NUMBER.test(field) ? Number(field) : undefined
}

/**
 * Reads a map of at most `most` entries. It ends before the first entry that is malformed: the instructions from there on
 * have none.
 */
export function readSourceMap(text: string, most: number): SourceMap {
  const entries = text === '' ? [] : text.split(';', most)
  const starts = new Int32Array(entries.length)
  const lengths = new Int32Array(entries.length)
  const files = new Int32Array(entries.length)
  const jumps = new Uint8Array(entries.length)
  let [start, length, file, jump] = [0, 0, -1, 0] as [number, number, number, number]
  let read = 0
  for (const entry of entries) {
    const fields = entry.split(':')
    // A first entry may be incomplete, and has no range then.
    const isWhole = read > 0 || fields.slice(0, 4).filter((field) => field !== '').length === 4
    const next = isWhole
      ? [numberIn(fields[0], start), numberIn(fields[1], length), numberIn(fields[2], file)]
      : [0, 0, -1]
    const letter = isWhole && fields[3] ? LETTERS.get(fields[3]) : isWhole ? jump : 0
    const [nextStart, nextLength, nextFile] = next
    if (nextStart === undefined || nextLength === undefined || nextFile === undefined || letter === undefined)
      break
    start = starts[read] = nextStart
    length = lengths[read] = nextLength
    file = files[read] = nextFile
    jump = jumps[read] = letter
    read++
  }
  return {
    length: read,
    starts,
    lengths,
    files,
    isByPc: false,
    jumpAt: (index) => JUMPS[jumps[index] ?? 0] ?? 'none',
  }
}
