/** SLOAD and SSTORE of cells that were used before, without leaving compiled code; see `slot-cache.ts`. */
import { FunctionBody, I32, I64, OP } from '../../wasm/module.ts'
import { GAS } from '../gas-schedule.ts'
import { MULTIPLIERS } from './multipliers.ts'
import type { Mark } from './paths.ts'
import {
  ENTRY_SLOT_AT,
  ENTRY_TAG_AT,
  ENTRY_VALUE_AT,
  ENTRY_WRITTEN_AT,
  PLACE_AT,
  SLOT_BITS,
  SLOT_BYTES,
  SLOTS_AT,
  STATIC_AT,
  TAG_AT,
  WRITES_AT,
  WRITTEN_AT,
} from './protocol.ts'
import { leaveIf, pay, pushLacks } from './routine-steps.ts'

const LANES = [0, 8, 16, 24] as const

/** `(base, address of a slot) → address of its entry`, 0 when there is none; keeps the first of its two places. */
export function findBody(mark: Mark): FunctionBody {
  const body = new FunctionBody(2)
  const [base, slot] = [0, 1]
  const lanes = LANES.map(() => body.local(I64))
  const place = body.local(I32)
  for (const [i, lane] of lanes.entries()) {
    body.get(slot)
    body.memory(OP.i64_load, LANES[i] as number)
    body.tee(lane)
    body.i64(MULTIPLIERS[i] as bigint)
    body.op(OP.i64_mul)
    if (i > 0) body.op(OP.i64_add)
  }
  body.i64(BigInt(64 - SLOT_BITS))
  body.op(OP.i64_shr_u, OP.i32_wrap_i64)
  body.i32(SLOT_BYTES)
  body.op(OP.i32_mul)
  body.i32(SLOTS_AT)
  body.op(OP.i32_add)
  body.set(place)
  body.i32(0)
  body.get(place)
  body.memory(OP.i32_store, PLACE_AT)
  for (const isSecond of [false, true]) {
    if (isSecond) {
      body.get(place)
      body.i32(SLOT_BYTES)
      body.op(OP.i32_xor)
      body.set(place)
    }
    body.get(place)
    body.memory(OP.i64_load, ENTRY_TAG_AT)
    body.get(base)
    body.memory(OP.i64_load, TAG_AT)
    body.op(OP.i64_xor)
    for (const [i, lane] of lanes.entries()) {
      body.get(place)
      body.memory(OP.i64_load, ENTRY_SLOT_AT + (LANES[i] as number))
      body.get(lane)
      body.op(OP.i64_xor, OP.i64_or)
    }
    body.op(OP.i64_eqz)
    body.if()
    mark(body, isSecond ? 'slot: in its second place' : 'slot: in its first place')
    body.get(place)
    body.op(OP.return)
    body.end()
  }
  body.i32(0)
  return body
}

/** A `RunOpcode`; `load` is the import for cells that are not found. */
export function loadBody(find: number, load: number, mark: Mark): FunctionBody {
  const body = new FunctionBody(3)
  const [base, end] = [0, 1]
  const operand = body.local(I32)
  const entry = body.local(I32)
  body.get(base)
  body.get(end)
  body.i32(32)
  body.op(OP.i32_sub)
  body.tee(operand)
  body.call(find)
  body.tee(entry)
  body.op(OP.i32_eqz)
  leaveIf(body, load, 3)
  mark(body, 'SLOAD: known')
  for (const lane of LANES) {
    body.get(operand)
    body.get(entry)
    body.memory(OP.i64_load, ENTRY_VALUE_AT + lane)
    body.memory(OP.i64_store, lane)
  }
  body.i32(0)
  return body
}

/** A `RunOpcode`; `store` is the import for all that is neither found, nor paid, nor without a refund. */
export function storeBody(find: number, store: number, mark: Mark): FunctionBody {
  const body = new FunctionBody(3)
  const [base, end] = [0, 1]
  const local = () => body.local(I32)
  const [operands, entry, cost, count] = [local(), local(), local(), local()]
  const old = LANES.map(() => body.local(I64))
  const value = LANES.map(() => body.local(I64))
  const pushUnion = (lanes: readonly number[]) => {
    for (const [i, lane] of lanes.entries()) {
      body.get(lane)
      if (i > 0) body.op(OP.i64_or)
    }
  }
  body.get(base)
  body.memory(OP.i32_load, STATIC_AT)
  leaveIf(body, store, 3)
  body.get(base)
  body.get(end)
  body.i32(64)
  body.op(OP.i32_sub)
  body.tee(operands)
  body.i32(32)
  body.op(OP.i32_add)
  body.call(find)
  body.tee(entry)
  body.op(OP.i32_eqz)
  leaveIf(body, store, 3)
  for (const i of [0, 1, 2, 3]) {
    body.get(entry)
    body.memory(OP.i64_load, ENTRY_VALUE_AT + 8 * i)
    body.set(old[i] as number)
    body.get(operands)
    body.memory(OP.i64_load, 8 * i)
    body.set(value[i] as number)
  }
  // Emptying a cell gives gas back.
  pushUnion(old)
  body.op(OP.i64_eqz, OP.i32_eqz)
  pushUnion(value)
  body.op(OP.i64_eqz, OP.i32_and)
  leaveIf(body, store, 3)
  body.i32(GAS.storageSet)
  body.i32(GAS.storageReset)
  pushUnion(old)
  body.op(OP.i64_eqz)
  pushUnion(value)
  body.op(OP.i64_eqz, OP.i32_eqz, OP.i32_and, OP.select)
  body.set(cost)
  pushLacks(body, cost, OP.f64_convert_i32_u)
  leaveIf(body, store, 3)
  pay(body, cost, OP.f64_convert_i32_u)
  for (const i of [0, 1, 2, 3]) {
    body.get(old[i] as number)
    body.get(value[i] as number)
    body.op(OP.i64_xor)
    if (i > 0) body.op(OP.i64_or)
  }
  body.op(OP.i64_eqz)
  body.if()
  mark(body, 'SSTORE: of the word that is there')
  body.i32(0)
  body.op(OP.return)
  body.end()
  for (const i of [0, 1, 2, 3]) {
    body.get(entry)
    body.get(value[i] as number)
    body.memory(OP.i64_store, ENTRY_VALUE_AT + 8 * i)
  }
  body.get(entry)
  body.memory(OP.i32_load, ENTRY_WRITTEN_AT)
  body.op(OP.i32_eqz)
  body.if()
  mark(body, 'SSTORE: first write of a slot')
  body.get(entry)
  body.i32(1)
  body.memory(OP.i32_store, ENTRY_WRITTEN_AT)
  body.i32(0)
  body.memory(OP.i32_load, WRITES_AT)
  body.tee(count)
  body.i32(4)
  body.op(OP.i32_mul)
  body.get(entry)
  body.memory(OP.i32_store, WRITTEN_AT)
  body.i32(0)
  body.get(count)
  body.i32(1)
  body.op(OP.i32_add)
  body.memory(OP.i32_store, WRITES_AT)
  body.else()
  mark(body, 'SSTORE: later write of a slot')
  body.end()
  body.i32(0)
  return body
}
