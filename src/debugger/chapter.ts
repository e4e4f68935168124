/**
 * A part of an execution: the open frames at its first step, and what each later opcode put on the stack and into memory,
 * unless that follows from its operands. The state before any of its steps is computed from these.
 */
import { writeWord } from '../encoding/bytes.ts'
import { opcodeAt, PUSH0, pushedWord } from '../evm/code-analysis.ts'
import type { OpcodeTable } from '../evm/opcodes/operation.ts'
import { CHAIN_RULES } from '../evm/rules.ts'
import type { RecordedMessage } from '../source-level/message-recorder.ts'

const PUSH32 = 0x7f
const DUP1 = 0x80
const DUP16 = 0x8f
const SWAP1 = 0x90
const SWAP16 = 0x9f
const MSTORE = 0x52
const MSTORE8 = 0x53
/** Changes a word that its operands choose, below those that it takes. */
const SWAPN = 0xa9
const WORD = 32

/** Estimated memory of a word in a list, bytes. */
const WORD_BYTES = 40
/** Estimated memory of an array beside its content, bytes. */
const ARRAY_BYTES = 128

const opcodes: OpcodeTable = CHAIN_RULES.opcodes

/** A frame at a step. */
export interface FrameState {
  readonly message: RecordedMessage
  readonly pc: number
  /** The top is the last. */
  readonly stack: readonly bigint[]
  /** Whole words. */
  readonly memory: Uint8Array
}

/** What opcodes tell of their effects, in the order in which each becomes visible: at the next step of its frame. */
export interface Log {
  readonly words: bigint[]
  readonly writes: Uint8Array[]
  /** Sizes of memory that has grown: the step, counted from the first one, and the words of memory then. */
  readonly growths: (readonly [number, number])[]
}

/** Where an opcode writes to memory; a length of 0 is nowhere. */
export interface MemoryTarget {
  readonly offset: number
  readonly length: number
}

const NOWHERE: MemoryTarget = { offset: 0, length: 0 }

/** By opcode: the words that it takes and leaves; -1 for what is no opcode. */
const POPS = Int16Array.from({ length: 256 }, (_, opcode) => opcodes[opcode]?.pops ?? -1)
const PUSHES = Int16Array.from({ length: 256 }, (_, opcode) => opcodes[opcode]?.pushes ?? -1)
/** By opcode: the operands that are the offset and the length of what it writes to memory, counted from the top. */
const WRITES = Array.from({ length: 256 }, (_, opcode) => {
  const memory = opcodes[opcode]?.memory
  if (memory?.access !== 'write' || typeof memory.length !== 'number') return undefined
  return { offset: memory.offset, length: memory.length }
})

/** Where an opcode writes to memory, by the stack before it, unless it stores a word of the stack. */
export function memoryTarget(opcode: number, stack: readonly bigint[], sp: number): MemoryTarget {
  const operands = WRITES[opcode]
  if (operands === undefined) return NOWHERE
  const offset = stack[sp - 1 - operands.offset] ?? 0n
  const length = stack[sp - 1 - operands.length] ?? 0n
  const isPayable = length <= Number.MAX_SAFE_INTEGER && offset <= Number.MAX_SAFE_INTEGER
  return length > 0n && isPayable ? { offset: Number(offset), length: Number(length) } : NOWHERE
}

const isDerived = (opcode: number): boolean => opcode >= PUSH0 && opcode <= SWAP16

/** How many words at the top of the stack an opcode's effect is told by; `undefined` where words below them change too. */
export function toldWords(opcode: number, spBefore: number, sp: number): number | undefined {
  const pops = POPS[opcode] as number
  const pushes = PUSHES[opcode] as number
  if (pops < 0 || opcode === SWAPN || spBefore - pops + pushes !== sp) return undefined
  return isDerived(opcode) ? 0 : pushes
}

/** Pushed words by code and program counter. */
const pushed = new WeakMap<Uint8Array, (bigint | undefined)[]>()

function wordPushedAt(code: Uint8Array, pc: number, size: number): bigint {
  let words = pushed.get(code)
  if (words === undefined) {
    words = []
    pushed.set(code, words)
  }
  let word = words[pc]
  if (word === undefined) {
    word = pushedWord(code, pc, size)
    words[pc] = word
  }
  return word
}

/** A frame that is computed. */
class Replica implements FrameState {
  readonly message: RecordedMessage
  readonly stack: bigint[]
  #memory: Uint8Array
  #length: number
  pc: number
  /** Is `pc` that of a step which has effects before the next one? */
  isEntered = true

  constructor({ message, pc, stack, memory }: FrameState) {
    this.message = message
    this.pc = pc
    this.stack = [...stack]
    this.#memory = memory.slice()
    this.#length = memory.length
  }

  get memory(): Uint8Array {
    return this.#memory.subarray(0, this.#length)
  }

