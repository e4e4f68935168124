/** The compiled regions of contracts: compiled in groups as they become hot, kept for the codes that ran last. */
import { ModuleWriter } from '../../encoding/wasm-module.ts'
import { compileModule, type WasmModule } from '../../encoding/web-assembly.ts'
import { RecentMap } from '../../state/recent-map.ts'
import type { CodeAnalysis } from '../code-analysis.ts'
import type { OpcodeTable } from '../opcodes/table.ts'
import type { Arena } from './arena.ts'
import type { RegionFunction } from './host-functions.ts'
import { compileRegion, REGION_SIGNATURE } from './region.ts'
import { addRoutines } from './routines.ts'

/** Codes whose compiled regions are kept. */
const CODES = 64
/** Groups of regions that a code may get; what becomes hot later stays with the interpreter. */
const MAX_GROUPS = 24
/** Regions compiled at a time, and their bytes. */
const MAX_REGIONS = 256
const MAX_BYTES = 2 ** 19

/** Of one code, by one table of opcodes. */
export class CompiledCode {
  readonly #analysis: CodeAnalysis
  readonly table: OpcodeTable
  readonly #groups: { readonly module: WasmModule; readonly roots: readonly number[] }[] = []
  readonly #known = new Set<number>()
  /** Functions by program counter, of so many groups. */
  readonly #functions = new WeakMap<Arena, { functions: (RegionFunction | undefined)[]; groups: number }>()

  constructor(analysis: CodeAnalysis, table: OpcodeTable) {
    this.#analysis = analysis
    this.table = table
  }

  /** The regions on an arena's memory, by program counter. */
  functionsOn(arena: Arena): readonly (RegionFunction | undefined)[] {
    let known = this.#functions.get(arena)
    if (known === undefined) {
      known = { functions: [], groups: 0 }
      this.#functions.set(arena, known)
    }
    while (known.groups < this.#groups.length) {
      const group = this.#groups[known.groups++]
      if (group === undefined) break
      const exports = arena.instance(group.module)
      for (const root of group.roots) known.functions[root] = exports[`at${root}`] as RegionFunction
    }
    return known.functions
  }

  /** Compiles the region at `pc` with those that it leads to; false when there is none, nor will be. */
  add(pc: number, hotAfter: number): boolean {
    if (this.#known.has(pc)) return true
    if (this.#groups.length >= MAX_GROUPS) return false
    const { counts } = this.#analysis
    const module = new ModuleWriter()
    const routines = addRoutines(module)
    const parts = { analysis: this.#analysis, table: this.table, routines }
    const roots: number[] = []
    // Frames enter at the start, which no jump counts.
    const wanted = [this.#analysis.start, pc]
    let bytes = 0
    for (let root = wanted.pop(); root !== undefined; root = wanted.pop()) {
      if (roots.length >= MAX_REGIONS || bytes > MAX_BYTES) break
      if (this.#known.has(root)) continue
      this.#known.add(root)
      roots.push(root)
      const { body, exits, continuations } = compileRegion(parts, root)
      bytes += body.bytes.length
      module.add(`at${root}`, REGION_SIGNATURE, body)
      for (const exit of exits) if ((counts[exit] ?? 0) > hotAfter >> 3) wanted.push(exit)
      wanted.push(...continuations)
    }
    this.#groups.push({ module: compileModule(module.encode()), roots })
    return true
  }
}

const recent = new RecentMap<CodeAnalysis, CompiledCode>(CODES)

/** What is compiled of a code; `undefined` when nothing is. */
export function compiledCode(analysis: CodeAnalysis, table: OpcodeTable): CompiledCode | undefined {
  const known = recent.get(analysis)
  return known?.table === table ? known : undefined
}

/** Compiles the code at `pc`; `undefined` when it is not worth it. */
export function compileAt(
  analysis: CodeAnalysis,
  table: OpcodeTable,
  pc: number,
  hotAfter: number,
): CompiledCode | undefined {
  let code = compiledCode(analysis, table)
  if (code === undefined) {
    code = new CompiledCode(analysis, table)
    recent.set(analysis, code)
  }
  if (code.add(pc, hotAfter)) return code
  analysis.counts[pc] = NEVER
  return undefined
}

/** Of a place that stays with the interpreter; it counts up from here. */
const NEVER = -(2 ** 15)
