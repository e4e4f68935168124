/** Opcodes that decide what runs, that check time locks, and that do nothing. */

import { RULE } from './flags.ts'
import type { Handler, Machine } from './machine.ts'
import { demand, ScriptFailure } from './script-failure.ts'
import { isTrue } from './script-number.ts'
import { SEQUENCE } from './signature-checker.ts'

/** Time locks are numbers of up to five bytes, so that they reach the end of 32 unsigned bits. */
const LOCK_BYTES = 5

function isMinimalTruth(bytes: Uint8Array): boolean {
  return bytes.length === 0 || (bytes.length === 1 && bytes[0] === 1)
}

function openBranch(machine: Machine, isNegated: boolean): void {
  if (!machine.isRunning) {
    machine.conditions.push(false)
    return
  }
  const condition = machine.pop()
  if (machine.surroundings.isWitness && machine.has(RULE.MINIMALIF))
    demand(isMinimalTruth(condition), 'MINIMALIF')
  machine.conditions.push(isTrue(condition) !== isNegated)
}

const reserved: Handler = (machine) => {
  demand(!machine.has(RULE.DISCOURAGE_UPGRADABLE_NOPS), 'DISCOURAGE_UPGRADABLE_NOPS')
}

/** The time lock on top, which stays there. */
function lockOf(machine: Machine): bigint {
  const lock = machine.number(machine.peek(), LOCK_BYTES)
  demand(lock >= 0n, 'NEGATIVE_LOCKTIME')
  return lock
}

/** By name without `OP_`. */
export const FLOW_OPERATIONS: Readonly<Record<string, Handler>> = {
  NOP: () => {},
  ...Object.fromEntries([1, 4, 5, 6, 7, 8, 9, 10].map((i) => [`NOP${i}`, reserved])),
  VERIFY: (machine) => machine.verify('VERIFY'),
  RETURN: () => {
    throw new ScriptFailure('OP_RETURN')
  },
  CHECKLOCKTIMEVERIFY: (machine) => {
    if (!machine.has(RULE.CHECKLOCKTIMEVERIFY)) return
    demand(machine.surroundings.checker.hasLockTime(lockOf(machine)), 'UNSATISFIED_LOCKTIME')
  },
  CHECKSEQUENCEVERIFY: (machine) => {
    if (!machine.has(RULE.CHECKSEQUENCEVERIFY)) return
    const lock = lockOf(machine)
    const isDisabled = (lock & BigInt(SEQUENCE.DISABLED)) !== 0n
    demand(isDisabled || machine.surroundings.checker.hasSequence(lock), 'UNSATISFIED_LOCKTIME')
  },
}

/** These run in branches that do not, too. */
export const BRANCH_OPERATIONS: Readonly<Record<string, Handler>> = {
  IF: (machine) => openBranch(machine, false),
  NOTIF: (machine) => openBranch(machine, true),
  ELSE: ({ conditions }) => {
    const last = conditions.pop()
    if (last === undefined) throw new ScriptFailure('UNBALANCED_CONDITIONAL')
    conditions.push(!last)
  },
  ENDIF: ({ conditions }) => demand(conditions.pop() !== undefined, 'UNBALANCED_CONDITIONAL'),
}
