/** Writes the bodies of functions in WebAssembly's binary format: the instructions that generated code needs. */
import { ByteWriter } from './byte-writer.ts'

/** Types of values, as the format numbers them. */
export const I32 = 0x7f
export const I64 = 0x7e
const V128 = 0x7b
const EMPTY_BLOCK = 0x40

export type ValueType = typeof I32 | typeof I64 | typeof V128

/** The opcodes in use, by the specification's names with `_` for `.`. */
export const OP = {
  unreachable: 0x00,
  return: 0x0f,
  call: 0x10,
  drop: 0x1a,
  select: 0x1b,
  local_get: 0x20,
  local_set: 0x21,
  local_tee: 0x22,
  i32_load: 0x28,
  i64_load: 0x29,
  f64_load: 0x2b,
  i32_load8_u: 0x2d,
  i32_store: 0x36,
  i64_store: 0x37,
  f64_store: 0x39,
  i32_store8: 0x3a,
  i32_eqz: 0x45,
  i32_lt_s: 0x48,
  i32_lt_u: 0x49,
  i32_gt_s: 0x4a,
  i32_gt_u: 0x4b,
  i32_ge_u: 0x4f,
  i64_eqz: 0x50,
  i64_eq: 0x51,
  i64_ne: 0x52,
  i64_lt_s: 0x53,
  i64_lt_u: 0x54,
  i64_gt_u: 0x56,
  i64_ge_u: 0x5a,
  f64_lt: 0x63,
  i32_add: 0x6a,
  i32_sub: 0x6b,
  i32_mul: 0x6c,
  i32_and: 0x71,
  i32_or: 0x72,
  i32_xor: 0x73,
  i32_shr_u: 0x76,
  i64_add: 0x7c,
  i64_sub: 0x7d,
  i64_mul: 0x7e,
  i64_div_u: 0x80,
  i64_rem_u: 0x82,
  i64_and: 0x83,
  i64_or: 0x84,
  i64_xor: 0x85,
  i64_shl: 0x86,
  i64_shr_u: 0x88,
  i64_rotl: 0x89,
  f64_add: 0xa0,
  f64_sub: 0xa1,
  i32_wrap_i64: 0xa7,
  i64_extend_i32_u: 0xad,
  i64_trunc_f64_u: 0xb1,
  f64_convert_i32_u: 0xb8,
  f64_convert_i64_u: 0xba,
} as const

/** Of the group behind the prefix 0xfd. */
const SIMD = 0xfd
const V128_LOAD = 0
const V128_STORE = 11
const V128_CONST = 12
const SHUFFLE = 13
const I64X2_SPLAT = 18
const EXTRACT_LANE_64 = 29
const REPLACE_LANE_64 = 30
/** All 16 bytes in reverse order. */
const REVERSED = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]

const floats = new DataView(new ArrayBuffer(8))

/** The body of one function. Its parameters are locals 0 and up; further ones are made by `local`. */
export class FunctionBody {
  readonly #bytes = new ByteWriter()
  readonly #locals: ValueType[] = []
  readonly #parameters: number

  constructor(parameters: number) {
    this.#parameters = parameters
  }

  /** Bytes of its instructions so far. */
  get size(): number {
    return this.#bytes.length
  }

  /** Makes a local; its number. */
  local(type: ValueType): number {
    this.#locals.push(type)
    return this.#parameters + this.#locals.length - 1
  }

  /** Further locals, with numbers in a row; the first of them. */
  locals(type: ValueType, count: number): number {
    const first = this.#parameters + this.#locals.length
    for (let i = 0; i < count; i++) this.#locals.push(type)
    return first
  }

  /** Instructions without operands. */
  op(...codes: number[]): void {
    this.#bytes.push(...codes)
  }

  get(local: number): void {
    this.#bytes.push(OP.local_get)
    this.#bytes.unsigned(local)
  }

  set(local: number): void {
    this.#bytes.push(OP.local_set)
    this.#bytes.unsigned(local)
  }

  tee(local: number): void {
    this.#bytes.push(OP.local_tee)
    this.#bytes.unsigned(local)
  }

  i32(value: number): void {
    this.#bytes.push(0x41)
    this.#bytes.signed32(value)
  }

