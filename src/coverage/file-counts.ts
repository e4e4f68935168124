/** How often the statements, functions and ways of branches of a source ran, by the counts of instructions. */
import { PUSH0, sizeOf } from '../evm/code-analysis.ts'
import type { CodeMap } from '../source-level/code-map.ts'
import type { SourceRange } from '../source-level/source-file.ts'
import type { Branch, CoverableFile } from './coverable-file.ts'
import type { ExecutedCode } from './executed-codes.ts'
import { jumpsToFirst, usuallyJumpsToFirst } from './jump-ways.ts'
import { StatementIndex } from './statement-index.ts'

const JUMPI = 0x57
const PUSH4 = PUSH0 + 4

/** Runs of both ways of a branch: of its first, and of its second. */
export type WayCounts = [number, number]

const keyOf = ({ start, end }: SourceRange): string => `${start}:${end}`

/** What one code did in a file. */
export class CodeRun {
  readonly statements: Float64Array
  readonly functions: Float64Array
  readonly branches = new Map<number, WayCounts>()
  /** Branches of which the condition itself jumps: used where no jump has the range of the branch. */
  readonly conditions = new Map<number, WayCounts>()

  constructor({ statements, functions }: CoverableFile) {
    this.statements = new Float64Array(statements.length)
    this.functions = new Float64Array(functions.length)
  }
}

/** The counts of one file over all codes. */
export class FileCounts {
  readonly coverable: CoverableFile
  readonly statements: number[]
  readonly functions: number[]
  readonly branches: WayCounts[]
  /** Does any code that ran have instructions of it? */
  readonly #hasCode: boolean[]
  readonly #hasJump: boolean[]
  readonly #index: StatementIndex
  /** Of each function its first statement, or -1. */
  readonly #firsts: readonly number[]
  readonly #functionsByRange: ReadonlyMap<string, number>
  readonly #branchesByRange = new Map<string, number[]>()
  readonly #branchesByCondition = new Map<string, number[]>()

