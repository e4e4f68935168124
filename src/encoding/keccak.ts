/**
 * keccak-256 as WebAssembly made here: a block of a transfer takes some eighty hashes, nearly all of less than 136 bytes.
 */
import { FunctionBody, I32, I64, ModuleWriter, OP } from './wasm-module.ts'
import { compileModule, createMemory, instantiate } from './web-assembly.ts'

/** Bytes of a block of input. */
const RATE = 136
const LANES = 25
const LANE_BYTES = 8
const ROUNDS = 24
const DIGEST_BYTES = 32

/** Where in memory the round constants, the state, whose first bytes are the digest, and the input lie. */
const CONSTANTS = 0
const STATE = CONSTANTS + ROUNDS * LANE_BYTES
const INPUT = 512
/** Bytes of input that are hashed in one go; whole blocks. */
const ROOM = RATE * 478

/** By how many bits each lane is rotated (FIPS 202, 3.2.2), lane x + 5y. */
const ROTATIONS = [
  0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14,
] as const

/** The constants of the step iota (FIPS 202, 3.2.5): bits of a shift register, at the places 2^j - 1. */
function roundConstants(): bigint[] {
  let register = 1
  return Array.from({ length: ROUNDS }, () => {
    let constant = 0n
    for (let j = 0; j < 7; j++) {
      if ((register & 1) === 1) constant |= 1n << BigInt(2 ** j - 1)
      register = register & 0x80 ? ((register << 1) ^ 0x171) & 0xff : register << 1
    }
    return constant
  })
}

const lane = (x: number, y: number): number => (x % 5) + 5 * (y % 5)

/** One round of the permutation on the lanes `a`, with the constant at the address in `constant`. */
function writeRound(body: FunctionBody, a: readonly number[], b: readonly number[], c: readonly number[]) {
  const at = (locals: readonly number[], index: number) => locals[index] as number
  // Theta: c are the parities of the columns.
  for (let x = 0; x < 5; x++) {
    body.get(at(a, x))
    for (let y = 1; y < 5; y++) {
      body.get(at(a, lane(x, y)))
      body.op(OP.i64_xor)
    }
    body.set(at(c, x))
  }
  for (let x = 0; x < 5; x++) {
    body.get(at(c, (x + 4) % 5))
    body.get(at(c, (x + 1) % 5))
    body.i64(1n)
    body.op(OP.i64_rotl, OP.i64_xor)
    body.set(at(c, 5 + x))
  }
  // Rho and pi.
  for (let y = 0; y < 5; y++) {
    for (let x = 0; x < 5; x++) {
      body.get(at(a, lane(x, y)))
      body.get(at(c, 5 + x))
      body.op(OP.i64_xor)
      const rotation = ROTATIONS[lane(x, y)] as number
      if (rotation > 0) {
        body.i64(BigInt(rotation))
        body.op(OP.i64_rotl)
      }
      body.set(at(b, lane(y, 2 * x + 3 * y)))
    }
  }
  // Chi.
  for (let y = 0; y < 5; y++) {
    for (let x = 0; x < 5; x++) {
      body.get(at(b, lane(x, y)))
      body.get(at(b, lane(x + 1, y)))
      body.i64(-1n)
      body.op(OP.i64_xor)
      body.get(at(b, lane(x + 2, y)))
      body.op(OP.i64_and, OP.i64_xor)
      body.set(at(a, lane(x, y)))
    }
  }
}

/**
 * The module: `absorb(continues, end)` takes the blocks from `INPUT` to the address `end`, into the state in memory or,
 * unless it continues, into an empty one.
 */
function createModule(): Uint8Array {
  const body = new FunctionBody(2)
  const [continues, end] = [0, 1]
  const [input, constant] = [body.local(I32), body.local(I32)]
  const locals = (count: number) => Array.from({ length: count }, () => body.local(I64))
  const [a, b, c] = [locals(LANES), locals(LANES), locals(10)]

  body.get(continues)
  body.if()
  for (const [index, local] of a.entries()) {
    body.i32(STATE)
    body.memory(OP.i64_load, index * LANE_BYTES)
    body.set(local)
  }
  body.end()

  body.i32(INPUT)
  body.set(input)
  body.loop()
  for (const [index, local] of a.slice(0, RATE / LANE_BYTES).entries()) {
    body.get(local)
    body.get(input)
    body.memory(OP.i64_load, index * LANE_BYTES)
    body.op(OP.i64_xor)
    body.set(local)
  }
  body.i32(CONSTANTS)
  body.set(constant)
  body.loop()
  writeRound(body, a, b, c)
  // Iota.
  body.get(a[0] as number)
  body.get(constant)
  body.memory(OP.i64_load, 0)
  body.op(OP.i64_xor)
  body.set(a[0] as number)
  body.get(constant)
  body.i32(LANE_BYTES)
  body.op(OP.i32_add)
  body.tee(constant)
  body.i32(CONSTANTS + ROUNDS * LANE_BYTES)
  body.op(OP.i32_lt_u)
  body.branchIf(0)
  body.end()
  body.get(input)
  body.i32(RATE)
  body.op(OP.i32_add)
  body.tee(input)
  body.get(end)
  body.op(OP.i32_lt_u)
  body.branchIf(0)
  body.end()

  for (const [index, local] of a.entries()) {
    body.i32(STATE)
    body.get(local)
    body.memory(OP.i64_store, index * LANE_BYTES)
  }
  const module = new ModuleWriter()
  module.add('absorb', { parameters: [I32, I32], results: [] }, body)
  return module.encode()
}

/** Makes the hash function; what it returns is a view that is valid until the next call. */
export function createKeccak256(): (bytes: Uint8Array) => Uint8Array {
  const memory = createMemory(1)
  const bytesOf = new Uint8Array(memory.buffer)
  const view = new DataView(memory.buffer)
  for (const [round, constant] of roundConstants().entries()) {
    view.setBigUint64(CONSTANTS + round * LANE_BYTES, constant, true)
  }
  const { absorb } = instantiate(compileModule(createModule()), { memory }) as {
    readonly absorb: (continues: number, end: number) => void
  }
  const digest = bytesOf.subarray(STATE, STATE + DIGEST_BYTES)

  return (bytes) => {
    let continues = 0
    let rest = bytes
    for (; rest.length >= ROOM; rest = rest.subarray(ROOM)) {
      bytesOf.set(rest.subarray(0, ROOM), INPUT)
      absorb(continues, INPUT + ROOM)
      continues = 1
    }
    const { length } = rest
    const end = INPUT + (Math.floor(length / RATE) + 1) * RATE
    bytesOf.set(rest, INPUT)
    bytesOf.fill(0, INPUT + length, end)
    bytesOf[INPUT + length] = 0x01
    bytesOf[end - 1] = (bytesOf[end - 1] as number) | 0x80
    absorb(continues, end)
    return digest
  }
}
