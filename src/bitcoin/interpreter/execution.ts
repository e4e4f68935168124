/** Runs one script on a stack. */

import { RULE } from './flags.ts'
import { BRANCH_OPERATIONS, FLOW_OPERATIONS } from './flow-operations.ts'
import { HASH_OPERATIONS } from './hash-operations.ts'
import { type Handler, Machine, type Surroundings } from './machine.ts'
import { NUMBER_OPERATIONS } from './number-operations.ts'
import {
  FIRST_NAMED,
  isMinimalPush,
  OP_1NEGATE,
  OP_RESERVED,
  type Operation,
  opcode,
  operationAt,
} from './opcodes.ts'
import { demand, ScriptFailure } from './script-failure.ts'
import { STACK_OPERATIONS } from './stack-operations.ts'

/** Bytes of the longest script outside of a witness program of version 0 that runs. */
const MAX_SCRIPT = 10_000
/** Bytes of the longest item that a script pushes. */
export const MAX_ITEM = 520

const HANDLERS: ReadonlyMap<number, Handler> = new Map(
  Object.entries({ ...STACK_OPERATIONS, ...NUMBER_OPERATIONS, ...FLOW_OPERATIONS, ...HASH_OPERATIONS }).map(
    ([name, handler]) => [opcode(name), handler],
  ),
)
const BRANCHES: ReadonlyMap<number, Handler> = new Map(
  Object.entries(BRANCH_OPERATIONS).map(([name, handler]) => [opcode(name), handler]),
)
/** Invalid even where they do not run (CVE-2010-5137 and others). */
const DISABLED: ReadonlySet<number> = new Set(
  [
    ...['CAT', 'SUBSTR', 'LEFT', 'RIGHT', 'INVERT', 'AND', 'OR', 'XOR', '2MUL', '2DIV'],
    ...['MUL', 'DIV', 'MOD', 'LSHIFT', 'RSHIFT'],
  ].map(opcode),
)
/** Invalid where they do not run, too; unlike the disabled ones, not by a failure of their own. */
const NEVER: ReadonlySet<number> = new Set(['VERIF', 'VERNOTIF'].map(opcode))
const SEPARATOR = opcode('CODESEPARATOR')

function runPush(machine: Machine, operation: Operation): void {
  const { opcode: code, data } = operation
  if (code >= OP_1NEGATE) {
    machine.pushNumber(BigInt(code - OP_RESERVED))
    return
  }
  if (machine.has(RULE.MINIMALDATA)) demand(isMinimalPush(operation), 'MINIMALDATA')
  machine.push(data)
}

/** What an opcode that is no push does; `undefined` for one in a branch that does not run. */
function handlerOf(code: number, isRunning: boolean): Handler | undefined {
  const branch = BRANCHES.get(code)
  if (branch !== undefined) return branch
  if (NEVER.has(code)) throw new ScriptFailure('BAD_OPCODE')
  if (!isRunning) return undefined
  const handler = HANDLERS.get(code)
  if (handler === undefined) throw new ScriptFailure('BAD_OPCODE')
  return handler
}

function runOperation(machine: Machine, operation: Operation): void {
  const { opcode: code } = operation
  const { isRunning } = machine
  if (isRunning && code < FIRST_NAMED && code !== OP_RESERVED) runPush(machine, operation)
  else handlerOf(code, isRunning)?.(machine)
}

function step(machine: Machine): void {
  const operation = operationAt(machine.script, machine.next)
  if (operation === undefined) throw new ScriptFailure('BAD_OPCODE')
  const { opcode: code, data, next } = operation
  machine.next = next
  demand(data.length <= MAX_ITEM, 'PUSH_SIZE')
  if (code >= FIRST_NAMED) machine.count(1)
  if (DISABLED.has(code)) throw new ScriptFailure('DISABLED_OPCODE')
  const isConstant = !machine.surroundings.isWitness && machine.has(RULE.CONST_SCRIPTCODE)
  if (code === SEPARATOR && isConstant) throw new ScriptFailure('OP_CODESEPARATOR')
  runOperation(machine, operation)
  machine.checkSize()
}

/** Runs the script and leaves its results on the stack. Throws a `ScriptFailure`. */
export function runScript(script: Uint8Array, stack: Uint8Array[], surroundings: Surroundings): void {
  demand(script.length <= MAX_SCRIPT, 'SCRIPT_SIZE')
  const machine = new Machine(script, stack, surroundings)
  while (machine.next < script.length) step(machine)
  demand(machine.conditions.length === 0, 'UNBALANCED_CONDITIONAL')
}
