/** Stopping, jumping, and the stack itself: 0x00, 0x50, 0x56 to 0x58, 0x5b, 0x5f to 0x9f, 0xf3, 0xfd. */
import { EMPTY } from '../../encoding/bytes.ts'
import type { Frame } from '../frame.ts'
import { inLoop, type Operation, operation } from './operation.ts'

function output(frame: Frame): Uint8Array {
  const from = frame.pop()
  const length = frame.pop()
  const offset = frame.expand(from, length)
  return frame.read(offset, Number(length))
}

const range = (length: number): number[] => Array.from({ length }, (_, i) => i + 1)

export const CONTROL: readonly Operation[] = [
  operation(0x00, 'STOP', 0, 0, 0, (frame) => frame.stop(EMPTY)),
  operation(0x50, 'POP', 2, 1, 0, inLoop),
  operation(0x56, 'JUMP', 8, 1, 0, inLoop),
  operation(0x57, 'JUMPI', 10, 2, 0, inLoop),
  operation(0x58, 'PC', 2, 0, 1, inLoop),
  operation(0x5b, 'JUMPDEST', 1, 0, 0, inLoop),
  operation(0x5f, 'PUSH0', 2, 0, 1, inLoop),
  ...range(32).map((n) => operation(0x5f + n, `PUSH${n}`, 3, 0, 1, inLoop)),
  ...range(16).map((n) => operation(0x7f + n, `DUP${n}`, 3, n, n + 1, inLoop)),
  ...range(16).map((n) => operation(0x8f + n, `SWAP${n}`, 3, n + 1, n + 1, inLoop)),
  operation(0xf3, 'RETURN', 0, 2, 0, (frame) => frame.stop(output(frame))),
  operation(0xfd, 'REVERT', 0, 2, 0, (frame) => {
    frame.stop(output(frame))
    frame.reverted = true
  }),
]
