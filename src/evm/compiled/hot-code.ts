/**
 * What a VM keeps for its compiled code: the codes that ran last, and linear memories for the next messages. Two VMs
 * share none of it, and all of it has a bound.
 */
import { PAGE } from '../../wasm/web-assembly.ts'
import type { CodeAnalysis } from '../code-analysis.ts'
import type { OpcodeTable } from '../opcodes/operation.ts'
import type { RunClock } from '../scheduler.ts'
import { AddressWords } from './address-words.ts'
import { CompiledCode } from './compiled-code.ts'
import { LinearAllocator } from './linear-allocator.ts'
import type { PathCounter } from './paths.ts'

/** Bytes of modules that are kept, in two generations; V8's own code for them is several times as large. */
const CACHE_BYTES = 2 ** 22
/** The same for the codes of single simulations. */
const PASSING_BYTES = 2 ** 20

/** Linear memories that are kept for later messages, and the bytes up to which one is. */
const MAX_IDLE = 4
const IDLE_BYTES = 64 * PAGE

/** Of a place that stays with the interpreter, which counts up from here: the least that a count can be. */
const NEVER = -(2 ** 15)

type Generation = Map<OpcodeTable, Map<CodeAnalysis, CompiledCode>>

/** Codes in two generations: those of the older one that were not used since it grew old go. */
class Generations {
  #young: Generation = new Map()
  #old: Generation = new Map()
  #youngBytes = 0
  readonly #limit: number

  /** `limit`: bytes of the modules that are kept. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get bytes(): number {
    let bytes = 0
    for (const generation of [this.#young, this.#old])
      for (const codes of generation.values()) for (const code of codes.values()) bytes += code.bytes
    return bytes
  }

  find(analysis: CodeAnalysis, table: OpcodeTable): CompiledCode | undefined {
    const young = this.#young.get(table)?.get(analysis)
    if (young !== undefined) return young
    const codes = this.#old.get(table)
    const old = codes?.get(analysis)
    if (old === undefined) return undefined
    codes?.delete(analysis)
    this.keep(old, table)
    this.grow(old.bytes)
    return old
  }

  keep(code: CompiledCode, table: OpcodeTable): void {
    let codes = this.#young.get(table)
    if (codes === undefined) {
      codes = new Map()
      this.#young.set(table, codes)
    }
    codes.set(code.analysis, code)
  }

  /** Young codes have so many bytes more. Those that were not used since the last ones grew old go, and are cold again. */
  grow(bytes: number): void {
    this.#youngBytes += bytes
    if (this.#youngBytes <= this.#limit / 2) return
    for (const codes of this.#old.values()) for (const { counts } of codes.keys()) counts.fill(0)
    this.#old = this.#young
    this.#young = new Map()
    this.#youngBytes = 0
  }
}

/** Of one VM, or of several that run the same contracts. */
export class HotCode {
  readonly #lasting = new Generations(CACHE_BYTES)
  /** Codes of single simulations, which take no place from contracts. */
  readonly #passing = new Generations(PASSING_BYTES)
  readonly #idle: LinearAllocator[] = []
  readonly #addresses = new AddressWords()
  readonly #paths: PathCounter | undefined

  /** `paths` counts the ways that are taken, which takes time. */
  constructor(paths?: PathCounter) {
    this.#paths = paths
  }

  /** Bytes of the modules that are kept of contracts. */
  get bytes(): number {
    return this.#lasting.bytes
  }

  /** What is compiled of a code; `undefined` when nothing is. */
  find(analysis: CodeAnalysis, table: OpcodeTable): CompiledCode | undefined {
    return this.#keeping(analysis).find(analysis, table)
  }

  /** Compiles the code at `pc`, in time that the clock counts; `undefined` when it stays with the interpreter. */
  compile(
    analysis: CodeAnalysis,
    table: OpcodeTable,
    pc: number,
    hotAfter: number,
    clock: RunClock,
  ): CompiledCode | undefined {
    const codes = this.#keeping(analysis)
    const known = codes.find(analysis, table)
    const code = known ?? new CompiledCode(analysis, table, this.#paths)
    if (code.has(pc)) return code
    if (code.isFinished) {
      analysis.counts[pc] = NEVER
      return undefined
    }
    if (known === undefined) codes.keep(code, table)
    codes.grow(code.add(pc, hotAfter, clock))
    return code
  }

  /** A linear memory for a message. */
  takeAllocator(): LinearAllocator {
    return this.#idle.pop() ?? new LinearAllocator(this.#addresses, this.#paths)
  }

  /** The message has ended. */
  keepAllocator(allocator: LinearAllocator): void {
    if (this.#idle.length < MAX_IDLE && allocator.size <= IDLE_BYTES && allocator.reset())
      this.#idle.push(allocator)
  }

  #keeping({ isPassing }: CodeAnalysis): Generations {
    return isPassing ? this.#passing : this.#lasting
  }
}
