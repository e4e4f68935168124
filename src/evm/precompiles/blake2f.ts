/** 0x09: the compression function F of BLAKE2b with a free choice of rounds (EIP-152, RSKIP-153). */
import { type Chunks, inChunks, type PrecompileCode, PrecompileFailure } from './precompile.ts'

/** Rounds of one chunk. */
const CHUNK_ROUNDS = 2048

const INPUT_LENGTH = 213
const ROUNDS_OFFSET = 0
const STATE_OFFSET = 4
const MESSAGE_OFFSET = 68
const COUNTER_OFFSET = 196
const FINAL_OFFSET = 212

/** BLAKE2b's initial vector (the fractions of the square roots of the first eight primes), low half of each word first. */
const IV = Uint32Array.of(
  0xf3bcc908,
  0x6a09e667,
  0x84caa73b,
  0xbb67ae85,
  0xfe94f82b,
  0x3c6ef372,
  0x5f1d36f1,
  0xa54ff53a,
  0xade682d1,
  0x510e527f,
  0x2b3e6c1f,
  0x9b05688c,
  0xfb41bd6b,
  0x1f83d9ab,
  0x137e2179,
  0x5be0cd19,
)

/** Message words of a round. */
const WORDS = 16

/** Which message words each of the ten round patterns mixes in, in order (RFC 7693, 2.7): offsets of low halves. */
const SIGMA = Uint8Array.from(
  '0123456789abcdef' +
    'ea489fd61c02b753' +
    'b8c052fdae367194' +
    '7931dcbe265a40f8' +
    '905724afe1bc683d' +
    '2c6a0b834d75fe19' +
    'c51fed4a0763928b' +
    'db7ec13950f4862a' +
    '6fe9b308c2d714a5' +
    'a2847615fb9e3cd0',
  (digit) => Number.parseInt(digit, 16) * 2,
)

/** The mixing function G on words a, b, c, d (offsets of low halves) with message words x and y. */
function mix(
  v: Int32Array,
  m: Int32Array,
  a: number,
  b: number,
  c: number,
  d: number,
  x: number,
  y: number,
): void {
  let al = v[a] ?? 0
  let ah = v[a + 1] ?? 0
  let bl = v[b] ?? 0
  let bh = v[b + 1] ?? 0
  let cl = v[c] ?? 0
  let ch = v[c + 1] ?? 0
  let dl = v[d] ?? 0
  let dh = v[d + 1] ?? 0

  // The sum of low halves stays exact in a double; what passes 2^32 is the carry.
  let low = (al >>> 0) + (bl >>> 0) + ((m[x] ?? 0) >>> 0)
  ah = (ah + bh + (m[x + 1] ?? 0) + ((low / 0x1_0000_0000) | 0)) | 0
  al = low | 0
  let swap = dl ^ al
  dl = dh ^ ah
  dh = swap
  low = (cl >>> 0) + (dl >>> 0)
  ch = (ch + dh + ((low / 0x1_0000_0000) | 0)) | 0
  cl = low | 0
  bl ^= cl
  bh ^= ch
  swap = (bl >>> 24) | (bh << 8)
  bh = (bh >>> 24) | (bl << 8)
  bl = swap

  low = (al >>> 0) + (bl >>> 0) + ((m[y] ?? 0) >>> 0)
  ah = (ah + bh + (m[y + 1] ?? 0) + ((low / 0x1_0000_0000) | 0)) | 0
  al = low | 0
  dl ^= al
  dh ^= ah
  swap = (dl >>> 16) | (dh << 16)
  dh = (dh >>> 16) | (dl << 16)
  dl = swap
  low = (cl >>> 0) + (dl >>> 0)
  ch = (ch + dh + ((low / 0x1_0000_0000) | 0)) | 0
  cl = low | 0
  bl ^= cl
  bh ^= ch
  swap = (bl << 1) | (bh >>> 31)
  bh = (bh << 1) | (bl >>> 31)
  bl = swap

  v[a] = al
  v[a + 1] = ah
  v[b] = bl
  v[b + 1] = bh
  v[c] = cl
  v[c + 1] = ch
  v[d] = dl
  v[d + 1] = dh
}

