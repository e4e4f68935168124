/** Modular powers of integers of any size. */

/** Bits of the exponent taken at once. */
const WINDOW = 4
/** Exponents from here on are worth factoring a small modulus for. */
const LONG_EXPONENT = 2n ** 512n
/** Moduli below this are factored by trial division in less time than a long exponent takes. */
const SMALL_MODULUS = 2n ** 24n

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

/** Euler's totient of a modulus below 2^24. */
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
 * base^exponent mod modulus, for a modulus of at least 1. A short modulus makes long exponents cheap in gas, so there
 * Euler's theorem cuts the exponent down; elsewhere gas bounds the squarings.
 */
export function modularPower(base: bigint, exponent: bigint, modulus: bigint): bigint {
  if (modulus >= SMALL_MODULUS || exponent < LONG_EXPONENT) return power(base, exponent, modulus)
  const order = totient(modulus)
  // From the 24th on the powers repeat every `order`, even for a base that shares factors with the modulus.
  return power(base, (exponent % order) + order * (24n / order + 1n), modulus)
}
