/** Stopping, jumping, and the stack itself: 0x00, 0x50, 0x56 to 0x58, 0x5b, 0x5f to 0x9f, 0xf3, 0xfd. */
import { EMPTY } from '../../encoding/bytes.ts'
import { isJumpDestination, pushedWord } from '../code-analysis.ts'
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

const range = (length: number): number[] => Array.from({ length }, (_, i) => i + 1)

export const CONTROL: readonly Operation[] = [
  operation(0x00, 'STOP', GAS.zero, 0, 0, (frame) => frame.stop(EMPTY)),
  operation(0x50, 'POP', GAS.base, 1, 0, (frame) => void frame.pop()),
  operation(0x56, 'JUMP', GAS.mid, 1, 0, (frame) => jump(frame, frame.pop())),
  operation(0x57, 'JUMPI', GAS.high, 2, 0, jumpIf),
  operation(0x58, 'PC', GAS.base, 0, 1, (frame) => frame.push(BigInt(frame.pc))),
  operation(0x5b, 'JUMPDEST', GAS.jumpDestination, 0, 0, () => {}),
  operation(0x5f, 'PUSH0', GAS.base, 0, 1, (frame) => frame.push(0n)),
  ...range(32).map((n) => operation(0x5f + n, `PUSH${n}`, GAS.veryLow, 0, 1, (frame) => pushData(frame, n))),
  ...range(16).map((n) =>
    operation(0x7f + n, `DUP${n}`, GAS.veryLow, n, n + 1, (frame) =>
      frame.push(frame.stack[frame.sp - n] as bigint),
    ),
  ),
  ...range(16).map((n) =>
    operation(0x8f + n, `SWAP${n}`, GAS.veryLow, n + 1, n + 1, (frame) => swap(frame, n)),
  ),
  operation(0xf3, 'RETURN', GAS.zero, 2, 0, (frame) => frame.stop(output(frame))),
  operation(0xfd, 'REVERT', GAS.zero, 2, 0, (frame) => {
    frame.stop(output(frame))
    frame.reverted = true
  }),
]
