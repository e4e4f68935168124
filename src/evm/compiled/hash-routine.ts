/** SHA3 without leaving compiled code. */
import { FunctionBody, I32, OP } from '../../wasm/function-body.ts'
import { GAS } from '../gas-schedule.ts'
import type { Mark } from './paths.ts'
import { DIGEST_AT, MEMORY_AT, MEMORY_SIZE_AT } from './protocol.ts'
import { leaveIf, pay, pushLacks } from './routine-steps.ts'

/** Bits of offsets and lengths; longer inputs take time that is counted, and memory that is not open costs gas. */
const OFFSET_BITS = 24n
const LONGEST = 512

/**
 * A `RunOpcode`, with the length and the offset below the end of the stack, the digest in their place. `keccak` is the
 * function on memory, `hash` the import that does all the rest.
 */
export function hashBody(keccak: number, hash: number, mark: Mark): FunctionBody {
  return new HashRoutine(keccak, hash, mark).write()
}

class HashRoutine {
  readonly #keccak: number
  readonly #hash: number
  readonly #mark: Mark
  readonly #body = new FunctionBody(3)
  readonly #base = 0
  readonly #end = 1
  readonly #operands = this.#body.local(I32)
  readonly #length = this.#body.local(I32)
  /** The offset, and then the address of the input. */
  readonly #from = this.#body.local(I32)
  readonly #cost = this.#body.local(I32)

  constructor(keccak: number, hash: number, mark: Mark) {
    this.#keccak = keccak
    this.#hash = hash
    this.#mark = mark
  }

  write(): FunctionBody {
    const body = this.#body
    this.#takeOperands()
    this.#pay()
    this.#findInput()
    this.#mark(body, 'SHA3')
    this.#storeDigest()
    body.i32(0)
    return body
  }

  /** Leaves where the input is not in open memory, is empty, or is long. */
  #takeOperands(): void {
    const body = this.#body
    body.get(this.#end)
    body.i32(64)
    body.op(OP.i32_sub)
    body.set(this.#operands)
    for (const [i, lane] of [0, 32].entries()) {
      body.get(this.#operands)
      body.memory(OP.i64_load, lane)
      if (i > 0) body.op(OP.i64_or)
    }
    body.i64(OFFSET_BITS)
    body.op(OP.i64_shr_u)
    for (const lane of [8, 16, 24, 40, 48, 56]) {
      body.get(this.#operands)
      body.memory(OP.i64_load, lane)
      body.op(OP.i64_or)
    }
    body.op(OP.i64_eqz, OP.i32_eqz)
    body.get(this.#operands)
    body.memory(OP.i32_load, 0)
    body.tee(this.#length)
    body.i32(1)
    body.op(OP.i32_sub)
    body.i32(LONGEST)
    body.op(OP.i32_ge_u, OP.i32_or)
    body.get(this.#operands)
    body.memory(OP.i32_load, 32)
    body.tee(this.#from)
    body.get(this.#length)
    body.op(OP.i32_add)
    body.get(this.#base)
    body.memory(OP.i32_load, MEMORY_SIZE_AT)
    body.op(OP.i32_gt_u, OP.i32_or)
    leaveIf(body, this.#hash, 3)
  }

  /** Leaves where the gas does not suffice. */
  #pay(): void {
    const body = this.#body
    body.get(this.#length)
    body.i32(31)
    body.op(OP.i32_add)
    body.i32(5)
    body.op(OP.i32_shr_u)
    body.i32(GAS.keccak256Word)
    body.op(OP.i32_mul)
    body.set(this.#cost)
    pushLacks(body, this.#cost, OP.f64_convert_i32_u)
    leaveIf(body, this.#hash, 3)
    pay(body, this.#cost, OP.f64_convert_i32_u)
  }

  #findInput(): void {
    const body = this.#body
    body.get(this.#from)
    body.get(this.#base)
    body.op(OP.i32_add)
    body.i32(MEMORY_AT)
    body.op(OP.i32_add)
    body.set(this.#from)
  }

  /** Hashes the input; stores the digest as a word, with its lowest lane first, in place of the length and offset. */
  #storeDigest(): void {
    const body = this.#body
    body.get(this.#from)
    body.get(this.#length)
    body.i32(DIGEST_AT)
    body.call(this.#keccak)
    for (const half of [0, 16]) {
      body.get(this.#operands)
      body.i32(0)
      body.loadReversed(DIGEST_AT + 16 - half)
      body.storeVector(half)
    }
  }
}
