/** The instructions of compiled code with their places in the sources. */
import type { AbiEntry } from '../abi/entry.ts'
import { toNumber } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import { opcodeAt, sizeOf } from '../evm/code-analysis.ts'
import type { ContractModel } from './contract-model.ts'
import type { Reachability } from './reachability.ts'
import type { FunctionModel, SourceFile, SourceRange } from './source-file.ts'
import type { JumpKind, SourceMap } from './source-map.ts'

const JUMP = 0x56
const PUSH0 = 0x5f
const PUSH32 = 0x7f
/** Statements of Vyper that are one word. */
const STATEMENTS = new Set(['raise', 'return', 'pass', 'break', 'continue'])

/** One instruction. */
export interface Instruction {
  readonly pc: number
  readonly opcode: number
  readonly jump: JumpKind
  /** Absent where the compiler names no source that is known: in code that it generated, and behind the map. */
  readonly range?: SourceRange
}

/** What a code map is made of. */
export interface CodeMapParts {
  /** Id of the compilation. */
  readonly compilation: Hex
  /** Of the source that declares the contract. */
  readonly path: string
  /** Name of the contract. */
  readonly name: string
  /** Absent without a syntax tree. */
  readonly contract: ContractModel | undefined
  /** Numbers of `major.minor.patch`. */
  readonly version: readonly [number, number, number]
  readonly isCreation: boolean
  /** As the compiler made it: link places hold anything. */
  readonly code: Uint8Array
  readonly map: SourceMap
  /** Of instructions that the map does not have. */
  readonly ethdebug: SourceMap | undefined
  /** Vyper's maps count characters, not bytes, and do not mark jumps out of functions. */
  readonly isVyper: boolean
  /** Code that Vyper inlined and reordered: an instruction without a place may be of any function. */
  readonly isReordered: boolean
  /** What the compiler checks at program counters: `safeadd`. */
  readonly checks: ReadonlyMap<number, string>
  readonly fileOf: (id: number) => SourceFile | undefined
  /** Present where the compiler optimised: then an instruction may have the range of equal code elsewhere. */
  readonly reachability: Reachability | undefined
  /** Finds a function of the contract, or an error of the compilation, by its selector of 8 hex digits. */
  entry(kind: 'function' | 'error', selector: string): AbiEntry | undefined
}

type Version = CodeMapParts['version']

/** Is the first version at least the second one? */
export function isVersionSince([a, b, c]: Version, [major, minor, patch]: Version): boolean {
  if (a !== major) return a > major
  return b !== minor ? b > minor : c >= patch
}

/** Code with its map. */
export class CodeMap {
  readonly compilation: Hex
  readonly path: string
  readonly name: string
  readonly contract: ContractModel | undefined
  readonly isCreation: boolean
  readonly #parts: CodeMapParts
  /** Number of the instruction at each pc; -1 within pushed data. */
  readonly #indexes: Int32Array
  readonly #instructions: (Instruction | undefined)[] = []

  constructor(parts: CodeMapParts) {
    this.#parts = parts
    this.compilation = parts.compilation
    this.path = parts.path
    this.name = parts.name
    this.contract = parts.contract
    this.isCreation = parts.isCreation
    this.#indexes = indexesOf(parts.code)
  }

  /** Bytes of the compiled code. */
  get length(): number {
    return this.#parts.code.length
  }

  /** The instruction at a pc; `undefined` within pushed data and behind the code. */
  at(pc: number): Instruction | undefined {
    const index = this.#indexes[pc]
    if (index === undefined || index < 0) return undefined
    let found = this.#instructions[index]
    if (found === undefined) {
      found = this.#read(pc, index)
      this.#instructions[index] = found
    }
    return found
  }

  get isOptimized(): boolean {
    return this.#parts.reachability !== undefined
  }

  get isVyper(): boolean {
    return this.#parts.isVyper
  }

  /** Has Vyper inlined and reordered it? Then an instruction without a place may be of any function. */
  get isReordered(): boolean {
    return this.#parts.isReordered
  }

