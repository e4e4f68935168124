/** The compiled regions of one code by one table of opcodes: compiled in groups as they become hot, within a budget. */
import { ModuleWriter } from '../../wasm/module.ts'
import { compileModule, type WasmInstance, type WasmModule } from '../../wasm/web-assembly.ts'
import type { CodeAnalysis } from '../code-analysis.ts'
import type { OpcodeTable } from '../opcodes/operation.ts'
import type { RunClock } from '../scheduler.ts'
import type { PathCounter } from './paths.ts'
import { PC_MASK, REGION_SIGNATURE, type RegionFunction } from './protocol.ts'
import { compileRegion } from './region.ts'
import { addRoutines } from './routines.ts'

/**
 * Regions that are compiled at a time, and bytes of them up to which another one is taken, which may be as long as
 * regions get: a group is what is compiled without a look at the clock.
 */
const MAX_REGIONS = 64
const GROUP_BYTES = 2 ** 15
/** Groups that a code may get, and bytes of modules that are made of it, ever; the rest stays with the interpreter. */
const MAX_GROUPS = 24
const CODE_BYTES = 2 ** 19

/** Bytes of modules, and modules that are put on a memory, that take as long as a tick of the clock may. */
const BYTES_PER_TICK = 16
const TICKS_PER_INSTANCE = 128

/** Puts modules on a linear memory. */
export interface ModuleHost {
  /** The functions of a module. */
  instance(module: WasmModule): WasmInstance['exports']
}

/** Of one code, by one table of opcodes. */
export class CompiledCode {
  readonly analysis: CodeAnalysis
  readonly #table: OpcodeTable
  readonly #paths: PathCounter | undefined
  readonly #groups: { readonly module: WasmModule; readonly roots: readonly number[] }[] = []
  readonly #known = new Set<number>()
  /** Functions by program counter, of so many groups. */
  readonly #functions = new WeakMap<
    ModuleHost,
    { functions: (RegionFunction | undefined)[]; groups: number }
  >()
  /** What the clock counts for a run of a region, by program counter. */
  readonly ticks: number[] = []
  /** Of its modules. */
  bytes = 0

  constructor(analysis: CodeAnalysis, table: OpcodeTable, paths: PathCounter | undefined) {
    this.analysis = analysis
    this.#table = table
    this.#paths = paths
  }

  /** The regions on a linear memory, by program counter. */
  functionsOn(host: ModuleHost, clock: RunClock): readonly (RegionFunction | undefined)[] {
    let known = this.#functions.get(host)
    if (known === undefined) {
      known = { functions: [], groups: 0 }
      this.#functions.set(host, known)
    }
    while (known.groups < this.#groups.length) {
      const group = this.#groups[known.groups++]
      if (group === undefined) break
      const exports = host.instance(group.module)
      for (const root of group.roots) known.functions[root] = exports[`at${root}`] as RegionFunction
      clock.ticks -= TICKS_PER_INSTANCE
    }
    return known.functions
  }

  /** Is the region at `pc` compiled? */
  has(pc: number): boolean {
    return this.#known.has(pc)
  }

  /** Has the code had all that it may? Addresses in longer code than compiled code can name stay with the interpreter. */
  get isFinished(): boolean {
    const { code, compiledBytes } = this.analysis
    return this.#groups.length >= MAX_GROUPS || compiledBytes >= CODE_BYTES || code.length > PC_MASK
  }

  /** Compiles the region at `pc` with those that it leads to, in time that the clock counts; the bytes of the module. */
  add(pc: number, hotAfter: number, clock: RunClock): number {
    const { counts, start } = this.analysis
    const module = new ModuleWriter()
    const routines = addRoutines(module, this.#paths)
    const parts = { analysis: this.analysis, table: this.#table, routines }
    const roots: number[] = []
    // Frames enter at the start, which no jump counts.
    const wanted = [start, pc]
    let size = 0
    for (let root = wanted.pop(); root !== undefined; root = wanted.pop()) {
      if (roots.length >= MAX_REGIONS || size > GROUP_BYTES) break
      if (this.#known.has(root)) continue
      this.#known.add(root)
      roots.push(root)
      const { body, exits, continuations, ticks } = compileRegion(parts, root)
      this.ticks[root] = ticks
      size += body.size
      module.add(`at${root}`, REGION_SIGNATURE, body)
      for (const exit of exits) if ((counts[exit] ?? 0) > hotAfter >> 3) wanted.push(exit)
      wanted.push(...continuations)
    }
    const bytes = module.encode()
    this.#groups.push({ module: compileModule(bytes), roots })
    this.bytes += bytes.length
    this.analysis.compiledBytes += bytes.length
    clock.ticks -= bytes.length / BYTES_PER_TICK
    return bytes.length
  }
}
