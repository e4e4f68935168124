/** Opcodes that move items of the stack. */
import type { Handler, Machine } from './machine.ts'
import { demand, ScriptFailure } from './script-failure.ts'
import { isTrue } from './script-number.ts'

function itemAtNumber(machine: Machine, isMoved: boolean): void {
  machine.need(2)
  const depth = machine.popNumber()
  demand(depth >= 0n && depth < BigInt(machine.stack.length), 'INVALID_STACK_OPERATION')
  const place = Number(depth) + 1
  machine.push(isMoved ? machine.remove(place) : machine.peek(place))
}

/** Copies so many items that lie so far below the top onto it. */
const copy = (items: number, depth: number): Handler => {
  return (machine) => {
    machine.need(depth)
    const { stack } = machine
    const start = stack.length - depth
    machine.push(...stack.slice(start, start + items))
  }
}

/** Moves so many items that lie so far below the top onto it. */
const raise = (items: number, depth: number): Handler => {
  return (machine) => {
    machine.need(depth)
    machine.push(...machine.stack.splice(machine.stack.length - depth, items))
  }
}

const drop = (items: number): Handler => {
  return (machine) => {
    machine.need(items)
    machine.stack.length -= items
  }
}

/** By name without `OP_`. */
export const STACK_OPERATIONS: Readonly<Record<string, Handler>> = {
  TOALTSTACK: (machine) => machine.alternate.push(machine.pop()),
  FROMALTSTACK: (machine) => {
    const item = machine.alternate.pop()
    if (item === undefined) throw new ScriptFailure('INVALID_ALTSTACK_OPERATION')
    machine.push(item)
  },
  DROP: drop(1),
  '2DROP': drop(2),
  DUP: copy(1, 1),
  '2DUP': copy(2, 2),
  '3DUP': copy(3, 3),
  OVER: copy(1, 2),
  '2OVER': copy(2, 4),
  SWAP: raise(1, 2),
  ROT: raise(1, 3),
  '2SWAP': raise(2, 4),
  '2ROT': raise(2, 6),
  IFDUP: (machine) => {
    const item = machine.peek()
    if (isTrue(item)) machine.push(item)
  },
  DEPTH: (machine) => machine.pushNumber(BigInt(machine.stack.length)),
  NIP: (machine) => {
    machine.need(2)
    machine.remove(2)
  },
  TUCK: (machine) => {
    machine.need(2)
    machine.stack.splice(machine.stack.length - 2, 0, machine.peek())
  },
  PICK: (machine) => itemAtNumber(machine, false),
  ROLL: (machine) => itemAtNumber(machine, true),
  SIZE: (machine) => machine.pushNumber(BigInt(machine.peek().length)),
}
