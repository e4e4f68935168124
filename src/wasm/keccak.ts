/**
 * keccak-256 in WebAssembly, on a linear memory that it shares with others: compiled contracts hash where their memory is,
 * and `hash.ts` in one call. `npm run bench:micro -- --only hashes` compares it with `hash-wasm` and `@noble/hashes`.
 */
import { FunctionBody, I32, I64, OP } from './function-body.ts'
import { ModuleWriter } from './module.ts'
import { compileModule, instantiate, type WasmMemory, type WasmModule } from './web-assembly.ts'

/** Bytes of input that a permutation takes. */
const RATE = 136
const ROUNDS = 24
/** Rounds that the loop unrolls; even, since every second round writes back to the first lanes. More are slower. */
const UNROLLED = 2
/** Lengths of a last block that is hashed in place, without a padded copy: a word, a key and a slot. */
const FREQUENT = [32, 64]

/** The last bit of a padded block, in its lane; as the signed number that instructions have. */
const HIGHEST_BIT = -(2n ** 63n)

/** Where it keeps a padded block and the constants of the rounds. */
const BLOCK_AT = 0
const CONSTANTS_AT = 256
/** Bytes at the start of the memory that it needs for itself. */
export const KECCAK_BYTES = CONSTANTS_AT + 8 * ROUNDS

/**
 * Lanes that are kept inverted: most of the 25 inversions of a round then fall away ("lane complementing" in the Keccak
 * implementation overview).
 */
const INVERTED: ReadonlySet<number> = new Set([1, 2, 8, 12, 17, 20])
const isInverted = (lane: number) => INVERTED.has(lane)

/** By lane, x + 5 y: how far it is rotated; the first lane is not. */
function rotations(): ReadonlyMap<number, number> {
  const offsets = new Map<number, number>()
  let [x, y] = [1, 0]
  for (let t = 0; t < 24; t++) {
    offsets.set(x + 5 * y, (((t + 1) * (t + 2)) / 2) % 64)
    ;[x, y] = [y, (2 * x + 3 * y) % 5]
  }
  return offsets
}

/** What each round adds to the first lane: the bits of a shift register at the places 2^j - 1. */
function roundConstants(): BigUint64Array {
  const constants = new BigUint64Array(ROUNDS)
  let register = 1
  for (let round = 0; round < ROUNDS; round++) {
    let constant = 0n
    for (let j = 0; j < 7; j++) {
      if ((register & 1) === 1) constant |= 1n << ((1n << BigInt(j)) - 1n)
      register = (register << 1) ^ (register >= 0x80 ? 0x171 : 0)
    }
    constants[round] = constant
  }
  return constants
}

/** Writes rounds; the state is 25 locals before each and 25 others after it. Locals in a row are named by their first. */
class RoundWriter {
  readonly #body: FunctionBody
  readonly #rotations = rotations()
  readonly #parities: number
  readonly #effects: number
  readonly #row: number

  constructor(body: FunctionBody) {
    this.#body = body
    this.#parities = body.locals(I64, 5)
    this.#effects = body.locals(I64, 5)
    this.#row = body.locals(I64, 5)
  }

