/** Steps that the routines of compiled code share. */
import { type FunctionBody, OP } from '../../wasm/function-body.ts'
import { GAS_AT } from './protocol.ts'

/** Returns what an import answers to the routine's own parameters, if what is on the stack is not 0. */
export function leaveIf(body: FunctionBody, imported: number, parameters: number): void {
  body.if()
  for (let i = 0; i < parameters; i++) body.get(i)
  body.call(imported)
  body.op(OP.return)
  body.end()
}

/** Pushes whether the frame, whose base is parameter 0, has less gas than the local `cost`; `convert` makes that a float. */
export function pushLacks(body: FunctionBody, cost: number, convert: number): void {
  body.get(0)
  body.memory(OP.f64_load, GAS_AT)
  body.get(cost)
  body.op(convert, OP.f64_lt)
}

/** Takes the local `cost` from the gas of the frame, which has as much. */
export function pay(body: FunctionBody, cost: number, convert: number): void {
  body.get(0)
  body.get(0)
  body.memory(OP.f64_load, GAS_AT)
  body.get(cost)
  body.op(convert, OP.f64_sub)
  body.memory(OP.f64_store, GAS_AT)
}
