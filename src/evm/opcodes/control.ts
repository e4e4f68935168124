/** Stopping, jumping, and the stack itself: 0x00, 0x50, 0x56 to 0x58, 0x5b, 0x5f to 0x9f, 0xf3, 0xfd. */
import { EMPTY } from '../../encoding/bytes.ts'
import { isJumpDestination, JUMPDEST, PUSH0, pushedWord } from '../code-analysis.ts'
import { ENDING, written } from '../compiled/form.ts'
import { ofCode, pushed } from '../compiled/inline.ts'
import { FAILURE, fail } from '../failure.ts'
import type { Frame } from '../frame.ts'
import { GAS } from '../gas-schedule.ts'
import { type Operation, operation } from './operation.ts'

function output(frame: Frame): Uint8Array {
  const from = frame.pop()
  const length = frame.pop()
  const offset = frame.expand(from, length)
  return frame.read(offset, Number(length))
}

/** Goes to the opcode before the target: whoever runs this moves on by one. */
function jump(frame: Frame, target: bigint): void {
  const destination = Number(target)
  if (!isJumpDestination(frame.analysis, destination)) fail(FAILURE.INVALID_JUMP)
  frame.pc = destination - 1
}

function jumpIf(frame: Frame): void {
  const target = frame.pop()
  if (frame.pop() !== 0n) jump(frame, target)
}

function pushData(frame: Frame, size: number): void {
  const { pc, analysis } = frame
  let word = analysis.pushes[pc]
  if (word === undefined) {
    word = pushedWord(analysis.code, pc, size)
    analysis.pushes[pc] = word
  }
  frame.push(word)
  frame.pc = pc + size
}

function swap({ stack, sp }: Frame, depth: number): void {
  const top = stack[sp - 1] as bigint
  stack[sp - 1] = stack[sp - 1 - depth] as bigint
  stack[sp - 1 - depth] = top
}

function revert(frame: Frame): void {
  frame.stop(output(frame))
  frame.reverted = true
}

const IN_LOOP = { isInLoop: true } as const

/** PUSH1 to PUSH32. */
function pusher(size: number): Operation {
  const run = (frame: Frame) => pushData(frame, size)
  const traits = { ...IN_LOOP, compiled: pushed(size) }
  return operation(PUSH0 + size, `PUSH${size}`, GAS.veryLow, 0, 1, run, traits)
}

function duplicator(depth: number): Operation {
  const run = (frame: Frame) => frame.push(frame.stack[frame.sp - depth] as bigint)
  const compiled = written((writer) => writer.push(writer.peek(depth - 1)))
  return operation(0x7f + depth, `DUP${depth}`, GAS.veryLow, depth, depth + 1, run, { ...IN_LOOP, compiled })
}

function swapper(depth: number): Operation {
  const run = (frame: Frame) => swap(frame, depth)
  const compiled = written((writer) => writer.swap(depth))
  const words = depth + 1
  return operation(0x8f + depth, `SWAP${depth}`, GAS.veryLow, words, words, run, { ...IN_LOOP, compiled })
}

const range = (length: number): number[] => Array.from({ length }, (_, i) => i + 1)

export const REVERT = operation(0xfd, 'REVERT', GAS.zero, 2, 0, revert, {
  compiled: { flow: 'end', routine: 'finish' },
})

export const JUMP = operation(0x56, 'JUMP', GAS.mid, 1, 0, (frame) => jump(frame, frame.pop()), {
  ...IN_LOOP,
  compiled: { flow: 'jump', routine: 'run' },
})

export const CONTROL: readonly Operation[] = [
  operation(0x00, 'STOP', GAS.zero, 0, 0, (frame) => frame.stop(EMPTY), { compiled: ENDING }),
  operation(0x50, 'POP', GAS.base, 1, 0, (frame) => void frame.pop(), {
    ...IN_LOOP,
    compiled: written((writer) => writer.drop(1)),
  }),
  JUMP,
  operation(0x57, 'JUMPI', GAS.high, 2, 0, jumpIf, {
    ...IN_LOOP,
    compiled: { flow: 'jump-if', routine: 'run' },
  }),
  operation(0x58, 'PC', GAS.base, 0, 1, (frame) => frame.push(BigInt(frame.pc)), {
    ...IN_LOOP,
    compiled: ofCode((_code, pc) => BigInt(pc)),
  }),
  operation(JUMPDEST, 'JUMPDEST', GAS.jumpDestination, 0, 0, () => {}, {
    ...IN_LOOP,
    compiled: written(() => {}),
  }),
  operation(PUSH0, 'PUSH0', GAS.base, 0, 1, (frame) => frame.push(0n), {
    ...IN_LOOP,
    since: 'rskip398',
    compiled: ofCode(() => 0n),
  }),
  ...range(32).map(pusher),
  ...range(16).map(duplicator),
  ...range(16).map(swapper),
  operation(0xf3, 'RETURN', GAS.zero, 2, 0, (frame) => frame.stop(output(frame)), {
    compiled: { flow: 'end', routine: 'finish' },
  }),
  REVERT,
]
