/** Modular powers of integers of any size, without ever spelling out a long exponent. */

/** Bits of the exponent taken at once. */
const WINDOW = 4
/** Exponents longer than this, in bits, are worth factoring a small modulus for. */
const LONG_EXPONENT = 2048
/** Moduli below this are factored by trial division in a fraction of a millisecond. */
const SMALL_MODULUS = 2n ** 32n

/** base^exponent mod modulus, by windows of the exponent's digits. */
function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  if (exponent === 0n) return 1n % modulus
  const digits = exponent.toString(2 ** WINDOW)
  const first = base % modulus
  if (digits.length <= 2) {
    let result = first
    for (const bit of exponent.toString(2).slice(1)) {
      result = (result * result) % modulus
      if (bit === '1') result = (result * first) % modulus
    }
    return result
  }
  const powers = [1n % modulus]
  for (let i = 1; i < 2 ** WINDOW; i++) powers.push(((powers[i - 1] as bigint) * first) % modulus)
  let result = powers[Number.parseInt(digits[0] as string, 2 ** WINDOW)] as bigint
  for (let i = 1; i < digits.length; i++) {
    for (let square = 0; square < WINDOW; square++) result = (result * result) % modulus
    const digit = Number.parseInt(digits[i] as string, 2 ** WINDOW)
    if (digit !== 0) result = (result * (powers[digit] as bigint)) % modulus
  }
  return result
}

/** Euler's totient of a modulus below 2^32. */
function totient(modulus: bigint): bigint {
  let rest = Number(modulus)
  let result = rest
  for (let prime = 2; prime * prime <= rest; prime++) {
    if (rest % prime !== 0) continue
    while (rest % prime === 0) rest /= prime
    result -= result / prime
  }
  return BigInt(rest > 1 ? result - result / rest : result)
}

/**
 * base^(exponent · 2^shift) mod modulus, for a modulus of at least 1. The shift may be many millions: a short modulus
 * makes long exponents cheap in gas, so there Euler's theorem cuts the exponent down; elsewhere gas bounds the squarings.
 */
export function modularPower(base: bigint, exponent: bigint, shift: number, modulus: bigint): bigint {
  if (exponent === 0n) return 1n % modulus
  if (modulus === 1n) return 0n
  if (modulus < SMALL_MODULUS && shift + exponent.toString(16).length * 4 > LONG_EXPONENT) {
    const order = totient(modulus)
    // Adding the order once keeps the exponent above 32, where powers repeat even for a base that shares factors.
    const reduced = ((exponent % order) * power(2n, BigInt(shift), order)) % order
    return power(base, reduced + order * (32n / order + 1n), modulus)
  }
  let result = power(base, exponent, modulus)
  for (let i = 0; i < shift && result > 1n; i++) result = (result * result) % modulus
  return result
}
