/** 0x05: modular exponentiation of integers of any length, at EIP-198's price. */
import { EMPTY, fromBigInt, padLeft, toBigInt } from '../../encoding/bytes.ts'
import { inputSlice, type NativeContract } from './contract.ts'
import { modularPower } from './modular-power.ts'

const HEAD = 96
/** Lengths above are read as this, and no offset may pass it: the node counts bytes in signed 32-bit integers. */
const MAX_LENGTH = 2 ** 31 - 1
const MAX_GAS = 2n ** 63n - 1n

interface Lengths {
  readonly base: number
  readonly exponent: number
  readonly modulus: number
}

function readLengths(input: Uint8Array): Lengths {
  const at = (index: number): number => {
    const value = toBigInt(inputSlice(input, 32 * index, 32))
    return value > MAX_LENGTH ? MAX_LENGTH : Number(value)
  }
  return { base: at(0), exponent: at(1), modulus: at(2) }
}

/** Price of one multiplication of `length` bytes: EIP-198's three-part approximation. */
function multiplicationComplexity(length: number): bigint {
  const x = BigInt(length)
  if (x <= 64n) return x * x
  if (x <= 1024n) return (x * x) / 4n + 96n * x - 3072n
  return (x * x) / 16n + 480n * x - 199_680n
}

/** How many squarings the exponent asks for, judged by its length and its first 32 bytes. */
function adjustedExponentLength(input: Uint8Array, lengths: Lengths): bigint {
  const offset = HEAD + lengths.base
  const head =
    offset < input.length ? toBigInt(inputSlice(input, offset, Math.min(lengths.exponent, 32))) : 0n
  const highestBit = head === 0n ? 0 : head.toString(2).length - 1
  return BigInt(8 * Math.max(lengths.exponent - 32, 0) + highestBit)
}

/** The part of an operand that the input holds, and how many zero bytes are understood to follow it. */
function operand(input: Uint8Array, offset: number, length: number): { head: bigint; zeros: number } {
  const held = input.subarray(offset, offset + length)
  return { head: toBigInt(held), zeros: held.length === 0 ? 0 : length - held.length }
}

/**
 * Lengths of base, exponent and modulus (a word each), then the three; the result is as long as the modulus. Missing
 * input counts as zeros, modulus zero gives zeros, lengths past 2^31 give empty output. No minimum price, divisor 20.
 */
export const modexp: NativeContract = {
  requiredGas(input) {
    const lengths = readLengths(input)
    const complexity = multiplicationComplexity(Math.max(lengths.base, lengths.modulus))
    const squarings = adjustedExponentLength(input, lengths)
    const gas = (complexity * (squarings > 1n ? squarings : 1n)) / 20n
    return gas > MAX_GAS ? MAX_GAS : gas
  },
  run(input) {
    const lengths = readLengths(input)
    const exponentAt = HEAD + lengths.base
    const modulusAt = exponentAt + lengths.exponent
    if (lengths.modulus === 0 || modulusAt > MAX_LENGTH) return EMPTY
    const modulusParts = operand(input, modulusAt, lengths.modulus)
    const modulus = modulusParts.head << BigInt(8 * modulusParts.zeros)
    if (modulus === 0n) return new Uint8Array(lengths.modulus)
    const baseParts = operand(input, HEAD, lengths.base)
    const base = baseParts.head << BigInt(8 * baseParts.zeros)
    const exponent = operand(input, exponentAt, lengths.exponent)
    const result = modularPower(base, exponent.head, 8 * exponent.zeros, modulus)
    return padLeft(fromBigInt(result), lengths.modulus)
  },
}