  /** The low 64 bits of a value. */
  i64(value: bigint): void {
    this.#bytes.push(0x42)
    this.#bytes.signed64(BigInt.asIntN(64, value))
  }

  f64(value: number): void {
    floats.setFloat64(0, value, true)
    this.#bytes.push(0x44)
    for (let i = 0; i < 8; i++) this.#bytes.push(floats.getUint8(i))
  }

  /** A load or store at the address on the stack plus `offset`. */
  memory(code: number, offset: number): void {
    this.#bytes.push(code, 0)
    this.#bytes.unsigned(offset)
  }

  /** Opens a block that leaves nothing; branches to it go to its end. */
  block(): void {
    this.#bytes.push(0x02, EMPTY_BLOCK)
  }

  /** Opens a loop that leaves nothing; branches to it go to its start. */
  loop(): void {
    this.#bytes.push(0x03, EMPTY_BLOCK)
  }

  /** Opens a branch that is taken when the i32 on the stack is not 0. `result` is what both branches leave. */
  if(result?: ValueType): void {
    this.#bytes.push(0x04, result ?? EMPTY_BLOCK)
  }

  else(): void {
    this.#bytes.push(0x05)
  }

  end(): void {
    this.#bytes.push(0x0b)
  }

  /** To a block or loop so many levels up. */
  branch(levels: number): void {
    this.#bytes.push(0x0c)
    this.#bytes.unsigned(levels)
  }

  /** To a block or loop so many levels up, when the i32 on the stack is not 0. */
  branchIf(levels: number): void {
    this.#bytes.push(0x0d)
    this.#bytes.unsigned(levels)
  }

  call(index: number): void {
    this.#bytes.push(OP.call)
    this.#bytes.unsigned(index)
  }

  /** Replaces an address by the 16 bytes there plus `offset`, in reverse order. */
  loadReversed(offset: number): void {
    this.#simd(V128_LOAD)
    this.#bytes.push(0)
    this.#bytes.unsigned(offset)
    this.#reverse()
  }

  /** Stores the 16 bytes on the stack, in reverse order, at the address below them plus `offset`. */
  storeReversed(offset: number): void {
    this.#reverse()
    this.storeVector(offset)
  }

  /** Stores the 16 bytes on the stack at the address below them plus `offset`. */
  storeVector(offset: number): void {
    this.#simd(V128_STORE)
    this.#bytes.push(0)
    this.#bytes.unsigned(offset)
  }

  /** Replaces an i64 by 16 bytes that hold it twice. */
  splat(): void {
    this.#simd(I64X2_SPLAT)
  }

  /** Of the 16 bytes on the stack, the low (0) or high (1) i64. */
  extract(lane: 0 | 1): void {
    this.#simd(EXTRACT_LANE_64)
    this.#bytes.push(lane)
  }

  /** Puts the i64 on the stack in the low (0) or high (1) half of the 16 bytes below it. */
  replace(lane: 0 | 1): void {
    this.#simd(REPLACE_LANE_64)
    this.#bytes.push(lane)
  }

  vector(): number {
    return this.local(V128)
  }

  #simd(code: number): void {
    this.#bytes.push(SIMD)
    this.#bytes.unsigned(code)
  }

  #reverse(): void {
    // A shuffle takes two operands; nothing is taken from the second.
    this.#simd(V128_CONST)
    for (let i = 0; i < 16; i++) this.#bytes.push(0)
    this.#simd(SHUFFLE)
    this.#bytes.push(...REVERSED)
  }

  /** Writes the entry of the code section. */
  encodeTo(out: ByteWriter): void {
    const runs: [number, ValueType][] = []
    for (const type of this.#locals) {
      const last = runs.at(-1)
      if (last?.[1] === type) last[0]++
      else runs.push([1, type])
    }
    const locals = new ByteWriter()
    locals.unsigned(runs.length)
    for (const [count, type] of runs) {
      locals.unsigned(count)
      locals.push(type)
    }
    out.unsigned(locals.length + this.#bytes.length + 1)
    out.append(locals.view())
    out.append(this.#bytes.view())
    out.push(0x0b)
  }
}