/** Some rounds on the working vector, from one that has been reached. */
function mixRounds(v: Int32Array, m: Int32Array, from: number, to: number): void {
  for (let round = from; round < to; round++) {
    const s = (WORDS * round) % SIGMA.length
    mix(v, m, 0, 8, 16, 24, SIGMA[s] ?? 0, SIGMA[s + 1] ?? 0)
    mix(v, m, 2, 10, 18, 26, SIGMA[s + 2] ?? 0, SIGMA[s + 3] ?? 0)
    mix(v, m, 4, 12, 20, 28, SIGMA[s + 4] ?? 0, SIGMA[s + 5] ?? 0)
    mix(v, m, 6, 14, 22, 30, SIGMA[s + 6] ?? 0, SIGMA[s + 7] ?? 0)
    mix(v, m, 0, 10, 20, 30, SIGMA[s + 8] ?? 0, SIGMA[s + 9] ?? 0)
    mix(v, m, 2, 12, 22, 24, SIGMA[s + 10] ?? 0, SIGMA[s + 11] ?? 0)
    mix(v, m, 4, 14, 16, 26, SIGMA[s + 12] ?? 0, SIGMA[s + 13] ?? 0)
    mix(v, m, 6, 8, 18, 28, SIGMA[s + 14] ?? 0, SIGMA[s + 15] ?? 0)
  }
}

/** F in chunks: `h` is the state (16 halves, low first) and is replaced, `m` the message block, `t` the byte counter. */
function* compress(
  rounds: number,
  h: Int32Array,
  m: Int32Array,
  t: Int32Array,
  final: boolean,
): Generator<undefined, void> {
  const v = new Int32Array(32)
  v.set(h)
  v.set(IV, 16)
  for (let i = 0; i < 4; i++) v[24 + i] = (v[24 + i] ?? 0) ^ (t[i] ?? 0)
  if (final) {
    v[28] = ~(v[28] ?? 0)
    v[29] = ~(v[29] ?? 0)
  }
  for (let round = 0; round < rounds; round += CHUNK_ROUNDS) {
    if (round > 0) yield
    mixRounds(v, m, round, Math.min(rounds, round + CHUNK_ROUNDS))
  }
  for (let i = 0; i < 16; i++) h[i] = (h[i] ?? 0) ^ (v[i] ?? 0) ^ (v[i + 16] ?? 0)
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

function readHalves(input: DataView, offset: number, count: number): Int32Array {
  const halves = new Int32Array(count)
  for (let i = 0; i < count; i++) halves[i] = input.getInt32(offset + 4 * i, true)
  return halves
}

function* run(input: Uint8Array): Chunks {
  if (input.length !== INPUT_LENGTH) throw new PrecompileFailure('input is not 213 bytes long')
  const final = input[FINAL_OFFSET]
  if (final !== 0 && final !== 1) throw new PrecompileFailure('final block flag is neither 0 nor 1')
  const view = viewOf(input)
  const state = readHalves(view, STATE_OFFSET, 16)
  const message = readHalves(view, MESSAGE_OFFSET, 32)
  const counter = readHalves(view, COUNTER_OFFSET, 4)
  yield* compress(view.getUint32(ROUNDS_OFFSET), state, message, counter, final === 1)
  const output = new Uint8Array(64)
  const out = viewOf(output)
  for (let i = 0; i < 16; i++) out.setInt32(4 * i, state[i] ?? 0, true)
  return output
}

/** One gas a round; nothing for another length, which fails. */
export function blake2fGas(input: Uint8Array): bigint {
  return input.length === INPUT_LENGTH ? BigInt(viewOf(input).getUint32(ROUNDS_OFFSET)) : 0n
}

/** Rounds, state, message, counter and final flag (213 bytes) to the new state. Another length fails. */
export const blake2f: PrecompileCode = {
  maxInputFromContract: INPUT_LENGTH,
  ...inChunks(run),
}
