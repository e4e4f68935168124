/**
 * SHA3 without leaving compiled code. Digests of 64 bytes are kept: Solidity hashes a key and a slot at each access to a
 * mapping, and contracts access the same entries again and again.
 */
import { FunctionBody, I32, I64, OP } from '../../wasm/module.ts'
import { GAS } from '../gas-schedule.ts'
import { MULTIPLIERS } from './multipliers.ts'
import type { Mark } from './paths.ts'
import { DIGEST_AT, HASH_BITS, HASH_BYTES, HASHES_AT, MEMORY_AT, MEMORY_SIZE_AT } from './protocol.ts'
import { leaveIf, pay, pushLacks } from './routine-steps.ts'

/** Bytes of a key and a slot. */
const PAIR = 64
/** Bits of offsets and lengths; longer inputs take time that is counted, and memory that is not open costs gas. */
const OFFSET_BITS = 24n
const LONGEST = 512

/**
 * A `RunOpcode`, with the length and the offset below the end of the stack, the digest in their place.
 * `keccak` is the function on memory, `hash` the import that does all the rest.
 */
export function hashBody(keccak: number, hash: number, mark: Mark): FunctionBody {
  const body = new FunctionBody(3)
  const [base, end] = [0, 1]
  const local = () => body.local(I32)
  const [operands, length, from, cost, entry] = [local(), local(), local(), local(), local()]
  const mixed = body.local(I64)
  body.get(end)
  body.i32(64)
  body.op(OP.i32_sub)
  body.set(operands)
  for (const [i, lane] of [0, 32].entries()) {
    body.get(operands)
    body.memory(OP.i64_load, lane)
    if (i > 0) body.op(OP.i64_or)
  }
  body.i64(OFFSET_BITS)
  body.op(OP.i64_shr_u)
  for (const lane of [8, 16, 24, 40, 48, 56]) {
    body.get(operands)
    body.memory(OP.i64_load, lane)
    body.op(OP.i64_or)
  }
  body.op(OP.i64_eqz, OP.i32_eqz)
  body.get(operands)
  body.memory(OP.i32_load, 0)
  body.tee(length)
  body.i32(1)
  body.op(OP.i32_sub)
  body.i32(LONGEST)
  body.op(OP.i32_ge_u, OP.i32_or)
  body.get(operands)
  body.memory(OP.i32_load, 32)
  body.tee(from)
  body.get(length)
  body.op(OP.i32_add)
  body.get(base)
  body.memory(OP.i32_load, MEMORY_SIZE_AT)
  body.op(OP.i32_gt_u, OP.i32_or)
  leaveIf(body, hash, 3)
  body.get(length)
  body.i32(31)
  body.op(OP.i32_add)
  body.i32(5)
  body.op(OP.i32_shr_u)
  body.i32(GAS.keccak256Word)
  body.op(OP.i32_mul)
  body.set(cost)
  pushLacks(body, cost, OP.f64_convert_i32_u)
  leaveIf(body, hash, 3)
  pay(body, cost, OP.f64_convert_i32_u)
  body.get(from)
  body.get(base)
  body.op(OP.i32_add)
  body.i32(MEMORY_AT)
  body.op(OP.i32_add)
  body.set(from)
  /** The digest as a word, with its lowest lane first. */
  const storeDigest = (at: number, offset: number) => {
    for (const half of [0, 16]) {
      body.get(at)
      body.i32(0)
      body.loadReversed(DIGEST_AT + 16 - half)
      body.storeVector(offset + half)
    }
  }
  body.get(length)
  body.i32(PAIR)
  body.op(OP.i32_xor)
  body.if()
  mark(body, 'SHA3: of any length')
  body.get(from)
  body.get(length)
  body.i32(DIGEST_AT)
  body.call(keccak)
  storeDigest(operands, 0)
  body.i32(0)
  body.op(OP.return)
  body.end()
  for (let i = 0; i < PAIR; i += 8) {
    body.get(from)
    body.memory(OP.i64_load, i)
    body.i64(MULTIPLIERS[i >> 3] as bigint)
    body.op(OP.i64_mul)
    if (i > 0) body.op(OP.i64_add)
  }
  body.tee(mixed)
  body.get(mixed)
  body.i64(32n)
  body.op(OP.i64_shr_u, OP.i64_xor)
  body.i64(MULTIPLIERS[0] as bigint)
  body.op(OP.i64_mul)
  body.i64(BigInt(64 - HASH_BITS))
  body.op(OP.i64_shr_u, OP.i32_wrap_i64)
  body.i32(HASH_BYTES)
  body.op(OP.i32_mul)
  body.i32(HASHES_AT)
  body.op(OP.i32_add)
  body.set(entry)
  for (let i = 0; i < PAIR; i += 8) {
    body.get(from)
    body.memory(OP.i64_load, i)
    body.get(entry)
    body.memory(OP.i64_load, i)
    body.op(OP.i64_xor)
    if (i > 0) body.op(OP.i64_or)
  }
  body.op(OP.i64_eqz, OP.i32_eqz)
  // An entry that is not in use holds zeros, as 64 zero bytes would; no digest ends in zeros that is worth keeping.
  body.get(entry)
  body.memory(OP.i64_load, PAIR)
  body.op(OP.i64_eqz, OP.i32_or)
  body.if()
  mark(body, 'SHA3: of a pair that is new')
  for (let i = 0; i < PAIR; i += 8) {
    body.get(entry)
    body.get(from)
    body.memory(OP.i64_load, i)
    body.memory(OP.i64_store, i)
  }
  body.get(from)
  body.i32(PAIR)
  body.i32(DIGEST_AT)
  body.call(keccak)
  storeDigest(entry, PAIR)
  body.else()
  mark(body, 'SHA3: of a pair that is known')
  body.end()
  for (let i = 0; i < 32; i += 8) {
    body.get(operands)
    body.get(entry)
    body.memory(OP.i64_load, PAIR + i)
    body.memory(OP.i64_store, i)
  }
  body.i32(0)
  return body
}
