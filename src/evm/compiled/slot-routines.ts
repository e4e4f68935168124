/** SLOAD and SSTORE of cells that were used before, without leaving compiled code; see `slot-cache.ts`. */
import { FunctionBody, I32, I64, OP } from '../../wasm/function-body.ts'
import { GAS } from '../gas-schedule.ts'
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
/** Odd factors for the sum of lanes that the table is indexed by: fractions of square roots of primes. */
const MULTIPLIERS = [
  0x6a09e667f3bcc909n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
] as const

/** `(base, address of a slot) → address of its entry`, 0 when there is none; keeps the first of its two places. */
export function findBody(mark: Mark): FunctionBody {
  const body = new FunctionBody(2)
  const slot = 1
  const lanes = body.locals(I64, LANES.length)
  const place = body.local(I32)
  for (const [i, multiplier] of MULTIPLIERS.entries()) {
    body.get(slot)
    body.memory(OP.i64_load, 8 * i)
    body.tee(lanes + i)
    body.i64(multiplier)
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
  returnIfOwn(body, place, lanes, () => mark(body, 'slot: in its first place'))
  body.get(place)
  body.i32(SLOT_BYTES)
  body.op(OP.i32_xor)
  body.set(place)
  returnIfOwn(body, place, lanes, () => mark(body, 'slot: in its second place'))
  body.i32(0)
  return body
}

/** Returns the local `place` if the entry there is of the frame's contract and of the slot in `lanes`. */
function returnIfOwn(body: FunctionBody, place: number, lanes: number, mark: () => void): void {
  const base = 0
  body.get(place)
  body.memory(OP.i64_load, ENTRY_TAG_AT)
  body.get(base)
  body.memory(OP.i64_load, TAG_AT)
  body.op(OP.i64_xor)
  for (const [i, at] of LANES.entries()) {
    body.get(place)
    body.memory(OP.i64_load, ENTRY_SLOT_AT + at)
    body.get(lanes + i)
    body.op(OP.i64_xor, OP.i64_or)
  }
  body.op(OP.i64_eqz)
  body.if()
  mark()
  body.get(place)
  body.op(OP.return)
  body.end()
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
  return new StoreRoutine(find, store, mark).write()
}

class StoreRoutine {
  readonly #find: number
  readonly #store: number
  readonly #mark: Mark
  readonly #body = new FunctionBody(3)
  readonly #base = 0
  readonly #end = 1
  readonly #operands = this.#body.local(I32)
  readonly #entry = this.#body.local(I32)
  readonly #cost = this.#body.local(I32)
  readonly #count = this.#body.local(I32)
  /** The first of the four locals of each word. */
  readonly #oldLanes = this.#body.locals(I64, LANES.length)
  readonly #newLanes = this.#body.locals(I64, LANES.length)

  constructor(find: number, store: number, mark: Mark) {
    this.#find = find
    this.#store = store
    this.#mark = mark
  }

  write(): FunctionBody {
    const body = this.#body
    this.#findEntry()
    this.#takeWords()
    this.#pay()
    for (const i of LANES.keys()) {
      body.get(this.#oldLanes + i)
      body.get(this.#newLanes + i)
      body.op(OP.i64_xor)
      if (i > 0) body.op(OP.i64_or)
    }
    body.op(OP.i64_eqz)
    body.if()
    this.#mark(body, 'SSTORE: of the word that is there')
    body.i32(0)
    body.op(OP.return)
    body.end()
    for (const [i, at] of LANES.entries()) {
      body.get(this.#entry)
      body.get(this.#newLanes + i)
      body.memory(OP.i64_store, ENTRY_VALUE_AT + at)
    }
    this.#noteWrite()
    body.i32(0)
    return body
  }

  /** Leaves in a static frame, and where the cell is not known. */
  #findEntry(): void {
    const body = this.#body
    body.get(this.#base)
    body.memory(OP.i32_load, STATIC_AT)
    leaveIf(body, this.#store, 3)
    body.get(this.#base)
    body.get(this.#end)
    body.i32(64)
    body.op(OP.i32_sub)
    body.tee(this.#operands)
    body.i32(32)
    body.op(OP.i32_add)
    body.call(this.#find)
    body.tee(this.#entry)
    body.op(OP.i32_eqz)
    leaveIf(body, this.#store, 3)
  }

  #takeWords(): void {
    const body = this.#body
    for (const [i, at] of LANES.entries()) {
      body.get(this.#entry)
      body.memory(OP.i64_load, ENTRY_VALUE_AT + at)
      body.set(this.#oldLanes + i)
      body.get(this.#operands)
      body.memory(OP.i64_load, at)
      body.set(this.#newLanes + i)
    }
  }

  /** Leaves where the cell is emptied, which gives gas back, and where the gas does not suffice. */
  #pay(): void {
    const body = this.#body
    this.#pushUnion(this.#oldLanes)
    body.op(OP.i64_eqz, OP.i32_eqz)
    this.#pushUnion(this.#newLanes)
    body.op(OP.i64_eqz, OP.i32_and)
    leaveIf(body, this.#store, 3)
    body.i32(GAS.storageSet)
    body.i32(GAS.storageReset)
    this.#pushUnion(this.#oldLanes)
    body.op(OP.i64_eqz)
    this.#pushUnion(this.#newLanes)
    body.op(OP.i64_eqz, OP.i32_eqz, OP.i32_and, OP.select)
    body.set(this.#cost)
    pushLacks(body, this.#cost, OP.f64_convert_i32_u)
    leaveIf(body, this.#store, 3)
    pay(body, this.#cost, OP.f64_convert_i32_u)
  }

  /** Pushes an i64 that is 0 where the word is. */
  #pushUnion(lanes: number): void {
    for (const i of LANES.keys()) {
      this.#body.get(lanes + i)
      if (i > 0) this.#body.op(OP.i64_or)
    }
  }

  /** Lists the entry among those whose word is not in the state yet. */
  #noteWrite(): void {
    const body = this.#body
    body.get(this.#entry)
    body.memory(OP.i32_load, ENTRY_WRITTEN_AT)
    body.op(OP.i32_eqz)
    body.if()
    this.#mark(body, 'SSTORE: first write of a slot')
    body.get(this.#entry)
    body.i32(1)
    body.memory(OP.i32_store, ENTRY_WRITTEN_AT)
    body.i32(0)
    body.memory(OP.i32_load, WRITES_AT)
    body.tee(this.#count)
    body.i32(4)
    body.op(OP.i32_mul)
    body.get(this.#entry)
    body.memory(OP.i32_store, WRITTEN_AT)
    body.i32(0)
    body.get(this.#count)
    body.i32(1)
    body.op(OP.i32_add)
    body.memory(OP.i32_store, WRITES_AT)
    body.else()
    this.#mark(body, 'SSTORE: later write of a slot')
    body.end()
  }
}
