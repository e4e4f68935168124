/** Arithmetic, comparison and bits: 0x01 to 0x1d. */
import { OP } from '../../wasm/function-body.ts'
import { CHECKED, FROM_TABLE } from '../compiled/form.ts'
import { divided, MULTIPLIED, ofOneWord, ofShift, ofTwoWords } from '../compiled/inline.ts'
import type { Frame } from '../frame.ts'
import { GAS } from '../gas-schedule.ts'
import { MAX_WORD, MODULUS } from '../word.ts'
import { type Operation, type OperationTraits, operation } from './operation.ts'

const SIGN_BIT = 1n << 255n

function signed(word: bigint): bigint {
  return word >= SIGN_BIT ? word - MODULUS : word
}

function unsigned(value: bigint): bigint {
  return BigInt.asUintN(256, value)
}

/** An opcode of two words, the top one first. */
function binary(
  code: number,
  name: string,
  fee: number,
  run: (a: bigint, b: bigint) => bigint,
  traits: OperationTraits,
): Operation {
  const onFrame = (frame: Frame) => {
    const a = frame.pop()
    frame.push(run(a, frame.pop()))
  }
  return operation(code, name, fee, 2, 1, onFrame, traits)
}

/** An opcode of three words, the top one first. */
function ternary(
  code: number,
  name: string,
  fee: number,
  run: (a: bigint, b: bigint, c: bigint) => bigint,
): Operation {
  const onFrame = (frame: Frame) => {
    const a = frame.pop()
    const b = frame.pop()
    frame.push(run(a, b, frame.pop()))
  }
  return operation(code, name, fee, 3, 1, onFrame, { compiled: FROM_TABLE })
}

function signExtend(size: bigint, word: bigint): bigint {
  if (size >= 31n) return word
  return unsigned(BigInt.asIntN(Number(size) * 8 + 8, word))
}

function byteOf(index: bigint, word: bigint): bigint {
  return index >= 32n ? 0n : (word >> ((31n - index) * 8n)) & 0xffn
}

function shiftRightSigned(shift: bigint, word: bigint): bigint {
  const value = signed(word)
  if (shift >= 256n) return value < 0n ? MAX_WORD : 0n
  return unsigned(value >> shift)
}

function exponentiate(frame: Frame): void {
  let base = frame.pop()
  let exponent = frame.pop()
  const bytes = exponent === 0n ? 0 : Math.ceil(exponent.toString(16).length / 2)
  frame.charge(GAS.expByte * bytes)
  frame.spend(bytes)
  if (base === 2n) {
    frame.push(exponent > 255n ? 0n : 1n << exponent)
    return
  }
  let result = 1n
  while (exponent > 0n) {
    if ((exponent & 1n) === 1n) result = unsigned(result * base)
    exponent >>= 1n
    if (exponent > 0n) base = unsigned(base * base)
  }
  frame.push(result)
}

export const ARITHMETIC: readonly Operation[] = [
  binary(0x01, 'ADD', GAS.veryLow, (a, b) => unsigned(a + b), {
    isInLoop: true,
    compiled: ofTwoWords((words, a, b) => words.add(a, b)),
  }),
  binary(0x02, 'MUL', GAS.low, (a, b) => unsigned(a * b), { compiled: MULTIPLIED }),
  binary(0x03, 'SUB', GAS.veryLow, (a, b) => unsigned(a - b), {
    isInLoop: true,
    compiled: ofTwoWords((words, a, b) => words.sub(a, b)),
  }),
  binary(0x04, 'DIV', GAS.low, (a, b) => (b === 0n ? 0n : a / b), { compiled: divided(OP.i64_div_u) }),
  binary(0x05, 'SDIV', GAS.low, (a, b) => (b === 0n ? 0n : unsigned(signed(a) / signed(b))), {
    compiled: FROM_TABLE,
  }),
  binary(0x06, 'MOD', GAS.low, (a, b) => (b === 0n ? 0n : a % b), { compiled: divided(OP.i64_rem_u) }),
  binary(0x07, 'SMOD', GAS.low, (a, b) => (b === 0n ? 0n : unsigned(signed(a) % signed(b))), {
    compiled: FROM_TABLE,
  }),
  ternary(0x08, 'ADDMOD', GAS.mid, (a, b, modulus) => (modulus === 0n ? 0n : (a + b) % modulus)),
  ternary(0x09, 'MULMOD', GAS.mid, (a, b, modulus) => (modulus === 0n ? 0n : (a * b) % modulus)),
  operation(0x0a, 'EXP', GAS.exp, 2, 1, exponentiate, { compiled: CHECKED, hasDynamicGas: true }),
  binary(0x0b, 'SIGNEXTEND', GAS.low, signExtend, { compiled: FROM_TABLE }),
  binary(0x10, 'LT', GAS.veryLow, (a, b) => (a < b ? 1n : 0n), {
    isInLoop: true,
    compiled: ofTwoWords((words, a, b) => words.less(a, b, false)),
  }),
  binary(0x11, 'GT', GAS.veryLow, (a, b) => (a > b ? 1n : 0n), {
    isInLoop: true,
    compiled: ofTwoWords((words, a, b) => words.less(b, a, false)),
  }),
  binary(0x12, 'SLT', GAS.veryLow, (a, b) => (signed(a) < signed(b) ? 1n : 0n), {
    compiled: ofTwoWords((words, a, b) => words.less(a, b, true)),
  }),
  binary(0x13, 'SGT', GAS.veryLow, (a, b) => (signed(a) > signed(b) ? 1n : 0n), {
    compiled: ofTwoWords((words, a, b) => words.less(b, a, true)),
  }),
  binary(0x14, 'EQ', GAS.veryLow, (a, b) => (a === b ? 1n : 0n), {
    isInLoop: true,
    compiled: ofTwoWords((words, a, b) => words.equal(a, b)),
  }),
  operation(0x15, 'ISZERO', GAS.veryLow, 1, 1, (frame) => frame.push(frame.pop() === 0n ? 1n : 0n), {
    isInLoop: true,
    compiled: ofOneWord((words, a) => words.isZero(a)),
  }),
  binary(0x16, 'AND', GAS.veryLow, (a, b) => a & b, {
    isInLoop: true,
    compiled: ofTwoWords((words, a, b) => words.and(a, b)),
  }),
  binary(0x17, 'OR', GAS.veryLow, (a, b) => a | b, { compiled: ofTwoWords((words, a, b) => words.or(a, b)) }),
  binary(0x18, 'XOR', GAS.veryLow, (a, b) => a ^ b, {
    compiled: ofTwoWords((words, a, b) => words.xor(a, b)),
  }),
  operation(0x19, 'NOT', GAS.veryLow, 1, 1, (frame) => frame.push(MAX_WORD - frame.pop()), {
    compiled: ofOneWord((words, a) => words.not(a)),
  }),
  binary(0x1a, 'BYTE', GAS.veryLow, byteOf, { compiled: FROM_TABLE }),
  binary(0x1b, 'SHL', GAS.veryLow, (shift, word) => (shift >= 256n ? 0n : unsigned(word << shift)), {
    since: 'rskip120',
    compiled: ofShift((words, word, bits) => words.shiftLeft(word, bits)),
  }),
  binary(0x1c, 'SHR', GAS.veryLow, (shift, word) => (shift >= 256n ? 0n : word >> shift), {
    since: 'rskip120',
    compiled: ofShift((words, word, bits) => words.shiftRight(word, bits)),
  }),
  binary(0x1d, 'SAR', GAS.veryLow, shiftRightSigned, { since: 'rskip120', compiled: FROM_TABLE }),
]