  /** What the compiler checks at a pc, in its own words. */
  checkAt(pc: number): string | undefined {
    return this.#parts.checks.get(pc)
  }

  /** Can an instruction in this range have run as a part of a function? */
  mayRunIn(active: FunctionModel, range: SourceRange): boolean {
    const around = range.file.functionAround(range)
    if (around === undefined || around === active) return true
    return this.#parts.reachability?.reaches(active, around) !== false
  }

  /** Is the compiler's version at least this one? */
  isSince(major: number, minor: number, patch: number): boolean {
    return isVersionSince(this.#parts.version, [major, minor, patch])
  }

  /** The function or error with a selector of 8 hex digits. */
  entry(kind: 'function' | 'error', selector: string): AbiEntry | undefined {
    return this.#parts.entry(kind, selector)
  }

  #read(pc: number, index: number): Instruction {
    const opcode = opcodeAt(this.#parts.code, pc)
    const found = this.#rangeAt(pc, index)
    const isMisplaced = this.isVyper && found !== undefined && isPush(opcode) && isName(found)
    const range = isMisplaced ? undefined : found
    return {
      pc,
      opcode,
      // Vyper does not repeat the kind of a jump at what follows it.
      jump: opcode === JUMP ? this.#jumpAt(pc, index) : 'none',
      ...(range && { range }),
    }
  }

  #jumpAt(pc: number, index: number): JumpKind {
    const { map, isVyper } = this.#parts
    const marked = map.jumpAt(map.isByPc ? pc : index)
    return isVyper && marked === 'none' ? this.#vyperJumpAt(pc, index) : marked
  }

  /**
   * The kind of a jump by Vyper that its map does not mark. It jumps to places that it pushes right before, but for those that
   * functions return to. Of calls its newer code generator pushes both, the place behind the jump first.
   */
  #vyperJumpAt(pc: number, index: number): JumpKind {
    const target = this.#pushBefore(pc, index)
    if (target === undefined) return 'out'
    const back = this.#pushBefore(target.pc, index - 1)
    return back?.value === pc + 1 ? 'in' : 'none'
  }

  /** The instruction in front of one, if it pushes. */
  #pushBefore(pc: number, index: number): { readonly pc: number; readonly value: number } | undefined {
    const { code } = this.#parts
    let before = pc - 1
    while (before >= 0 && this.#indexes[before] !== index - 1) before--
    const opcode = opcodeAt(code, before)
    if (before < 0 || !isPush(opcode)) return undefined
    const data = code.subarray(before + 1, pc)
    return { pc: before, value: data.length > 4 ? -1 : toNumber(data) }
  }

  #rangeAt(pc: number, index: number): SourceRange | undefined {
    const { map, ethdebug, fileOf, isVyper } = this.#parts
    const own = map.isByPc ? pc : index
    const [found, at] = own < map.length ? [map, own] : [ethdebug, pc]
    const file = found && fileOf(found.files[at] ?? -1)
    const start = found?.starts[at] ?? 0
    const end = start + (found?.lengths[at] ?? 0)
    if (file === undefined || start < 0 || end < start) return undefined
    return isVyper ? { file, start: file.byteOf(start), end: file.byteOf(end) } : { file, start, end }
  }
}

const isPush = (opcode: number): boolean => opcode >= PUSH0 && opcode <= PUSH32

/** Is it the name of a variable? Vyper may place the use of one where another use of it is. */
function isName(range: SourceRange): boolean {
  const text = range.file.textOf(range)
  return /^[A-Za-z_]\w*$/.test(text) && !STATEMENTS.has(text)
}

function indexesOf(code: Uint8Array): Int32Array {
  const indexes = new Int32Array(code.length).fill(-1)
  let index = 0
  for (let pc = 0; pc < code.length; pc += sizeOf(opcodeAt(code, pc))) indexes[pc] = index++
  return indexes
}
