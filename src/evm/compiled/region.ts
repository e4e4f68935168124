/**
 * Compiles a region: the code that runs from a program counter on, along the branches that were taken most often. Words
 * stay in locals along the way, and jumps to known destinations cost nothing. Where it cannot go on, or must not, it
 * leaves the frame as the interpreter would have it, and returns the program counter.
 */
import { type FunctionBody, OP } from '../../wasm/function-body.ts'
import { type CodeAnalysis, isJumpDestination, opcodeAt, sizeOf } from '../code-analysis.ts'
import type { OpcodeTable } from '../opcodes/operation.ts'
import type { CompiledForm } from './form.ts'
import { knownValue, type Word } from './lanes.ts'
import {
  EXIT,
  EXIT_SHIFT,
  GAS_AT,
  PC_MASK,
  STACK_AT,
  STACK_BYTES,
  STACK_END_AT,
  TICKS_AT,
} from './protocol.ts'
import { BIAS, RegionWriter } from './region-writer.ts'
import type { Routines } from './routines.ts'
import { segmentAt } from './segment.ts'

/** Maximum number of opcodes of a region, size of its body at which it ends, and how often it may pass one place. */
const MAX_OPCODES = 800
const MAX_BYTES = 2 ** 16
const MAX_VISITS = 2

/** Opcodes that take as long as a jump may. */
const WORK_PER_TICK = 16

/** What a region is compiled from. */
export interface RegionParts {
  readonly analysis: CodeAnalysis
  readonly table: OpcodeTable
  readonly routines: Routines
}

/** A compiled region, and the places where execution continues after it. */
export interface Region {
  readonly body: FunctionBody
  /** Branches that were taken less often, or not at all. */
  readonly exits: ReadonlySet<number>
  /** Places that are reached as often as the region itself, at most. */
  readonly continuations: ReadonlySet<number>
  /** Ticks that the clock counts when it runs, at most once. */
  readonly ticks: number
}

/** Compiles the region that starts at `root`; the function is `(base) → exit`. */
export function compileRegion(parts: RegionParts, root: number): Region {
  return new RegionCompiler(parts, root).compile()
}

class RegionCompiler {
  readonly #code: Uint8Array
  readonly #analysis: CodeAnalysis
  readonly #table: OpcodeTable
  readonly #root: number
  readonly #writer: RegionWriter
  readonly #exits = new Set<number>()
  readonly #continuations = new Set<number>()
  readonly #visits = new Map<number, number>()
  /** Stack that is checked to be there, and to be free. */
  #checkedDepth = 0
  #checkedGrowth = 0
  #segmentEnd = -1

  constructor({ analysis, table, routines }: RegionParts, root: number) {
    this.#analysis = analysis
    this.#code = analysis.code
    this.#table = table
    this.#root = root
    this.#writer = new RegionWriter(this.#code, routines, root)
  }

