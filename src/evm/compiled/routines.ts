/** Functions that every module of compiled code has beside its regions: what is too long to write out at each use. */
import { FunctionBody, I32, I64, type ModuleWriter, OP } from '../../encoding/wasm-module.ts'
import { INPUT_ADDRESS_AT, INPUT_LENGTH_AT, MEMORY_SIZE_AT } from './layout.ts'

/** Indexes of functions in a module. */
export interface Routines {
  /** `(base, stack end, opcode) → status`: runs an opcode of the table; not 0 when the frame does not go on. */
  readonly run: number
  /** `(base, stack end) → status`: SLOAD, and SHA3. */
  readonly load: number
  readonly hash: number
  /** `(base, end) → paid`: opens the EVM's memory up to `end`; 0 when the gas does not suffice. */
  readonly expand: number
  /** `(base, offset: 4 × i64, length) → offset`: opens memory; -1 when it cannot be paid. */
  readonly touch: number
  /** `(base, offset: 4 × i64) → address` of 32 bytes of call data, 0 beyond its end. */
  readonly input: number
  /** `(a: 4 × i64, b: 4 × i64) → 4 × i64`: the product. */
  readonly multiply: number
}

const WORD = [I64, I64, I64, I64] as const

/** Imports and writes them. */
export function addRoutines(module: ModuleWriter): Routines {
  const run = module.import('run', { parameters: [I32, I32, I32], results: [I32] })
  const load = module.import('load', { parameters: [I32, I32], results: [I32] })
  const hash = module.import('hash', { parameters: [I32, I32], results: [I32] })
  const expand = module.import('expand', { parameters: [I32, I32], results: [I32] })
  const touch = module.add('touch', { parameters: [I32, ...WORD, I32], results: [I32] }, touchBody(expand))
  const input = module.add('input', { parameters: [I32, ...WORD], results: [I32] }, inputBody())
  const wide = module.add('wide', { parameters: [I64, I64], results: [I64, I64] }, wideBody())
  const multiply = module.add(
    'multiply',
    { parameters: [...WORD, ...WORD], results: WORD },
    multiplyBody(wide),
  )
  return { run, load, hash, expand, touch, input, multiply }
}

/** Bytes of memory beyond which no gas suffices (docs/protocol.md#62-gas-schedule). */
const MEMORY_LIMIT = 2 ** 30

/** Pushes whether the three upper lanes of the word that begins at a local are not all 0. */
function pushHigh(body: FunctionBody, first: number): void {
  body.get(first + 1)
  body.get(first + 2)
  body.op(OP.i64_or)
  body.get(first + 3)
  body.op(OP.i64_or, OP.i64_eqz, OP.i32_eqz)
}

function touchBody(expand: number): FunctionBody {
  const body = new FunctionBody(6)
  const [base, offset, length] = [0, 1, 5]
  pushHigh(body, offset)
  body.get(offset)
  body.i64(BigInt(MEMORY_LIMIT))
  body.op(OP.i64_gt_u, OP.i32_or)
  body.if()
  body.i32(-1)
  body.op(OP.return)
  body.end()
  body.get(offset)
  body.op(OP.i32_wrap_i64)
  body.get(length)
  body.op(OP.i32_add)
  body.get(base)
  body.memory(OP.i32_load, MEMORY_SIZE_AT)
  body.op(OP.i32_gt_u)
  body.if()
  body.get(base)
  body.get(offset)
  body.op(OP.i32_wrap_i64)
  body.get(length)
  body.op(OP.i32_add)
  body.call(expand)
  body.op(OP.i32_eqz)
  body.if()
  body.i32(-1)
  body.op(OP.return)
  body.end()
  body.end()
  body.get(offset)
  body.op(OP.i32_wrap_i64)
  return body
}

