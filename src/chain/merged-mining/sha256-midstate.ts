/** SHA-256 stopped and resumed between 64-byte blocks (FIPS 180-4), which the usual libraries do not offer. */

/** The state after whole blocks: eight 32-bit words, big-endian. Only `compress` changes it. */
export type Midstate = DataView<ArrayBuffer>

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
/** These numbers as 32-bit words. */
function wordsOf(numbers: readonly number[]): DataView<ArrayBuffer> {
  const words = new DataView(new ArrayBuffer(4 * numbers.length))
  for (const [i, number] of numbers.entries()) words.setInt32(4 * i, number)
  return words
}

const K = wordsOf(PRIMES.map((prime) => rootFraction(prime, 3n)))

/** The state before the first block. */
export const INITIAL_STATE: Midstate = wordsOf(PRIMES.slice(0, 8).map((prime) => rootFraction(prime, 2n)))

const schedule = new DataView(new ArrayBuffer(4 * ROUNDS))

/** Updates `state` in place with the 64 bytes at `offset`. */
export function compress(state: Midstate, bytes: DataView, offset: number): void {
  const w = schedule
  for (let at = 0; at < BLOCK_BYTES; at += 4) w.setInt32(at, bytes.getInt32(offset + at))
  for (let at = BLOCK_BYTES; at < 4 * ROUNDS; at += 4) {
    const x = w.getInt32(at - 60)
    const y = w.getInt32(at - 8)
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    w.setInt32(at, w.getInt32(at - 64) + s0 + w.getInt32(at - 28) + s1)
  }
  let [a, b, c, d] = [state.getInt32(0), state.getInt32(4), state.getInt32(8), state.getInt32(12)]
  let [e, f, g, h] = [state.getInt32(16), state.getInt32(20), state.getInt32(24), state.getInt32(28)]
  for (let at = 0; at < 4 * ROUNDS; at += 4) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K.getInt32(at) + w.getInt32(at)) | 0
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
  state.setInt32(0, state.getInt32(0) + a)
  state.setInt32(4, state.getInt32(4) + b)
  state.setInt32(8, state.getInt32(8) + c)
  state.setInt32(12, state.getInt32(12) + d)
  state.setInt32(16, state.getInt32(16) + e)
  state.setInt32(20, state.getInt32(20) + f)
  state.setInt32(24, state.getInt32(24) + g)
  state.setInt32(28, state.getInt32(28) + h)
}

/** The state after the first `length` bytes, a multiple of 64. */
export function midstateOf(bytes: Uint8Array, length: number): Midstate {
  const state = stateFrom(stateBytes(INITIAL_STATE))
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at < length; at += BLOCK_BYTES) compress(state, view, at)
  return state
}

/** The digest, 32 bytes, of a message whose first `before` bytes (a multiple of 64) led to `state` and whose rest is `tail`. */
export function finishSha256(state: Midstate, before: number, tail: Uint8Array): Uint8Array {
  const padded = new DataView(padTail(before, tail).buffer)
  const working = stateFrom(stateBytes(state))
  for (let at = 0; at < padded.byteLength; at += BLOCK_BYTES) compress(working, padded, at)
  return stateBytes(working)
}

/** The tail followed by the standard's padding: 80, zeros, the length of the whole message in bits; whole blocks. */
export function padTail(before: number, tail: Uint8Array): Uint8Array<ArrayBuffer> {
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

/** The 32 bytes of a state, not copied: a digest, or a serialized state. */
export function stateBytes(state: Midstate): Uint8Array {
  return new Uint8Array(state.buffer)
}

/** A state of its own from the bytes of one. */
export function stateFrom(bytes: Uint8Array): Midstate {
  return new DataView(new Uint8Array(bytes).buffer)
}
