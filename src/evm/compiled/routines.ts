/** Functions that every module of compiled code has beside its regions: what is too long to write out at each use. */
import { FunctionBody, I32, I64, OP } from '../../wasm/function-body.ts'
import type { ModuleWriter } from '../../wasm/module.ts'
import { GAS, MEMORY_LIMIT, MEMORY_QUADRATIC_BITS } from '../gas-schedule.ts'
import { hashBody } from './hash-routine.ts'
import { pushHigh } from './lanes.ts'
import { multiplyBody, wideBody } from './multiply-routine.ts'
import { type Mark, marksIn, type PathCounter } from './paths.ts'
import {
  HOST_SIGNATURES,
  type HostImports,
  INPUT_ADDRESS_AT,
  INPUT_LENGTH_AT,
  MEMORY_AT,
  MEMORY_SIZE_AT,
  type OpcodeRoutine,
  ROOM_AT,
  RUN_OPCODE,
} from './protocol.ts'
import { leaveIf, pay, pushLacks } from './routine-steps.ts'
import { findBody, loadBody, storeBody } from './slot-routines.ts'

/** Indexes of functions in a module: those that run an opcode as `RunOpcode` of the protocol does, and others. */
export interface Routines extends Readonly<Record<OpcodeRoutine, number>> {
  /** `(base, end) → paid`: opens the EVM's memory up to `end`, which is within the limit; 0 when the gas does not suffice. */
  readonly expand: number
  /** `(base, offset: 4 × i64, length) → offset`: opens memory; -1 beyond the limit, or when it cannot be paid. */
  readonly touch: number
  /** `(base, offset: 4 × i64) → address` of 32 bytes of call data, 0 beyond its end. */
  readonly input: number
  /** `(a: 4 × i64, b: 4 × i64) → 4 × i64`: the product. */
  readonly multiply: number
  readonly mark: Mark
}

const WORD = [I64, I64, I64, I64] as const

/** Imports and writes them; `paths` counts the ways through all code of the module. */
export function addRoutines(module: ModuleWriter, paths: PathCounter | undefined): Routines {
  const host = (name: keyof HostImports) => module.import(name, HOST_SIGNATURES[name])
  const [run, call, finish] = [host('run'), host('call'), host('finish')]
  const [loadOutside, storeOutside, hashOutside] = [host('load'), host('store'), host('hash')]
  const [keccak, expandOutside] = [host('keccak'), host('expand')]
  const pair = { parameters: [I32, I32], results: [I32] } as const
  const mark = marksIn(module, paths)
  const expand = module.add('expand', pair, expandBody(expandOutside, mark))
  const find = module.add('find', pair, findBody(mark))
  const load = module.add('load', RUN_OPCODE, loadBody(find, loadOutside, mark))
  const store = module.add('store', RUN_OPCODE, storeBody(find, storeOutside, mark))
  const hash = module.add('hash', RUN_OPCODE, hashBody(keccak, hashOutside, mark))
  const touch = module.add(
    'touch',
    { parameters: [I32, ...WORD, I32], results: [I32] },
    touchBody(expand, mark),
  )
  const input = module.add('input', { parameters: [I32, ...WORD], results: [I32] }, inputBody(mark))
  const wide = module.add('wide', { parameters: [I64, I64], results: [I64, I64] }, wideBody())
  const multiply = module.add(
    'multiply',
    { parameters: [...WORD, ...WORD], results: WORD },
    multiplyBody(wide, mark),
  )
  return { run, load, store, hash, call, finish, expand, touch, input, multiply, mark }
}