  compile(): Region {
    const body = this.#writer.body
    body.loop()
    body.get(this.#writer.base)
    body.memory(OP.i32_load, STACK_END_AT)
    body.i32(BIAS)
    body.op(OP.i32_sub)
    body.set(this.#writer.stack)
    let opcodes = 0
    while (this.#step()) {
      if (++opcodes < MAX_OPCODES && body.size < MAX_BYTES) continue
      this.#pause()
      break
    }
    body.end()
    body.op(OP.unreachable)
    return { body, exits: this.#exits, continuations: this.#continuations, ticks: this.#ticks }
  }

  /** What a pass through the region so far counts. */
  get #ticks(): number {
    return 1 + Math.floor(this.#writer.work / WORK_PER_TICK)
  }

  /** Compiles the opcode at the program counter; false when the region ends there. */
  #step(): boolean {
    const opcode = opcodeAt(this.#code, this.#writer.pc)
    if (this.#segmentEnd < 0 || this.#writer.pc === this.#segmentEnd) {
      const visits = (this.#visits.get(this.#writer.pc) ?? 0) + 1
      this.#visits.set(this.#writer.pc, visits)
      if (visits > MAX_VISITS) {
        this.#pause()
        return false
      }
      this.#beginSegment()
    }
    const row = this.#table[opcode]
    if (row === undefined || row.compiled.flow === 'interpret') {
      this.#writer.exit(EXIT.INTERPRET, this.#writer.pc)
      return false
    }
    const { compiled, fee } = row
    this.#writer.begin(row)
    if (compiled.flow === 'jump') return this.#jump()
    if (compiled.flow === 'jump-if') return this.#jumpIf()
    if (compiled.write?.(this.#writer)) this.#writer.mark('inline')
    else if (!this.#runOutside(compiled)) return false
    this.#writer.prepaid -= fee
    this.#writer.pc += sizeOf(opcode)
    return true
  }

  /** Checks gas and stack for all opcodes up to the next place that needs a check. */
  #beginSegment(): void {
    const body = this.#writer.body
    const { gas, depth, growth, end } = segmentAt(this.#code, this.#writer.pc, this.#table)
    this.#segmentEnd = end
    this.#writer.prepaid = 0
    if (end === this.#writer.pc) return
    let checks = 0
    if (gas > 0) {
      body.get(this.#writer.base)
      body.memory(OP.f64_load, GAS_AT)
      body.f64(gas)
      body.op(OP.f64_lt)
      checks++
    }
    const lowest = depth - this.#writer.top
    if (lowest > this.#checkedDepth) {
      this.#checkedDepth = lowest
      body.get(this.#writer.stack)
      body.get(this.#writer.base)
      body.i32(STACK_AT + 32 * lowest - BIAS)
      body.op(OP.i32_add, OP.i32_lt_s)
      if (checks++ > 0) body.op(OP.i32_or)
    }
    const highest = this.#writer.top + growth
    if (highest > this.#checkedGrowth) {
      this.#checkedGrowth = highest
      body.get(this.#writer.stack)
      body.get(this.#writer.base)
      body.i32(STACK_AT + STACK_BYTES - 32 * highest - BIAS)
      body.op(OP.i32_add, OP.i32_gt_s)
      if (checks++ > 0) body.op(OP.i32_or)
    }
    if (checks > 0) {
      body.if()
      this.#writer.routines.mark(body, 'segment: lacks gas or stack')
      this.#writer.exit(EXIT.INTERPRET, this.#writer.pc)
      body.end()
    }
    this.#writer.addGas(-gas)
    this.#writer.prepaid = gas
  }

  /** Ends the region before the opcode at the program counter; another one continues there. */
  #pause(): void {
    const { pc } = this.#writer
    this.#continuations.add(pc)
    const isBetween = this.#segmentEnd < 0 || pc === this.#segmentEnd
    this.#writer.routines.mark(this.#writer.body, `region: pauses ${isBetween ? 'between' : 'in'} segments`)
    this.#writer.addGas(this.#writer.prepaid)
    this.#writer.exit(EXIT.JUMP, pc)
  }

  /** Leaves for a place that may be compiled as well. */
  #leaveTo(pc: number): void {
    this.#exits.add(pc)
    this.#writer.exit(EXIT.JUMP, pc)
  }

  /** Back to the region's start; `levels` is how many blocks are open within its loop. */
  #repeat(levels: number): void {
    const body = this.#writer.body
    this.#writer.settle()
    body.get(this.#writer.base)
    body.get(this.#writer.base)
    body.memory(OP.i32_load, TICKS_AT)
    body.i32(this.#ticks)
    body.op(OP.i32_sub)
    body.memory(OP.i32_store, TICKS_AT)
    body.get(this.#writer.base)
    body.memory(OP.i32_load, TICKS_AT)
    body.i32(0)
    body.op(OP.i32_gt_s)
    this.#writer.mark('back to the start')
    body.branchIf(levels)
    this.#writer.mark('a look at the clock')
    body.i32((EXIT.JUMP << EXIT_SHIFT) | this.#root)
    body.op(OP.return)
  }

  #isDestination(target: bigint): boolean {
    return isJumpDestination(this.#analysis, Number(target))
  }

  /** Goes on at a jump destination; false when the region ends with the jump. */
  #goTo(target: number): boolean {
    if (target !== this.#root) return this.#continueAt(target)
    this.#repeat(0)
    return false
  }

  /** Goes on behind a jump, which was the last opcode of its segment. */
  #continueAt(pc: number): boolean {
    this.#writer.pc = pc
    this.#writer.prepaid = 0
    this.#segmentEnd = -1
    return true
  }

  #jump(): boolean {
    const target = this.#writer.peek()
    const known = knownValue(target)
    if (known !== undefined && this.#isDestination(known)) {
      this.#writer.drop(1)
      this.#writer.mark('to a known place')
      return this.#goTo(Number(known))
    }
    if (known !== undefined) {
      this.#writer.interpretInstead()
      return false
    }
    const body = this.#writer.body
    const [low, second, third, highest] = target
    this.#writer.words.pushTruth([0n, second, third, highest])
    this.#writer.words.push(low)
    body.i64(BigInt(PC_MASK))
    body.op(OP.i64_gt_u, OP.i32_or)
    body.if()
    // No code is so long.
    this.#writer.interpretInstead()
    body.end()
    this.#writer.drop(1)
    this.#writer.mark('to any place')
    this.#writer.settle()
    this.#writer.words.push(low)
    body.op(OP.i32_wrap_i64)
    body.i32(EXIT.DYNAMIC << EXIT_SHIFT)
    body.op(OP.i32_or, OP.return)
    return false
  }

  #jumpIf(): boolean {
    const body = this.#writer.body
    const target = knownValue(this.#writer.peek())
    const condition = this.#writer.peek(1)
    const next = this.#writer.pc + 1
    if (target === undefined) {
      this.#writer.interpretInstead()
      return false
    }
    const known = knownValue(condition)
    if (known !== 0n && !this.#isDestination(target)) return this.#jumpNowhereIf(condition)
    this.#writer.drop(2)
    if (known !== undefined) this.#writer.mark(known === 0n ? 'never' : 'always')
    if (known === 0n) return this.#continueAt(next)
    if (known !== undefined) return this.#goTo(Number(target))
    const { counts } = this.#analysis
    const destination = Number(target)
    const taken = counts[destination] ?? 0
    const passed = counts[next] ?? 0
    this.#writer.words.pushTruth(condition)
    if (destination !== this.#root && taken > passed) {
      body.op(OP.i32_eqz)
      body.if()
      this.#writer.mark('leaves where it does not jump')
      this.#leaveTo(next)
      body.end()
      this.#writer.mark('goes on where it jumps')
      return this.#goTo(destination)
    }
    body.if()
    this.#writer.mark('leaves where it jumps')
    if (destination === this.#root) this.#repeat(1)
    else this.#leaveTo(destination)
    body.end()
    this.#writer.mark('goes on where it does not jump')
    return this.#continueAt(next)
  }

  /** A conditional jump to no destination, which the interpreter makes. */
  #jumpNowhereIf(condition: Word): boolean {
    const next = this.#writer.pc + 1
    if (knownValue(condition) !== undefined) {
      this.#writer.interpretInstead()
      return false
    }
    const body = this.#writer.body
    this.#writer.words.pushTruth(condition)
    body.if()
    this.#writer.mark('to no destination')
    this.#writer.interpretInstead()
    body.end()
    this.#writer.drop(2)
    this.#writer.mark('goes on where it does not jump')
    return this.#continueAt(next)
  }

  /** Runs the present opcode outside, on operands where the stack is; false when the region ends with it. */
  #runOutside({ flow, routine }: CompiledForm): boolean {
    const body = this.#writer.body
    const next = this.#writer.pc + 1
    this.#writer.callOut(routine)
    this.#writer.drop(this.#writer.opcode.pops)
    if (flow === 'create' || flow === 'end') {
      this.#writer.mark('ends the region')
      body.op(OP.drop)
      if (flow === 'create') this.#continuations.add(next)
      this.#writer.exit(EXIT.STATUS, next)
      return false
    }
    // The result of a call that is not made in place comes when the callee has ended.
    if (flow !== 'call') this.#writer.addResult()
    if (flow === 'next') {
      body.op(OP.drop)
      return true
    }
    body.if()
    this.#writer.mark('leaves')
    this.#writer.exit(EXIT.STATUS, next)
    body.end()
    this.#writer.mark('goes on')
    if (flow === 'call') {
      this.#exits.add(next)
      this.#writer.addResult()
    }
    return true
  }
}