  constructor(coverable: CoverableFile) {
    const { statements, functions, branches } = coverable
    this.coverable = coverable
    this.statements = statements.map(() => 0)
    this.functions = functions.map(() => 0)
    this.branches = branches.map(() => [0, 0])
    this.#hasCode = statements.map(() => false)
    this.#hasJump = branches.map(() => false)
    this.#index = new StatementIndex(statements)
    this.#firsts = functions.map(({ body }) => this.#index.firstIn(body))
    this.#functionsByRange = new Map(functions.map(({ range }, at) => [keyOf(range), at]))
    for (const [at, { range, condition, kind }] of branches.entries()) {
      listUnder(this.#branchesByRange, keyOf(range)).push(at)
      if (kind !== 'require') listUnder(this.#branchesByCondition, keyOf(condition)).push(at)
    }
  }

  /** Can the counts of another compilation be added: does it have the same text? */
  fits({ coverable: other }: FileCounts): boolean {
    const { coverable: own } = this
    return (
      textOf(own) === textOf(other) &&
      own.statements.length === other.statements.length &&
      own.functions.length === other.functions.length &&
      own.branches.length === other.branches.length
    )
  }

  /** Adds the counts of another compilation of the same text. */
  merge(other: FileCounts): void {
    for (const [at, count] of other.statements.entries()) {
      this.statements[at] = (this.statements[at] ?? 0) + count
      if (other.#hasCode[at] === true) this.#hasCode[at] = true
    }
    for (const [at, count] of other.functions.entries()) {
      this.functions[at] = (this.functions[at] ?? 0) + count
    }
    for (const [at, ways] of other.branches.entries()) {
      addWays(this.branches[at], ways)
      if (other.#hasJump[at] === true) this.#hasJump[at] = true
    }
  }

  /** Did anything of it run? */
  get hasRun(): boolean {
    return [...this.statements, ...this.functions].some((count) => count > 0)
  }

  /**
   * The statements and branches that can run: without those that are missing in the code of functions that ran, which the
   * compiler has removed, or merged with others.
   */
  get existing(): { readonly statements: readonly number[]; readonly branches: readonly number[] } {
    const { statements, branches } = this.coverable
    const ran = new Set(statements.flatMap((one, at) => ((this.statements[at] ?? 0) > 0 ? one.function : [])))
    const indexes = (list: readonly { readonly function: number }[], isSeen: readonly boolean[]) =>
      [...list.keys()].filter((at) => isSeen[at] === true || !ran.has(list[at]?.function ?? -1))
    return {
      statements: indexes(statements, this.#hasCode),
      branches: indexes(branches, this.#hasJump),
    }
  }

  /** Begins to add what a code did. */
  begin(): CodeRun {
    return new CodeRun(this.coverable)
  }

  /** Adds an instruction that has a range in this file. */
  take(run: CodeRun, map: CodeMap, { code, counts }: ExecutedCode, pc: number): void {
    const { range, opcode } = map.at(pc) ?? {}
    if (range === undefined) return
    const count = counts.runs[pc] ?? 0
    this.#takeInstruction(run, range, this.#jumpsFrom(map, range, pc, counts) ?? count)
    if (opcode !== JUMPI) return
    const jumps = counts.jumps[pc] ?? 0
    const take = (ways: Map<number, WayCounts>, at: number) => {
      const branch = this.coverable.branches[at]
      if (branch === undefined) return
      const isKnownFirst = jumpsToFirst(map, code, pc, branch)
      // A jump of the condition may be one of `&&` in it.
      if (isKnownFirst === undefined && ways === run.conditions) return
      const isFirst = isKnownFirst ?? usuallyJumpsToFirst(branch)
      const found: WayCounts = isFirst ? [jumps, count - jumps] : [count - jumps, jumps]
      const known = ways.get(at)
      if (known === undefined) ways.set(at, found)
      else addWays(known, found)
    }
    for (const at of this.#branchesByRange.get(keyOf(range)) ?? []) take(run.branches, at)
    for (const at of this.#branchesByCondition.get(keyOf(range)) ?? []) take(run.conditions, at)
  }

  /**
   * The runs of a statement that is nothing but a conditional jump: of `if (a) return;` the compiler leaves the jump of the `if`,
   * to the end of the function, and the push of its destination is all that is of the `return`. Otherwise `undefined`.
   */
  #jumpsFrom(
    map: CodeMap,
    range: SourceRange,
    pc: number,
    counts: ExecutedCode['counts'],
  ): number | undefined {
    const opcode = map.at(pc)?.opcode ?? 0
    if (opcode <= PUSH0 || opcode > PUSH4) return undefined
    const behind = pc + sizeOf(opcode)
    const next = map.at(behind)
    if (next?.opcode !== JUMPI || next.range?.file.path !== range.file.path) return undefined
    const isOther = this.#index.around(range) !== this.#index.around(next.range)
    return isOther ? (counts.jumps[behind] ?? 0) : undefined
  }

  #takeInstruction(run: CodeRun, range: SourceRange, count: number): void {
    const at = this.#index.around(range)
    const known = run.statements[at]
    if (known !== undefined) {
      this.#hasCode[at] = true
      const isLoop = this.coverable.statements[at]?.isLoop === true
      if (count > 0 && (known === 0 || (isLoop ? count < known : count > known))) run.statements[at] = count
      return
    }
    const around = this.#functionsByRange.get(keyOf(range))
    if (around !== undefined) run.functions[around] = Math.max(run.functions[around] ?? 0, count)
  }

  /** Adds all that a code did. */
  end(run: CodeRun): void {
    // A statement ran if one in it did, even where nothing is left of its own code.
    for (const [at, parent] of this.#index.outwards()) {
      const count = run.statements[at] ?? 0
      if (parent !== -1 && run.statements[parent] === 0) run.statements[parent] = count
      if (parent !== -1 && this.#hasCode[at] === true) this.#hasCode[parent] = true
      this.statements[at] = (this.statements[at] ?? 0) + count
    }
    for (const [at, first] of this.#firsts.entries()) {
      const count = (first === -1 ? run.functions[at] : run.statements[first]) ?? 0
      this.functions[at] = (this.functions[at] ?? 0) + count
    }
    for (const [at, branch] of this.coverable.branches.entries()) {
      const ways = run.branches.get(at) ?? run.conditions.get(at) ?? this.#waysByStatements(run, branch)
      if (ways === undefined) continue
      addWays(this.branches[at], ways)
      this.#hasJump[at] = true
    }
  }

  /** The ways of an `if` without a jump of its own, by the first statement of each, if the code has all of them. */
  #waysByStatements(run: CodeRun, { kind, range, ways: [first, second] }: Branch): WayCounts | undefined {
    const countOf = (at: number) => (this.#hasCode[at] === true ? run.statements[at] : undefined)
    const own = countOf(this.#index.around(range))
    const whenTrue = countOf(this.#index.firstIn(first))
    if (kind !== 'if' || !own || whenTrue === undefined) return undefined
    if (second === undefined) return [whenTrue, Math.max(0, own - whenTrue)]
    const whenFalse = countOf(this.#index.firstIn(second))
    return whenFalse === undefined ? undefined : [whenTrue, whenFalse]
  }
}

function textOf({ file }: CoverableFile): string {
  return file.textOf({ start: 0, end: Number.MAX_SAFE_INTEGER })
}

function addWays(to: WayCounts | undefined, [first, second]: WayCounts): void {
  if (to === undefined) return
  to[0] += first
  to[1] += second
}

function listUnder(lists: Map<string, number[]>, key: string): number[] {
  const known = lists.get(key)
  if (known !== undefined) return known
  const made: number[] = []
  lists.set(key, made)
  return made
}
