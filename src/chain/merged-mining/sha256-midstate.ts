/** SHA-256 stopped and resumed between 64-byte blocks (FIPS 180-4), which the usual libraries do not offer. */

/** Eight 32-bit words: the state after whole blocks. Only `compress` changes it. */
export type Midstate = Int32Array

/** Number of bytes of a block. */
export const BLOCK_BYTES = 64

const ROUNDS = 64

function isPrime(candidate: number): boolean {
  for (let divisor = 2; divisor * divisor <= candidate; divisor++) {
    if (candidate % divisor === 0) return false
  }
  return true
}

function firstPrimes(count: number): number[] {
  const primes: number[] = []
  for (let candidate = 2; primes.length < count; candidate++) {
    if (isPrime(candidate)) primes.push(candidate)
  }
  return primes
}

/** floor(cube or square root × 2^32) without its whole part, exact: the standard's constants are defined so. */
function rootFraction(prime: number, degree: 2n | 3n): number {
  const scaled = BigInt(prime) << (32n * degree)
  let low = 0n
  let high = 1n << 40n
  while (high - low > 1n) {
    const middle = (low + high) >> 1n
    if (middle ** degree <= scaled) low = middle
    else high = middle
  }
  return Number(BigInt.asIntN(32, low))
}

const PRIMES = firstPrimes(ROUNDS)
const K = Int32Array.from(PRIMES, (prime) => rootFraction(prime, 3n))

/** The state before the first block. */
export const INITIAL_STATE: Midstate = Int32Array.from(PRIMES.slice(0, 8), (prime) => rootFraction(prime, 2n))

const schedule = new Int32Array(ROUNDS)

/** Updates `state` in place with the 64 bytes at `offset`. */
export function compress(state: Midstate, bytes: Uint8Array, offset: number): void {
  const w = schedule
  for (let i = 0, at = offset; i < 16; i++, at += 4) {
    w[i] =
      ((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number)
  }
  for (let i = 16; i < ROUNDS; i++) {
    const x = w[i - 15] as number
    const y = w[i - 2] as number
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    w[i] = ((w[i - 16] as number) + s0 + (w[i - 7] as number) + s1) | 0
  }
  let [a, b, c, d] = [state[0] as number, state[1] as number, state[2] as number, state[3] as number]
  let [e, f, g, h] = [state[4] as number, state[5] as number, state[6] as number, state[7] as number]
  for (let i = 0; i < ROUNDS; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (K[i] as number) + (w[i] as number)) | 0
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  state[0] = (state[0] as number) + a
  state[1] = (state[1] as number) + b
  state[2] = (state[2] as number) + c
  state[3] = (state[3] as number) + d
  state[4] = (state[4] as number) + e
  state[5] = (state[5] as number) + f
  state[6] = (state[6] as number) + g
  state[7] = (state[7] as number) + h
}

/** The state after the first `length` bytes, a multiple of 64. */
export function midstateOf(bytes: Uint8Array, length: number): Midstate {
  const state = INITIAL_STATE.slice()
  for (let at = 0; at < length; at += BLOCK_BYTES) compress(state, bytes, at)
  return state
}

/** The digest, 32 bytes, of a message whose first `before` bytes (a multiple of 64) led to `state` and whose rest is `tail`. */
export function finishSha256(state: Midstate, before: number, tail: Uint8Array): Uint8Array {
  const padded = padTail(before, tail)
  const working = state.slice()
  for (let at = 0; at < padded.length; at += BLOCK_BYTES) compress(working, padded, at)
  return stateBytes(working)
}

/** The tail followed by the standard's padding: 80, zeros, the length of the whole message in bits; whole blocks. */
export function padTail(before: number, tail: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((tail.length + 9) / BLOCK_BYTES) * BLOCK_BYTES)
  padded.set(tail)
  padded[tail.length] = 0x80
  let bits = (before + tail.length) * 8
  for (let at = padded.length - 1; bits > 0; at--) {
    padded[at] = bits % 256
    bits = Math.floor(bits / 256)
  }
  return padded
}

/** Eight words as 32 bytes, big-endian: a digest, or a serialized state. */
export function stateBytes(state: Midstate): Uint8Array {
  const out = new Uint8Array(32)
  for (let i = 0; i < 8; i++) {
    const word = state[i] as number
    out[4 * i] = word >>> 24
    out[4 * i + 1] = word >>> 16
    out[4 * i + 2] = word >>> 8
    out[4 * i + 3] = word
  }
  return out
}

/** The state that `stateBytes` wrote. */
export function stateFrom(bytes: Uint8Array): Midstate {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 32)
  return Int32Array.from({ length: 8 }, (_, i) => view.getInt32(4 * i))
}