  /** `constant` is the offset of the round's constant from the address in the local `constants`. */
  round(from: number, to: number, constants: number, constant: number): void {
    this.#theta(from)
    for (let y = 0; y < 5; y++) {
      const inversions = [0, 1, 2, 3, 4].map((x) => this.#rotated(from, x, y))
      for (let x = 0; x < 5; x++) {
        this.#chi(x, y, inversions)
        if (x === 0 && y === 0) {
          this.#body.get(constants)
          this.#body.memory(OP.i64_load, constant)
          this.#body.op(OP.i64_xor)
        }
        this.#body.set(to + x + 5 * y)
      }
    }
  }

  /** Of each column: its parity, and what that of its neighbours does to it. */
  #theta(from: number): void {
    const body = this.#body
    for (let x = 0; x < 5; x++) {
      for (let y = 0; y < 5; y++) {
        body.get(from + x + 5 * y)
        if (y > 0) body.op(OP.i64_xor)
      }
      body.set(this.#parities + x)
    }
    for (let x = 0; x < 5; x++) {
      body.get(this.#parities + ((x + 1) % 5))
      body.i64(1n)
      body.op(OP.i64_rotl)
      body.get(this.#parities + ((x + 4) % 5))
      body.op(OP.i64_xor)
      body.set(this.#effects + x)
    }
  }

  /** Puts the lane that comes to x in row y there; is it inverted? */
  #rotated(from: number, x: number, y: number): boolean {
    const body = this.#body
    // The lane (a, b) goes to (b, 2 a + 3 b), so that a = x + 3 y.
    const [a, b] = [(x + 3 * y) % 5, x]
    const lane = a + 5 * b
    body.get(from + lane)
    body.get(this.#effects + a)
    body.op(OP.i64_xor)
    const rotation = this.#rotations.get(lane) ?? 0
    if (rotation > 0) {
      body.i64(BigInt(rotation))
      body.op(OP.i64_rotl)
    }
    body.set(this.#row + x)
    const isOdd = (column: number) =>
      [0, 5, 10, 15, 20].filter((row) => isInverted(column + row)).length % 2 === 1
    return isInverted(lane) !== (isOdd((a + 1) % 5) !== isOdd((a + 4) % 5))
  }

  /** Pushes the lane (x, y): row[x] ^ (~row[x + 1] & row[x + 2]), inverted as the lane is kept. */
  #chi(x: number, y: number, inversions: readonly boolean[]): void {
    const body = this.#body
    const [own, next, second] = [x, (x + 1) % 5, (x + 2) % 5] as const
    const [isOwn, isNext, isSecond] = [inversions[own], inversions[next], inversions[second]]
    const isWanted = isInverted(x + 5 * y)
    const not = () => {
      body.i64(-1n)
      body.op(OP.i64_xor)
    }
    body.get(this.#row + own)
    body.get(this.#row + next)
    // Where one of them is inverted, ~b & c is an AND or an inverted OR; else either can be had for one inversion.
    let gives = isOwn
    if (isNext !== isSecond) {
      body.get(this.#row + second)
      body.op(isNext ? OP.i64_and : OP.i64_or)
      if (isSecond) gives = !gives
    } else {
      const asAnd = isOwn === isWanted
      const invertsNext = asAnd !== isNext
      if (invertsNext) not()
      body.get(this.#row + second)
      if (!invertsNext) not()
      body.op(asAnd ? OP.i64_and : OP.i64_or)
      gives = isWanted
    }
    body.op(OP.i64_xor)
    if (gives !== isWanted) not()
  }
}

/** `(from, length, to)`: hashes `length` bytes at `from`, and writes the 32 bytes of the digest at `to`. */
function hashBody(): FunctionBody {
  const body = new FunctionBody(3)
  const [from, length, to] = [0, 1, 2] as const
  const constants = body.local(I32)
  const isLast = body.local(I32)
  const at = body.local(I32)
  const state = body.locals(I64, 25)
  const next = body.locals(I64, 25)
  const writer = new RoundWriter(body)
  for (const lane of INVERTED) {
    body.i64(-1n)
    body.set(state + lane)
  }
  body.loop()
  body.block()
  for (const bytes of FREQUENT) {
    body.get(length)
    body.i32(bytes)
    body.op(OP.i32_xor, OP.i32_eqz)
    body.if()
    absorb(body, from, state, bytes / 8)
    mix(body, state + bytes / 8, 1n)
    mix(body, state + RATE / 8 - 1, HIGHEST_BIT)
    body.i32(1)
    body.set(isLast)
    body.branch(1)
    body.end()
  }
  body.get(length)
  body.i32(RATE)
  body.op(OP.i32_lt_u)
  body.if()
  padLastBlock(body, from, length, at)
  body.i32(BLOCK_AT)
  body.set(from)
  body.i32(1)
  body.set(isLast)
  body.end()
  absorb(body, from, state, RATE / 8)
  body.get(from)
  body.i32(RATE)
  body.op(OP.i32_add)
  body.set(from)
  body.get(length)
  body.i32(RATE)
  body.op(OP.i32_sub)
  body.set(length)
  body.end()
  body.i32(CONSTANTS_AT)
  body.set(constants)
  body.loop()
  for (let i = 0; i < UNROLLED; i += 2) {
    writer.round(state, next, constants, 8 * i)
    writer.round(next, state, constants, 8 * i + 8)
  }
  body.get(constants)
  body.i32(8 * UNROLLED)
  body.op(OP.i32_add)
  body.tee(constants)
  body.i32(CONSTANTS_AT + 8 * ROUNDS)
  body.op(OP.i32_lt_u)
  body.branchIf(0)
  body.end()
  body.get(isLast)
  body.op(OP.i32_eqz)
  body.branchIf(0)
  body.end()
  for (let i = 0; i < 4; i++) {
    body.get(to)
    body.get(state + i)
    if (isInverted(i)) {
      body.i64(-1n)
      body.op(OP.i64_xor)
    }
    body.memory(OP.i64_store, 8 * i)
  }
  return body
}

/** Adds the first lanes of a block. */
function absorb(body: FunctionBody, from: number, state: number, lanes: number): void {
  for (let i = 0; i < lanes; i++) {
    body.get(state + i)
    body.get(from)
    body.memory(OP.i64_load, 8 * i)
    body.op(OP.i64_xor)
    body.set(state + i)
  }
}

/** Adds bits to a lane. */
function mix(body: FunctionBody, lane: number, bits: bigint): void {
  body.get(lane)
  body.i64(bits)
  body.op(OP.i64_xor)
  body.set(lane)
}

/** Copies what is left of the input, less than a block, and pads it: a 1 behind it, and the highest bit of the block. */
function padLastBlock(body: FunctionBody, from: number, length: number, at: number): void {
  for (let i = 0; i < RATE / 8; i++) {
    body.i32(BLOCK_AT)
    body.i64(0n)
    body.memory(OP.i64_store, 8 * i)
  }
  body.i32(0)
  body.set(at)
  const copy = (bytes: number, load: number, store: number) => {
    body.block()
    body.loop()
    body.get(at)
    body.i32(bytes)
    body.op(OP.i32_add)
    body.get(length)
    body.op(OP.i32_gt_u)
    body.branchIf(1)
    body.get(at)
    body.get(from)
    body.get(at)
    body.op(OP.i32_add)
    body.memory(load, 0)
    body.memory(store, BLOCK_AT)
    body.get(at)
    body.i32(bytes)
    body.op(OP.i32_add)
    body.set(at)
    body.branch(0)
    body.end()
    body.end()
  }
  copy(8, OP.i64_load, OP.i64_store)
  copy(1, OP.i32_load8_u, OP.i32_store8)
  body.get(length)
  body.i32(1)
  body.memory(OP.i32_store8, BLOCK_AT)
  body.i32(0)
  body.i32(0)
  body.memory(OP.i32_load8_u, BLOCK_AT + RATE - 1)
  body.i32(0x80)
  body.op(OP.i32_or)
  body.memory(OP.i32_store8, BLOCK_AT + RATE - 1)
}

function compile(): WasmModule {
  const module = new ModuleWriter()
  module.add('hash', { parameters: [I32, I32, I32], results: [] }, hashBody())
  module.data(CONSTANTS_AT, new Uint8Array(roundConstants().buffer))
  return compileModule(module.encode())
}

let compiled: WasmModule | undefined

/** Hashes `length` bytes at the address `from` of a memory, and writes the 32 bytes of the digest at `to`. */
export type KeccakOnMemory = (from: number, length: number, to: number) => void

/** The function on a memory, whose first KECCAK_BYTES are its own. Throws where there is no WebAssembly. */
export function keccakOn(memory: WasmMemory): KeccakOnMemory {
  compiled ??= compile()
  return instantiate(compiled, { memory }).hash as KeccakOnMemory
}
