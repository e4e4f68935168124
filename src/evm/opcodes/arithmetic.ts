/** Arithmetic, comparison and bits: 0x01 to 0x1d. */
import type { Frame } from '../frame.ts'
import { MAX_WORD, MODULUS } from '../word.ts'
import { type Operation, operation } from './operation.ts'

const SIGN_BIT = 1n << 255n

function signed(word: bigint): bigint {
  return word >= SIGN_BIT ? word - MODULUS : word
}

function unsigned(value: bigint): bigint {
  return BigInt.asUintN(256, value)
}

/** An opcode of two words, the top one first. */
function binary(code: number, name: string, fee: number, run: (a: bigint, b: bigint) => bigint): Operation {
  return operation(code, name, fee, 2, 1, (frame) => {
    const a = frame.pop()
    frame.push(run(a, frame.pop()))
  })
}

/** An opcode of three words, the top one first. */
function ternary(
  code: number,
  name: string,
  fee: number,
  run: (a: bigint, b: bigint, c: bigint) => bigint,
): Operation {
  return operation(code, name, fee, 3, 1, (frame) => {
    const a = frame.pop()
    const b = frame.pop()
    frame.push(run(a, b, frame.pop()))
  })
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

const EXP_BYTE_GAS = 50

function exponentiate(frame: Frame): void {
  let base = frame.pop()
  let exponent = frame.pop()
  if (exponent > 0n) frame.charge(EXP_BYTE_GAS * Math.ceil(exponent.toString(16).length / 2))
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
  binary(0x01, 'ADD', 3, (a, b) => unsigned(a + b)),
  binary(0x02, 'MUL', 5, (a, b) => unsigned(a * b)),
  binary(0x03, 'SUB', 3, (a, b) => unsigned(a - b)),
  binary(0x04, 'DIV', 5, (a, b) => (b === 0n ? 0n : a / b)),
  binary(0x05, 'SDIV', 5, (a, b) => (b === 0n ? 0n : unsigned(signed(a) / signed(b)))),
  binary(0x06, 'MOD', 5, (a, b) => (b === 0n ? 0n : a % b)),
  binary(0x07, 'SMOD', 5, (a, b) => (b === 0n ? 0n : unsigned(signed(a) % signed(b)))),
  ternary(0x08, 'ADDMOD', 8, (a, b, modulus) => (modulus === 0n ? 0n : (a + b) % modulus)),
  ternary(0x09, 'MULMOD', 8, (a, b, modulus) => (modulus === 0n ? 0n : (a * b) % modulus)),
  operation(0x0a, 'EXP', 10, 2, 1, exponentiate),
  binary(0x0b, 'SIGNEXTEND', 5, signExtend),
  binary(0x10, 'LT', 3, (a, b) => (a < b ? 1n : 0n)),
  binary(0x11, 'GT', 3, (a, b) => (a > b ? 1n : 0n)),
  binary(0x12, 'SLT', 3, (a, b) => (signed(a) < signed(b) ? 1n : 0n)),
  binary(0x13, 'SGT', 3, (a, b) => (signed(a) > signed(b) ? 1n : 0n)),
  binary(0x14, 'EQ', 3, (a, b) => (a === b ? 1n : 0n)),
  operation(0x15, 'ISZERO', 3, 1, 1, (frame) => frame.push(frame.pop() === 0n ? 1n : 0n)),
  binary(0x16, 'AND', 3, (a, b) => a & b),
  binary(0x17, 'OR', 3, (a, b) => a | b),
  binary(0x18, 'XOR', 3, (a, b) => a ^ b),
  operation(0x19, 'NOT', 3, 1, 1, (frame) => frame.push(MAX_WORD - frame.pop())),
  binary(0x1a, 'BYTE', 3, byteOf),
  binary(0x1b, 'SHL', 3, (shift, word) => (shift >= 256n ? 0n : unsigned(word << shift))),
  binary(0x1c, 'SHR', 3, (shift, word) => (shift >= 256n ? 0n : word >> shift)),
  binary(0x1d, 'SAR', 3, shiftRightSigned),
]
