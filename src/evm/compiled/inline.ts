/** How opcodes are written out in a region; the record of each names its own. */
import { OP } from '../../wasm/function-body.ts'
import { pushedWord } from '../code-analysis.ts'
import { type CompiledForm, written, writtenWhere } from './form.ts'
import { constant, knownValue, type Word } from './lanes.ts'
import { GAS_AT, MEMORY_AT, MEMORY_SIZE_AT } from './protocol.ts'
import { BIAS, type RegionWriter } from './region-writer.ts'
import type { WordWriter } from './words.ts'

/** Offsets in memory from it on are not compiled as constants. */
const FAR = 2n ** 20n

/** An opcode of two words, the top one first. */
export function ofTwoWords(make: (words: WordWriter, a: Word, b: Word) => Word): CompiledForm {
  return written((writer) => replaceTwo(writer, (a, b) => make(writer.words, a, b)))
}

function replaceTwo(writer: RegionWriter, make: (a: Word, b: Word) => Word): void {
  const result = make(writer.peek(), writer.peek(1))
  writer.drop(2)
  writer.push(result)
}

/** An opcode of one word. */
export function ofOneWord(make: (words: WordWriter, a: Word) => Word): CompiledForm {
  return written((writer) => {
    const result = make(writer.words, writer.peek())
    writer.drop(1)
    writer.push(result)
  })
}

/** A shift by a number of bits that is known, at most 256; others run from the table. */
export function ofShift(make: (words: WordWriter, word: Word, bits: number) => Word): CompiledForm {
  return writtenWhere((writer) => {
    const shift = knownValue(writer.peek())
    if (shift === undefined) return false
    const bits = shift > 256n ? 256 : Number(shift)
    replaceTwo(writer, (_, word) => make(writer.words, word, bits))
    return true
  })
}

/** MUL. */
export const MULTIPLIED = written((writer) => replaceTwo(writer, (a, b) => multiply(writer, a, b)))

/** DIV and MOD, by the WebAssembly opcode for operands of one lane. */
export function divided(code: number): CompiledForm {
  return written((writer) => divide(writer, code))
}

/** PUSH1 to PUSH32. */
export function pushed(size: number): CompiledForm {
  return written((writer) => writer.push(constant(pushedWord(writer.code, writer.pc, size))))
}

/** A word that only depends on the code and the place in it. */
export function ofCode(make: (code: Uint8Array, pc: number) => bigint): CompiledForm {
  return written((writer) => writer.push(constant(make(writer.code, writer.pc))))
}

/** A word that the frame has at an address from its base. */
export function ofFrameWord(at: number): CompiledForm {
  return written((writer) => writer.push(writer.words.load(writer.base, at)))
}

/** A number of 32 bits that the frame has at an address from its base. */
export function ofFrameNumber(at: number): CompiledForm {
  return written((writer) => {
    writer.body.get(writer.base)
    writer.body.memory(OP.i32_load, at)
    writer.body.op(OP.i64_extend_i32_u)
    writer.push([writer.words.take(), 0n, 0n, 0n])
  })
}

/** GAS: what is left behind it is in the frame, since it ends what is charged as one. */
export const GAS_LEFT = written((writer) => {
  writer.body.get(writer.base)
  writer.body.memory(OP.f64_load, GAS_AT)
  writer.body.op(OP.i64_trunc_f64_u)
  writer.push([writer.words.take(), 0n, 0n, 0n])
}, 'checked')

/** CALLDATALOAD. */
export const INPUT_LOADED = written(loadInput)

/** MLOAD, MSTORE, MSTORE8. */
export const MEMORY_LOADED = written((writer) => {
  const [address, at] = openWord(writer, 32)
  writer.drop(1)
  writer.push(writer.words.loadBytes(address, at, writer.vector))
})

export const MEMORY_STORED = written((writer) => {
  const [address, at] = openWord(writer, 32)
  writer.words.storeBytes(address, at, writer.peek(1))
  writer.drop(2)
})

