/** Runs frames by compiled code where there is any, and by the interpreter elsewhere. */
import { FAILURE, type Frame, fail } from '../frame.ts'
import { advance } from '../interpreter.ts'
import type { OpcodeTable } from '../opcodes/table.ts'
import { Arena } from './arena.ts'
import type { ArenaRegion } from './arena-region.ts'
import { type CompiledCode, compileAt, compiledCode } from './compiled-code.ts'
import { EXIT, EXIT_SHIFT, PC_MASK } from './layout.ts'

/** Arenas that are kept for later messages, and the bytes that they may have together. */
const POOL_SIZE = 4
const POOL_BYTES = 2 ** 24
const idle: Arena[] = []

function keepArena(arena: Arena): void {
  let size = arena.size
  for (const other of idle) size += other.size
  if (idle.length < POOL_SIZE && size <= POOL_BYTES && arena.reset()) idle.push(arena)
}

/** Runs the frames of one message. */
export class Execution {
  readonly #table: OpcodeTable
  readonly #hotAfter: number
  #arena: Arena | undefined

  /** `hotAfter`: jumps to a place after which it is compiled; 0 compiles all code before it runs. */
  constructor(table: OpcodeTable, hotAfter: number) {
    this.#table = table
    this.#hotAfter = hotAfter
  }

  /** As the interpreter's `advance`; the status is never `hot`. */
  advance(frame: Frame): void {
    const { analysis } = frame
    const region = frame.region as ArenaRegion | undefined
    let code = region?.code ?? compiledCode(analysis, this.#table)
    if (this.#hotAfter === 0) code = compileAt(analysis, this.#table, frame.pc, 0)
    if ((code !== undefined || region !== undefined) && this.#runCompiled(frame, code)) return
    for (;;) {
      advance(frame, this.#table, this.#hotAfter)
      if (frame.status !== 'hot') return
      frame.status = 'running'
      const hot = compileAt(analysis, this.#table, frame.pc, this.#hotAfter)
      if (hot !== undefined && this.#runCompiled(frame, hot)) return
    }
  }

  /** A frame has ended. */
  leave(frame: Frame): void {
    if (frame.region !== undefined) this.#arena?.leave(frame.region as ArenaRegion)
  }

  /** The message has ended, and all of its frames. */
  release(): void {
    const arena = this.#arena
    this.#arena = undefined
    if (arena !== undefined) keepArena(arena)
  }

  /** Runs compiled code from the program counter on; false when the interpreter is to go on. */
  #runCompiled(frame: Frame, code: CompiledCode | undefined): boolean {
    this.#arena ??= idle.pop() ?? new Arena()
    const arena = this.#arena
    const { analysis, session } = frame
    const { clock } = session
    let region = frame.region as ArenaRegion | undefined
    let functions = region !== undefined && region.code === code ? region.functions : code?.functionsOn(arena)
    if (region === undefined) {
      if (functions?.[frame.pc] === undefined) return false
      region = arena.enter(frame)
    }
    region.code = code
    region.functions = functions
    arena.putStack(region)
    for (;;) {
      let run = functions?.[frame.pc]
      if (run === undefined && code !== undefined && this.#isHot(frame)) {
        functions = compileAt(analysis, this.#table, frame.pc, this.#hotAfter)?.functionsOn(arena)
        run = functions?.[frame.pc]
      }
      if (run === undefined) break
      const exit = arena.run(region, this.#table, run)
      const kind = exit >>> EXIT_SHIFT
      frame.pc = exit & PC_MASK
      if (kind === EXIT.STATUS) return true
      if (kind === EXIT.INTERPRET) break
      if (kind === EXIT.DYNAMIC && analysis.jumpDestinations[frame.pc] !== 1) fail(FAILURE.INVALID_JUMP)
      if (--clock.ticks <= 0 && clock.mustPause()) return true
    }
    arena.takeStack(region)
    return false
  }

  /** Counts an arrival at code that is not compiled. */
  #isHot({ analysis, pc }: Frame): boolean {
    const count = (analysis.counts[pc] ?? 0) + 1
    analysis.counts[pc] = count
    return count >= this.#hotAfter
  }
}