/** Opens memory that there is room for; `expand` is the import for any other. */
function expandBody(expand: number, mark: Mark): FunctionBody {
  const body = new FunctionBody(2)
  const [base, end] = [0, 1]
  const [after, before] = [body.local(I32), body.local(I32)]
  const cost = body.local(I64)
  body.get(end)
  body.get(base)
  body.memory(OP.i32_load, ROOM_AT)
  body.op(OP.i32_gt_u)
  leaveIf(body, expand, 2)
  body.get(end)
  body.i32(31)
  body.op(OP.i32_add)
  body.i32(5)
  body.op(OP.i32_shr_u)
  body.set(after)
  body.get(base)
  body.memory(OP.i32_load, MEMORY_SIZE_AT)
  body.i32(5)
  body.op(OP.i32_shr_u)
  body.set(before)
  pushMemoryGas(body, after)
  pushMemoryGas(body, before)
  body.op(OP.i64_sub)
  body.set(cost)
  pushLacks(body, cost, OP.f64_convert_i64_u)
  body.if()
  mark(body, 'memory: not paid')
  body.i32(0)
  body.op(OP.return)
  body.end()
  mark(body, 'memory: opened')
  pay(body, cost, OP.f64_convert_i64_u)
  clearWords(body, before, after)
  body.get(base)
  body.get(after)
  body.i32(32)
  body.op(OP.i32_mul)
  body.memory(OP.i32_store, MEMORY_SIZE_AT)
  body.i32(1)
  return body
}

/** Pushes the `memoryGas` of the number of words in a local. */
function pushMemoryGas(body: FunctionBody, words: number): void {
  body.get(words)
  body.op(OP.i64_extend_i32_u)
  body.i64(BigInt(GAS.memoryWord))
  body.op(OP.i64_mul)
  body.get(words)
  body.op(OP.i64_extend_i32_u)
  body.get(words)
  body.op(OP.i64_extend_i32_u, OP.i64_mul)
  body.i64(BigInt(MEMORY_QUADRATIC_BITS))
  body.op(OP.i64_shr_u, OP.i64_add)
}

/** Clears the words of memory from the local `from`, which is counted up, to the local `to`: other frames were there. */
function clearWords(body: FunctionBody, from: number, to: number): void {
  const base = 0
  body.loop()
  for (let i = 0; i < 32; i += 8) {
    body.get(from)
    body.i32(32)
    body.op(OP.i32_mul)
    body.get(base)
    body.op(OP.i32_add)
    body.i64(0n)
    body.memory(OP.i64_store, MEMORY_AT + i)
  }
  body.get(from)
  body.i32(1)
  body.op(OP.i32_add)
  body.tee(from)
  body.get(to)
  body.op(OP.i32_lt_u)
  body.branchIf(0)
  body.end()
}

function touchBody(expand: number, mark: Mark): FunctionBody {
  const body = new FunctionBody(6)
  const [base, offset, length] = [0, 1, 5]
  pushHigh(body, offset)
  body.get(offset)
  body.i64(BigInt(MEMORY_LIMIT))
  body.get(length)
  body.op(OP.i64_extend_i32_u, OP.i64_sub, OP.i64_gt_u, OP.i32_or)
  body.if()
  mark(body, 'memory: beyond the limit')
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

function inputBody(mark: Mark): FunctionBody {
  const body = new FunctionBody(5)
  const [base, offset] = [0, 1]
  pushHigh(body, offset)
  body.get(offset)
  body.get(base)
  body.memory(OP.i32_load, INPUT_LENGTH_AT)
  body.op(OP.i64_extend_i32_u, OP.i64_ge_u, OP.i32_or)
  body.if()
  mark(body, 'CALLDATALOAD: beyond the end')
  // The 32 zero bytes behind the call data.
  body.get(base)
  body.memory(OP.i32_load, INPUT_ADDRESS_AT)
  body.get(base)
  body.memory(OP.i32_load, INPUT_LENGTH_AT)
  body.op(OP.i32_add, OP.return)
  body.end()
  mark(body, 'CALLDATALOAD: within')
  body.get(base)
  body.memory(OP.i32_load, INPUT_ADDRESS_AT)
  body.get(offset)
  body.op(OP.i32_wrap_i64, OP.i32_add)
  return body
}
