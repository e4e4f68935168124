/** Multiplication of words in compiled code. */
import { FunctionBody, I64, OP } from '../../wasm/function-body.ts'
import { pushHigh } from './lanes.ts'
import type { Mark } from './paths.ts'

/** The product of two lanes in 128 bits, low lane first: WebAssembly multiplies to 64. */
export function wideBody(): FunctionBody {
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

/** The product of two words; `wide` is the function of two lanes. */
export function multiplyBody(wide: number, mark: Mark): FunctionBody {
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
  mark(body, 'MUL: of 32 bits')
  body.get(a)
  body.get(b)
  body.op(OP.i64_mul)
  for (let i = 0; i < 3; i++) body.i64(0n)
  body.op(OP.return)
  body.end()
  mark(body, 'MUL: of any')
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
      addTo(body, result.slice(i + j), low, before)
      if (i + j < 3) addTo(body, result.slice(i + j + 1), high, before)
    }
  }
  for (const lane of result) body.get(lane)
  return body
}

/** Adds the local `value` to the first of these lanes, and what that carries to those above it; `before` is for its use. */
function addTo(body: FunctionBody, lanes: readonly number[], value: number, before: number): void {
  const [target = 0, ...above] = lanes
  body.get(target)
  body.set(before)
  body.get(before)
  body.get(value)
  body.op(OP.i64_add)
  body.set(target)
  if (above.length === 0) return
  body.get(target)
  body.get(before)
  body.op(OP.i64_lt_u)
  body.if()
  for (const [i, lane] of above.entries()) {
    body.get(lane)
    body.i64(1n)
    body.op(OP.i64_add)
    body.tee(lane)
    if (i === above.length - 1) body.op(OP.drop)
    else {
      // No further carry: leave the chain.
      body.op(OP.i64_eqz)
      body.if()
    }
  }
  for (let i = 1; i < above.length; i++) body.end()
  body.end()
}
