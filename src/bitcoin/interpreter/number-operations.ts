/** Opcodes on numbers, and comparisons. */
import { equal } from '../../encoding/bytes.ts'
import type { Handler } from './machine.ts'

const one = (operation: (a: bigint) => bigint): Handler => {
  return (machine) => machine.pushNumber(operation(machine.popNumber()))
}

const two = (operation: (a: bigint, b: bigint) => bigint | boolean): Handler => {
  return (machine) => {
    machine.need(2)
    const a = machine.number(machine.peek(2))
    const b = machine.number(machine.peek(1))
    machine.stack.length -= 2
    const result = operation(a, b)
    if (typeof result === 'boolean') machine.pushBoolean(result)
    else machine.pushNumber(result)
  }
}

const isSame: Handler = (machine) => {
  machine.need(2)
  const second = machine.pop()
  machine.pushBoolean(equal(machine.pop(), second))
}

const isSameNumber = two((a, b) => a === b)

/** By name without `OP_`. */
export const NUMBER_OPERATIONS: Readonly<Record<string, Handler>> = {
  EQUAL: isSame,
  EQUALVERIFY: (machine) => {
    isSame(machine)
    machine.verify('EQUALVERIFY')
  },
  '1ADD': one((a) => a + 1n),
  '1SUB': one((a) => a - 1n),
  NEGATE: one((a) => -a),
  ABS: one((a) => (a < 0n ? -a : a)),
  NOT: one((a) => (a === 0n ? 1n : 0n)),
  '0NOTEQUAL': one((a) => (a === 0n ? 0n : 1n)),
  ADD: two((a, b) => a + b),
  SUB: two((a, b) => a - b),
  BOOLAND: two((a, b) => a !== 0n && b !== 0n),
  BOOLOR: two((a, b) => a !== 0n || b !== 0n),
  NUMEQUAL: isSameNumber,
  NUMEQUALVERIFY: (machine) => {
    isSameNumber(machine)
    machine.verify('NUMEQUALVERIFY')
  },
  NUMNOTEQUAL: two((a, b) => a !== b),
  LESSTHAN: two((a, b) => a < b),
  GREATERTHAN: two((a, b) => a > b),
  LESSTHANOREQUAL: two((a, b) => a <= b),
  GREATERTHANOREQUAL: two((a, b) => a >= b),
  MIN: two((a, b) => (a < b ? a : b)),
  MAX: two((a, b) => (a > b ? a : b)),
  WITHIN: (machine) => {
    machine.need(3)
    const value = machine.number(machine.peek(3))
    const least = machine.number(machine.peek(2))
    const above = machine.number(machine.peek(1))
    machine.stack.length -= 3
    machine.pushBoolean(least <= value && value < above)
  },
}