  grow(length: number): void {
    if (length > this.#memory.length) {
      const more = new Uint8Array(Math.max(length, 2 * this.#memory.length))
      more.set(this.memory)
      this.#memory = more
    }
    if (length > this.#length) this.#length = length
  }

  /** Applies the opcode at `pc`. */
  apply(cursor: Cursor): void {
    const { stack } = this
    const code = this.message.code ?? new Uint8Array(0)
    const opcode = opcodeAt(code, this.pc)
    if (opcode >= PUSH0 && opcode <= PUSH32) stack.push(wordPushedAt(code, this.pc, opcode - PUSH0))
    else if (opcode >= DUP1 && opcode <= DUP16) stack.push(stack[stack.length - 1 - (opcode - DUP1)] ?? 0n)
    else if (opcode >= SWAP1 && opcode <= SWAP16) this.#swap(opcode - SWAP1 + 1)
    else this.#applyTold(opcode, cursor)
  }

  #swap(depth: number): void {
    const { stack } = this
    const top = stack.length - 1
    const word = stack[top] ?? 0n
    stack[top] = stack[top - depth] ?? 0n
    stack[top - depth] = word
  }

  #applyTold(opcode: number, cursor: Cursor): void {
    const { stack } = this
    if (opcode === MSTORE || opcode === MSTORE8) this.#store(opcode)
    const { offset, length } = memoryTarget(opcode, stack, stack.length)
    if (length > 0) {
      this.grow(Math.ceil((offset + length) / WORD) * WORD)
      this.#memory.set(cursor.nextWrite(), offset)
    }
    stack.length = Math.max(0, stack.length - Math.max(0, POPS[opcode] as number))
    for (let left = PUSHES[opcode] as number; left > 0; left--) stack.push(cursor.nextWord())
  }

  #store(opcode: number): void {
    const offset = Number(this.stack.at(-1) ?? 0n)
    const word = this.stack.at(-2) ?? 0n
    const length = opcode === MSTORE ? WORD : 1
    this.grow(Math.ceil((offset + length) / WORD) * WORD)
    const bytes = this.#memory
    if (opcode === MSTORE8) bytes[offset] = Number(word & 0xffn)
    else writeWord(new DataView(bytes.buffer, bytes.byteOffset), offset, word)
  }
}

/** A place in a log. */
class Cursor {
  readonly #log: Log
  #words = 0
  #writes = 0
  #growths = 0

  constructor(log: Log) {
    this.#log = log
  }

  nextWord(): bigint {
    return this.#log.words[this.#words++] ?? 0n
  }

  nextWrite(): Uint8Array {
    return this.#log.writes[this.#writes++] ?? new Uint8Array(0)
  }

  /** The words of memory at a step, if they have grown there. */
  growthAt(step: number): number | undefined {
    const next = this.#log.growths[this.#growths]
    if (next?.[0] !== step) return undefined
    this.#growths++
    return next[1]
  }
}

/** Steps of one message from a wanted one on. */
export interface StepRun {
  readonly message: RecordedMessage
  /** Number of the wanted step among those of the message. */
  readonly index: number
  /** Behind the last step of the run. */
  readonly end: number
}

/** Finds the run that a step belongs to. */
export type RunAt = (step: number) => StepRun

/** A part of an execution. */
export class Chapter implements Log {
  /** Number of the first step. */
  readonly first: number
  /** The open frames before that step, outermost first; each but the last waits for a call. */
  readonly frames: readonly FrameState[]
  readonly words: bigint[] = []
  readonly writes: Uint8Array[] = []
  readonly growths: (readonly [number, number])[] = []
  /** Gas left before each step. */
  readonly gas: number[] = []
  /** Estimated memory of the frames. */
  readonly frameBytes: number
  #bytes: number

  constructor(first: number, frames: readonly FrameState[]) {
    this.first = first
    this.frames = frames
    let bytes = ARRAY_BYTES
    for (const { stack, memory } of frames)
      bytes += 2 * ARRAY_BYTES + stack.length * WORD_BYTES + memory.length
    this.frameBytes = bytes
    this.#bytes = bytes
  }

  /** Estimated memory, bytes. */
  get bytes(): number {
    return this.#bytes + this.gas.length * 8
  }

  /** Steps that are noted. */
  get length(): number {
    return this.gas.length
  }

  tellWord(word: bigint): void {
    this.words.push(word)
    this.#bytes += WORD_BYTES
  }

  tellWrite(bytes: Uint8Array): void {
    this.writes.push(bytes)
    this.#bytes += ARRAY_BYTES + bytes.length
  }

  tellGrowth(step: number, words: number): void {
    this.growths.push([step - this.first, words])
    this.#bytes += ARRAY_BYTES
  }

  /** The open frames before a step from the first one on, outermost first. */
  framesAt(step: number, runAt: RunAt): readonly FrameState[] {
    const open = this.frames.map((frame) => new Replica(frame))
    const cursor = new Cursor(this)
    for (let at = this.first + 1; at <= step; ) {
      const { message, index, end } = runAt(at)
      const frame = enterRun(open, message, index)
      const { pcs } = message
      for (let next = index; at < end && at <= step; at++, next++) {
        const pc = pcs[next] ?? 0
        if (frame.isEntered) frame.apply(cursor)
        frame.isEntered = true
        frame.pc = pc
        const grown = cursor.growthAt(at - this.first)
        if (grown !== undefined) frame.grow(grown * WORD)
      }
    }
    return open
  }
}

/** The frame of a message that runs on, or begins. */
function enterRun(open: Replica[], message: RecordedMessage, index: number): Replica {
  while ((open.at(-1)?.message.depth ?? -1) > message.depth) open.pop()
  const current = open.at(-1)
  if (current?.message === message) return current
  // A message of the same depth has ended.
  if (current?.message.depth === message.depth) open.pop()
  const begun = new Replica({
    message,
    pc: message.pcs[index] ?? 0,
    stack: [],
    memory: new Uint8Array(0),
  })
  begun.isEntered = false
  open.push(begun)
  return begun
}
