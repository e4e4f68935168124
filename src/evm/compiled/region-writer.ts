/** Writes what the opcodes of a region share: the stack, of which words stay in locals, gas, and exits. */
import { FunctionBody, I32, OP } from '../../wasm/function-body.ts'
import type { Word } from './lanes.ts'
import { EXIT, EXIT_SHIFT, GAS_AT, type OpcodeRoutine, STACK_BYTES, STACK_END_AT } from './protocol.ts'
import type { Routines } from './routines.ts'
import { WordWriter } from './words.ts'

/** The local of the stack's end is this much lower, since offsets of loads and stores cannot be negative. */
export const BIAS = STACK_BYTES

/**
 * Words so far below the top are stored where the stack is, and no longer known: no opcode reaches them, and each exit
 * writes what is left.
 */
const REACH = 32

/** An opcode that runs outside takes as long as so many that are written out. */
const RUN_WORK = 8

/** What is to be known of an opcode that is written. */
export interface PresentOpcode {
  readonly code: number
  readonly name: string
  readonly pops: number
  readonly pushes: number
}

/** Writes one region, a function `(base) → exit`. */
export class RegionWriter {
  readonly code: Uint8Array
  readonly routines: Routines
  readonly body = new FunctionBody(1)
  readonly words = new WordWriter(this.body)
  readonly base = 0
  /** The stack's end at the region's start, less BIAS. */
  readonly stack = this.body.local(I32)
  /** Locals for what one opcode needs. */
  readonly address = this.body.local(I32)
  readonly vector = this.body.vector()
  /** Words that are known, by place relative to the stack's end at the start; the others are where the stack is. */
  readonly #known = new Map<number, Word>()
  /** Places whose word differs from what is where the stack is. */
  readonly #dirty = new Set<number>()
  /** The stack's end. */
  top = 0
  /** Bytes of memory that are open for certain. */
  openMemory = 0n
  /** Gas that is paid for opcodes of the segment that have not run, the present one included. */
  prepaid = 0
  /** Opcodes on the way so far, by the time that they take. */
  work = 0
  /** Where the present opcode is. */
  pc: number
  #opcode: PresentOpcode | undefined

  constructor(code: Uint8Array, routines: Routines, pc: number) {
    this.code = code
    this.routines = routines
    this.pc = pc
  }

  /** The opcode that is written now. */
  get opcode(): PresentOpcode {
    if (this.#opcode === undefined) throw new Error('no opcode has begun')
    return this.#opcode
  }

  begin(opcode: PresentOpcode): void {
    this.#opcode = opcode
    this.words.freeLocals()
    this.work++
  }

  /** Marks a way through the present opcode. */
  mark(path: string): void {
    this.routines.mark(this.body, `${this.opcode.name}: ${path}`)
  }

  addGas(gas: number): void {
    if (gas === 0) return
    const body = this.body
    body.get(this.base)
    body.get(this.base)
    body.memory(OP.f64_load, GAS_AT)
    body.f64(gas)
    body.op(OP.f64_add)
    body.memory(OP.f64_store, GAS_AT)
  }

  /** The word so many places below the top; loaded when it is not known. */
  peek(below = 0): Word {
    const place = this.top - 1 - below
    let word = this.#known.get(place)
    if (word === undefined) {
      word = this.words.load(this.stack, BIAS + 32 * place)
      this.#know(place, word)
    }
    return word
  }

  drop(count: number): void {
    for (let i = 0; i < count; i++) this.#forget(--this.top)
  }

  push(word: Word): void {
    this.#know(this.top, word)
    this.#dirty.add(this.top)
    const deepest = this.top - REACH
    if (this.#dirty.has(deepest)) this.#store(deepest)
    this.#forget(deepest)
    this.top++
  }

  #know(place: number, word: Word): void {
    this.words.hold(word)
    const before = this.#known.get(place)
    if (before !== undefined) this.words.letGo(before)
    this.#known.set(place, word)
  }

  #forget(place: number): void {
    const word = this.#known.get(place)
    if (word !== undefined) this.words.letGo(word)
    this.#known.delete(place)
    this.#dirty.delete(place)
  }

  #store(place: number): void {
    this.words.store(this.stack, BIAS + 32 * place, this.#known.get(place) as Word)
  }

  /** Stores the words at these places and above that are not where the stack is. Changes nothing that is known. */
  flush(from = Number.NEGATIVE_INFINITY): void {
    for (const place of this.#dirty) if (place >= from) this.#store(place)
  }

  pushStackEnd(): void {
    this.body.get(this.stack)
    this.body.i32(BIAS + 32 * this.top)
    this.body.op(OP.i32_add)
  }

  /** Stores the stack and its end. */
  settle(): void {
    this.flush()
    this.body.get(this.base)
    this.pushStackEnd()
    this.body.memory(OP.i32_store, STACK_END_AT)
  }

  exit(kind: number, pc: number): void {
    this.settle()
    this.body.i32((kind << EXIT_SHIFT) | pc)
    this.body.op(OP.return)
  }

  /** Leaves the present opcode to the interpreter, with the gas of what has not run. */
  interpretInstead(): void {
    this.mark('interpreted instead')
    this.addGas(this.prepaid)
    this.exit(EXIT.INTERPRET, this.pc)
  }

  /** Runs the present opcode outside, on operands where the stack is; its status is on the WebAssembly stack. */
  callOut(routine: OpcodeRoutine): void {
    const { body } = this
    const { code, pops } = this.opcode
    this.work += RUN_WORK
    this.mark('outside')
    this.flush(this.top - pops)
    body.get(this.base)
    this.pushStackEnd()
    body.i32(code)
    body.call(this.routines[routine])
  }

  /** The result of an opcode that ran outside is where the stack is. */
  addResult(): void {
    this.top += this.opcode.pushes
  }

  swap(depth: number): void {
    const top = this.peek()
    const other = this.peek(depth)
    const [high, low] = [this.top - 1, this.top - 1 - depth]
    this.#know(high, other)
    this.#know(low, top)
    this.#dirty.add(high).add(low)
  }
}
