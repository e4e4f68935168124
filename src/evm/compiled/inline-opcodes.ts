/** Opcodes that a region has written out. */
import { OP } from '../../wasm/module.ts'
import { pushedWord } from '../code-analysis.ts'
import { constant, knownValue, type Lane, type Word, ZERO } from './lanes.ts'
import {
  ADDRESS_AT,
  CALLER_AT,
  GAS_AT,
  INPUT_LENGTH_AT,
  MEMORY_AT,
  MEMORY_SIZE_AT,
  RETURNED_AT,
  VALUE_AT,
} from './protocol.ts'
import { BIAS, type RegionWriter } from './region-writer.ts'

/** Offsets in memory from it on are not compiled as constants. */
const FAR = 2n ** 20n

/** Compiles an opcode without leaving; false when it is one of those that run from the table. */
export function inlineOpcode(writer: RegionWriter, code: Uint8Array, opcode: number): boolean {
  const words = writer.words
  if (opcode >= 0x60 && opcode <= 0x7f) {
    writer.push(constant(pushedWord(code, writer.pc, opcode - 0x5f)))
    return true
  }
  if (opcode >= 0x80 && opcode <= 0x8f) {
    writer.push(writer.peek(opcode - 0x80))
    return true
  }
  if (opcode >= 0x90 && opcode <= 0x9f) {
    writer.swap(opcode - 0x8f)
    return true
  }
  const binary = (make: (a: Word, b: Word) => Word): true => {
    const result = make(writer.peek(), writer.peek(1))
    writer.drop(2)
    writer.push(result)
    return true
  }
  switch (opcode) {
    case 0x01:
      return binary((a, b) => words.add(a, b))
    case 0x02:
      return binary((a, b) => multiply(writer, a, b))
    case 0x03:
      return binary((a, b) => words.sub(a, b))
    case 0x04:
      return divide(writer, opcode, OP.i64_div_u)
    case 0x06:
      return divide(writer, opcode, OP.i64_rem_u)
    case 0x10:
      return binary((a, b) => words.less(a, b, false))
    case 0x11:
      return binary((a, b) => words.less(b, a, false))
    case 0x12:
      return binary((a, b) => words.less(a, b, true))
    case 0x13:
      return binary((a, b) => words.less(b, a, true))
    case 0x14:
      return binary((a, b) => words.equal(a, b))
    case 0x15:
    case 0x19: {
      const word = writer.peek()
      const result = opcode === 0x15 ? words.isZero(word) : words.not(word)
      writer.drop(1)
      writer.push(result)
      return true
    }
    case 0x16:
      return binary((a, b) => words.and(a, b))
    case 0x17:
      return binary((a, b) => words.or(a, b))
    case 0x18:
      return binary((a, b) => words.xor(a, b))
    case 0x1b:
    case 0x1c: {
      const shift = knownValue(writer.peek())
      if (shift === undefined) return false
      const bits = shift > 256n ? 256 : Number(shift)
      return binary((_, word) =>
        opcode === 0x1b ? words.shiftLeft(word, bits) : words.shiftRight(word, bits),
      )
    }
    case 0x30:
      writer.push(words.load(writer.base, ADDRESS_AT))
      return true
    case 0x33:
      writer.push(words.load(writer.base, CALLER_AT))
      return true
    case 0x34:
      writer.push(words.load(writer.base, VALUE_AT))
      return true
    case 0x35:
      loadInput(writer)
      return true
    case 0x36:
      pushHeader(writer, INPUT_LENGTH_AT)
      return true
    case 0x38:
      writer.push(constant(BigInt(code.length)))
      return true
    case 0x3d:
      pushHeader(writer, RETURNED_AT)
      return true
    case 0x50:
      writer.drop(1)
      return true
    case 0x51:
    case 0x52:
    case 0x53:
      useMemory(writer, opcode)
      return true
    case 0x58:
      writer.push(constant(BigInt(writer.pc)))
      return true
    case 0x59:
      pushHeader(writer, MEMORY_SIZE_AT)
      return true
    case 0x5a:
      writer.body.get(writer.base)
      writer.body.memory(OP.f64_load, GAS_AT)
      writer.body.op(OP.i64_trunc_f64_u)
      writer.push([words.take(), 0n, 0n, 0n])
      return true
    case 0x5b:
      return true
    case 0x5f:
      writer.push(ZERO)
      return true
    default:
      return false
  }
}

function multiply(writer: RegionWriter, a: Word, b: Word): Word {
  const [x, y] = [knownValue(a), knownValue(b)]
  if (x !== undefined && y !== undefined) return constant((x * y) % 2n ** 256n)
  for (const lane of [...a, ...b]) writer.words.push(lane)
  writer.body.call(writer.routines.multiply)
  const lanes: Lane[] = []
  for (let i = 0; i < 4; i++) lanes.unshift(writer.words.take())
  return lanes as unknown as Word
}

/** DIV and MOD of words of one lane; others run from the table. */
function divide(writer: RegionWriter, opcode: number, divide: number): true {
  const body = writer.body
  const words = writer.words
  const [a, b] = [writer.peek(), writer.peek(1)]
  const result = [0, 1, 2, 3].map(() => words.local()) as [number, number, number, number]
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
  writer.callRun(opcode)
  body.op(OP.drop)
  for (const [i, lane] of result.entries()) {
    body.get(writer.stack)
    body.memory(OP.i64_load, BIAS + 32 * (writer.top - 2) + 8 * i)
    body.set(lane)
  }
  body.end()
  writer.drop(2)
  writer.push(result)
  return true
}

function pushHeader(writer: RegionWriter, at: number): void {
  writer.body.get(writer.base)
  writer.body.memory(OP.i32_load, at)
  writer.body.op(OP.i64_extend_i32_u)
  writer.push([writer.words.take(), 0n, 0n, 0n])
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

/** MLOAD, MSTORE, MSTORE8. */
function useMemory(writer: RegionWriter, opcode: number): void {
  const body = writer.body
  const words = writer.words
  const length = opcode === 0x53 ? 1 : 32
  const offset = writer.peek()
  const known = knownValue(offset)
  const isNear = known !== undefined && known < FAR
  if (isNear) openKnown(writer, known + BigInt(length))
  else {
    body.get(writer.base)
    for (const lane of offset) words.push(lane)
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
  }
  writer.mark(isNear ? 'at a known offset' : 'at any offset')
  const address = isNear ? writer.base : writer.address
  const at = MEMORY_AT + (isNear ? Number(known) : 0)
  if (opcode === 0x51) {
    writer.drop(1)
    writer.push(words.loadBytes(address, at, writer.vector))
    return
  }
  const value = writer.peek(1)
  if (opcode === 0x52) words.storeBytes(address, at, value)
  else {
    body.get(address)
    words.push(value[0])
    body.op(OP.i32_wrap_i64)
    body.memory(OP.i32_store8, at)
  }
  writer.drop(2)
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
