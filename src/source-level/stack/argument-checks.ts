/** Checks that the compiler puts in front of calls and arguments, by the opcodes that it emits for them. */
import { type MessageRun, OP } from './message-run.ts'
import type { StackFrame, StackFrameKind } from './stack-frame.ts'

/** Where the check for code at an account begins, counted from the end of the run, whose last opcode is REVERT. */
export const CODE_CHECK_START = -9
/** Its opcodes, by their numbers counted in that way. */
export const CODE_CHECK: ReadonlyMap<number, number> = new Map([
  [CODE_CHECK_START, OP.EXTCODESIZE],
  [-8, OP.ISZERO],
  [-7, OP.DUP1],
  [-6, OP.ISZERO],
  [-1, OP.REVERT],
])

/** Opcodes by their number counted from the end of the run, whose last one is REVERT. */
const CHECKS: readonly { readonly kind: StackFrameKind; readonly opcodes: ReadonlyMap<number, number> }[] = [
  {
    kind: 'invalid-arguments',
    opcodes: new Map([
      [-20, OP.CODESIZE],
      [-15, OP.CODECOPY],
      [-7, OP.LT],
      [-6, OP.ISZERO],
    ]),
  },
  {
    kind: 'invalid-arguments',
    opcodes: new Map([
      [-11, OP.CALLDATASIZE],
      [-7, OP.LT],
      [-6, OP.ISZERO],
    ]),
  },
]

/** Frames whose last one, a revert without data, is named by the check that made it. */
export function adjusted(run: MessageRun, frames: readonly StackFrame[]): StackFrame[] {
  const last = frames.at(-1)
  const isPlain = last?.kind === 'revert' && last.isNearest === undefined && last.output?.length === 0
  if (!isPlain || !run.code.isSince(0, 6, 9)) return [...frames]
  const check = CHECKS.find(({ opcodes }) => run.endsWith(opcodes))
  return check === undefined ? [...frames] : [...frames.slice(0, -1), { kind: check.kind, place: last.place }]
}
