/** The instructions of compiled code with their places in the sources. */
import type { AbiEntry } from '../abi/entry.ts'
import type { Hex } from '../encoding/hex.ts'
import { opcodeAt, sizeOf } from '../evm/code-analysis.ts'
import type { ContractModel } from './contract-model.ts'
import type { Reachability } from './reachability.ts'
import type { FunctionModel, SourceFile, SourceRange } from './source-file.ts'
import type { JumpKind, SourceMap } from './source-map.ts'

const JUMP = 0x56

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
  /** Do maps count characters, as Vyper's do, and not bytes? */
  readonly countsCharacters: boolean
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
    const range = this.#rangeAt(pc, index)
    const { map } = this.#parts
    return {
      pc,
      opcode,
      // Vyper does not repeat the kind of a jump at what follows it.
      jump: opcode === JUMP ? map.jumpAt(map.isByPc ? pc : index) : 'none',
      ...(range && { range }),
    }
  }

  #rangeAt(pc: number, index: number): SourceRange | undefined {
    const { map, ethdebug, fileOf, countsCharacters } = this.#parts
    const own = map.isByPc ? pc : index
    const [found, at] = own < map.length ? [map, own] : [ethdebug, pc]
    const file = found && fileOf(found.files[at] ?? -1)
    const start = found?.starts[at] ?? 0
    const end = start + (found?.lengths[at] ?? 0)
    if (file === undefined || start < 0 || end < start) return undefined
    return countsCharacters
      ? { file, start: file.byteOf(start), end: file.byteOf(end) }
      : { file, start, end }
  }
}

function indexesOf(code: Uint8Array): Int32Array {
  const indexes = new Int32Array(code.length).fill(-1)
  let index = 0
  for (let pc = 0; pc < code.length; pc += sizeOf(opcodeAt(code, pc))) indexes[pc] = index++
  return indexes
}
