/** Maps in other forms than solc's own: those of Vyper from 0.4 on, and ETHDebug programs. Their entries are those of program counters. */
import type { JumpKind, SourceMap } from './source-map.ts'
import { isNode, type SyntaxNode } from './syntax-tree.ts'

const ENTRY = /^(-?\d{1,10}):(-?\d{1,10}):(-?\d{1,10})(?::([io-]))?$/
const LETTERS: Readonly<Record<string, JumpKind>> = { i: 'in', o: 'out' }

function emptyMap(length: number, jumps: ReadonlyMap<number, JumpKind>): SourceMap {
  return {
    length,
    starts: new Int32Array(length),
    lengths: new Int32Array(length),
    files: new Int32Array(length).fill(-1),
    isByPc: true,
    jumpAt: (pc) => jumps.get(pc) ?? 'none',
  }
}

/**
 * Reads a map of Vyper 0.4: an entry for each byte of the code, whole each, `start:length:file` with the kind of a jump
 * behind it (`_compress_source_map` in vyper/compiler/output.py). It ends before the first entry that is malformed.
 */
export function readVyperMap(text: string, codeLength: number): SourceMap {
  const entries = text === '' ? [] : text.split(';', codeLength)
  const jumps = new Map<number, JumpKind>()
  const broken = entries.findIndex((entry) => !ENTRY.test(entry))
  const map = emptyMap(broken === -1 ? entries.length : broken, jumps)
  for (let pc = 0; pc < map.length; pc++) {
    const [, start, length, file, letter = ''] = ENTRY.exec(entries[pc] ?? '') ?? []
    map.starts[pc] = Number(start)
    map.lengths[pc] = Number(length)
    map.files[pc] = Number(file)
    const jump = LETTERS[letter]
    if (jump !== undefined) jumps.set(pc, jump)
  }
  return map
}

/** The text of a map. Vyper 0.4 gives it beside other forms of it. */
export function mapText(sourceMap: unknown): string {
  const text = isNode(sourceMap) ? sourceMap.pc_pos_map_compressed : sourceMap
  return typeof text === 'string' ? text : ''
}

/** What Vyper 0.4 checks at program counters, in its own words: `safeadd`, `user assert`. */
export function vyperChecks(sourceMap: unknown): ReadonlyMap<number, string> {
  const checks = isNode(sourceMap) && isNode(sourceMap.error_map) ? sourceMap.error_map : {}
  return new Map(
    Object.entries(checks).flatMap(([pc, text]) =>
      typeof text === 'string' && /^\d{1,6}$/.test(pc) ? [[Number(pc), text] as const] : [],
    ),
  )
}

const isCount = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0

/** The range of an instruction's context: the first of those that it gathers. */
function rangeIn(context: unknown, depth = 0): readonly [number, number, number] | undefined {
  if (!isNode(context) || depth > 8) return undefined
  const { code, pick, gather } = context
  if (isNode(code) && isNode(code.range) && isNode(code.source)) {
    const { offset, length } = code.range
    const { id } = code.source
    if (isCount(offset) && isCount(length) && isCount(id)) return [offset, length, id]
  }
  for (const list of [pick, gather]) {
    const [first] = Array.isArray(list) ? list : []
    const found = rangeIn(first, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Reads the program that solc writes in the format ETHDebug (https://ethdebug.github.io/format/spec/program/overview).
 * `undefined` for anything else. It has no kinds of jumps.
 */
export function readEthdebug(program: unknown, codeLength: number): SourceMap | undefined {
  if (!isNode(program) || !Array.isArray(program.instructions)) return undefined
  const map = emptyMap(codeLength, new Map())
  for (const instruction of program.instructions.slice(0, codeLength) as readonly unknown[]) {
    if (!isNode(instruction)) continue
    noteInstruction(map, instruction)
  }
  return map
}

function noteInstruction(map: SourceMap, { offset, context }: SyntaxNode): void {
  const range = rangeIn(context)
  if (range === undefined || !isCount(offset) || offset >= map.length) return
  const [start, length, file] = range
  map.starts[offset] = start
  map.lengths[offset] = length
  map.files[offset] = file
}