function inputBody(): FunctionBody {
  const body = new FunctionBody(5)
  const [base, offset] = [0, 1]
  pushHigh(body, offset)
  body.get(offset)
  body.get(base)
  body.memory(OP.i32_load, INPUT_LENGTH_AT)
  body.op(OP.i64_extend_i32_u, OP.i64_ge_u, OP.i32_or)
  body.if()
  // The 32 zero bytes behind the call data.
  body.get(base)
  body.memory(OP.i32_load, INPUT_ADDRESS_AT)
  body.get(base)
  body.memory(OP.i32_load, INPUT_LENGTH_AT)
  body.op(OP.i32_add, OP.return)
  body.end()
  body.get(base)
  body.memory(OP.i32_load, INPUT_ADDRESS_AT)
  body.get(offset)
  body.op(OP.i32_wrap_i64, OP.i32_add)
  return body
}

/** The product of two lanes in 128 bits, low lane first: WebAssembly multiplies to 64. */
function wideBody(): FunctionBody {
  const body = new FunctionBody(2)
  const [a, b] = [0, 1]
  const LOW = 0xffff_ffffn
  const half = (local: number, high: boolean) => {
    body.get(local)
    body.i64(high ? 32n : LOW)
    body.op(high ? OP.i64_shr_u : OP.i64_and)
  }
  const lowLow = body.local(I64)
  const cross = body.local(I64)
  const carried = body.local(I64)
  half(a, false)
  half(b, false)
  body.op(OP.i64_mul)
  body.set(lowLow)
  // cross = aHigh bLow + (aLow bLow >> 32): fits, as does what follows.
  half(a, true)
  half(b, false)
  body.op(OP.i64_mul)
  half(lowLow, true)
  body.op(OP.i64_add)
  body.set(cross)
  half(a, false)
  half(b, true)
  body.op(OP.i64_mul)
  half(cross, false)
  body.op(OP.i64_add)
  body.set(carried)
  body.get(a)
  body.get(b)
  body.op(OP.i64_mul)
  half(a, true)
  half(b, true)
  body.op(OP.i64_mul)
  half(cross, true)
  body.op(OP.i64_add)
  half(carried, true)
  body.op(OP.i64_add)
  return body
}

function multiplyBody(wide: number): FunctionBody {
  const body = new FunctionBody(8)
  const [a, b] = [0, 4]
  const result = [0, 1, 2, 3].map(() => body.local(I64))
  const [low, high, before] = [body.local(I64), body.local(I64), body.local(I64)]
  // Two operands below 2^32 are by far the most frequent.
  pushHigh(body, a)
  pushHigh(body, b)
  body.op(OP.i32_or)
  body.get(a)
  body.get(b)
  body.op(OP.i64_or)
  body.i64(32n)
  body.op(OP.i64_shr_u, OP.i64_eqz, OP.i32_eqz, OP.i32_or, OP.i32_eqz)
  body.if()
  body.get(a)
  body.get(b)
  body.op(OP.i64_mul)
  for (let i = 0; i < 3; i++) body.i64(0n)
  body.op(OP.return)
  body.end()
  /** Adds the local `value` to lane `at` of the result, and what that carries to the lanes above. */
  const add = (value: number, at: number) => {
    const target = result[at] as number
    body.get(target)
    body.set(before)
    body.get(before)
    body.get(value)
    body.op(OP.i64_add)
    body.set(target)
    if (at === 3) return
    body.get(target)
    body.get(before)
    body.op(OP.i64_lt_u)
    body.if()
    for (let lane = at + 1; lane < 4; lane++) {
      body.get(result[lane] as number)
      body.i64(1n)
      body.op(OP.i64_add)
      body.tee(result[lane] as number)
      if (lane === 3) body.op(0x1a)
      else {
        // No further carry: leave the chain.
        body.op(OP.i64_eqz)
        body.if()
      }
    }
    for (let lane = at + 1; lane < 3; lane++) body.end()
    body.end()
  }
  for (let i = 0; i < 4; i++) {
    for (let j = 0; i + j < 4; j++) {
      body.get(a + i)
      body.get(b + j)
      if (i + j === 3) {
        body.op(OP.i64_mul)
        body.set(low)
      } else {
        body.call(wide)
        body.set(high)
        body.set(low)
      }
      add(low, i + j)
      if (i + j < 3) add(high, i + j + 1)
    }
  }
  for (const lane of result) body.get(lane)
  return body
}