export const BYTE_STORED = written((writer) => {
  const [address, at] = openWord(writer, 1)
  const { body, words } = writer
  body.get(address)
  words.push(writer.peek(1)[0])
  body.op(OP.i32_wrap_i64)
  body.memory(OP.i32_store8, at)
  writer.drop(2)
})

function multiply(writer: RegionWriter, a: Word, b: Word): Word {
  const [x, y] = [knownValue(a), knownValue(b)]
  if (x !== undefined && y !== undefined) return constant((x * y) % 2n ** 256n)
  for (const lane of [...a, ...b]) writer.words.push(lane)
  writer.body.call(writer.routines.multiply)
  const highest = writer.words.take()
  const third = writer.words.take()
  const second = writer.words.take()
  return [writer.words.take(), second, third, highest]
}

/** DIV and MOD of words of one lane; others run from the table. */
function divide(writer: RegionWriter, divide: number): void {
  const body = writer.body
  const words = writer.words
  const [a, b] = [writer.peek(), writer.peek(1)]
  const result = [words.local(), words.local(), words.local(), words.local()] as const
  for (const lane of [a[1], a[2], a[3], b[1], b[2], b[3]]) words.push(lane)
  for (let i = 0; i < 5; i++) body.op(OP.i64_or)
  body.op(OP.i64_eqz)
  words.push(b[0])
  body.op(OP.i64_eqz, OP.i32_eqz, OP.i32_and)
  body.if()
  writer.mark('of one lane')
  words.push(a[0])
  words.push(b[0])
  body.op(divide)
  body.set(result[0])
  for (const lane of result.slice(1)) {
    body.i64(0n)
    body.set(lane)
  }
  body.else()
  writer.callOut('run')
  body.op(OP.drop)
  for (const [i, lane] of result.entries()) {
    body.get(writer.stack)
    body.memory(OP.i64_load, BIAS + 32 * (writer.top - 2) + 8 * i)
    body.set(lane)
  }
  body.end()
  writer.drop(2)
  writer.push(result)
}

function loadInput(writer: RegionWriter): void {
  const body = writer.body
  body.get(writer.base)
  for (const lane of writer.peek()) writer.words.push(lane)
  body.call(writer.routines.input)
  body.set(writer.address)
  writer.drop(1)
  writer.push(writer.words.loadBytes(writer.address, 0, writer.vector))
}

/**
 * Opens the memory that the operand on top names. The bytes are at a local's address plus an offset, which are returned.
 */
function openWord(writer: RegionWriter, length: number): [address: number, at: number] {
  const offset = knownValue(writer.peek())
  if (offset !== undefined && offset < FAR) {
    openKnown(writer, offset + BigInt(length))
    writer.mark('at a known offset')
    return [writer.base, MEMORY_AT + Number(offset)]
  }
  const { body } = writer
  body.get(writer.base)
  for (const lane of writer.peek()) writer.words.push(lane)
  body.i32(length)
  body.call(writer.routines.touch)
  body.tee(writer.address)
  body.i32(0)
  body.op(OP.i32_lt_s)
  body.if()
  writer.interpretInstead()
  body.end()
  body.get(writer.base)
  body.get(writer.address)
  body.op(OP.i32_add)
  body.set(writer.address)
  writer.mark('at any offset')
  return [writer.address, MEMORY_AT]
}

/** Opens memory up to a known end. */
function openKnown(writer: RegionWriter, end: bigint): void {
  if (end <= writer.openMemory) return
  const body = writer.body
  writer.openMemory = end
  body.get(writer.base)
  body.memory(OP.i32_load, MEMORY_SIZE_AT)
  body.i32(Number(end))
  body.op(OP.i32_lt_u)
  body.if()
  body.get(writer.base)
  body.i32(Number(end))
  body.call(writer.routines.expand)
  body.op(OP.i32_eqz)
  body.if()
  writer.interpretInstead()
  body.end()
  body.end()
}
