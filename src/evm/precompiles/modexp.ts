/** 0x05: modular exponentiation of integers of any length (EIP-198). */
import { EMPTY, fromBigInt, padLeft, toBigInt } from '../../encoding/bytes.ts'
import { modularPower } from './modular-power.ts'
import { inputSlice, type PrecompileCode } from './precompile.ts'

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

/** How many squarings the exponent needs, by its length and its first 32 bytes. */
function adjustedExponentLength(input: Uint8Array, lengths: Lengths): bigint {
  const offset = HEAD + lengths.base
  const head =
    offset < input.length ? toBigInt(inputSlice(input, offset, Math.min(lengths.exponent, 32))) : 0n
  const highestBit = head === 0n ? 0 : head.toString(2).length - 1
  return BigInt(8 * Math.max(lengths.exponent - 32, 0) + highestBit)
}

/** EIP-198's gas: divisor 20, no minimum. */
export function modexpGas(input: Uint8Array): bigint {
  const lengths = readLengths(input)
  const complexity = multiplicationComplexity(Math.max(lengths.base, lengths.modulus))
  const squarings = adjustedExponentLength(input, lengths)
  const gas = (complexity * (squarings > 1n ? squarings : 1n)) / 20n
  return gas > MAX_GAS ? MAX_GAS : gas
}

/**
 * Lengths of base, exponent and modulus (a word each), then the three; the result is as long as the modulus. Missing
 * input counts as zeros, modulus zero gives zeros, lengths past 2^31 give empty output.
 */
export const modexp: PrecompileCode = {
  run(input) {
    const lengths = readLengths(input)
    const exponentAt = HEAD + lengths.base
    const modulusAt = exponentAt + lengths.exponent
    if (lengths.modulus === 0 || modulusAt > MAX_LENGTH) return EMPTY
    const held = toBigInt(input.subarray(modulusAt, modulusAt + lengths.modulus))
    if (held === 0n) return new Uint8Array(lengths.modulus)
    // The input reaches into the modulus, so base and exponent are all there; only the modulus may want zeros behind it.
    const missing = Math.max(modulusAt + lengths.modulus - input.length, 0)
    const modulus = held << BigInt(8 * missing)
    const base = toBigInt(input.subarray(HEAD, exponentAt))
    const exponent = toBigInt(input.subarray(exponentAt, modulusAt))
    return padLeft(fromBigInt(modularPower(base, exponent, modulus)), lengths.modulus)
  },
}
