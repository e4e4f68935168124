/** The loop: runs a frame, without a promise, until it ends, wants to call, or the event loop is due its turn. */
import { pushedWord } from './code-analysis.ts'
import { FAILURE, type Frame } from './frame.ts'
import { opcodeTable } from './opcodes/table.ts'
import { MAX_WORD, MODULUS } from './word.ts'

/**
 * Runs on until `frame.status` is no longer `running`; when it still is, the clock wants a pause.
 * Throws the library's EVMError when the code fails and `limit-exceeded` when time is up.
 * What runs most often is here and not in the table: the stack pointer and gas then stay in registers.
 */
export function advance(frame: Frame): void {
  const { clock, rules } = frame.session
  const { fees, needs, room, run } = opcodeTable(rules.name)
  const { code, jumpDestinations, pushes } = frame.analysis
  const { stack } = frame
  const end = code.length
  let position = frame.position
  let height = frame.height
  let gas = frame.gas

  for (;;) {
    const op = position < end ? (code[position] as number) : 0
    const fee = fees[op] as number
    if (fee < 0) frame.failAt(FAILURE.INVALID_OPCODE, position, height, gas)
    if (height < (needs[op] as number)) frame.failAt(FAILURE.STACK_UNDERFLOW, position, height, gas)
    if (height > (room[op] as number)) frame.failAt(FAILURE.STACK_OVERFLOW, position, height, gas)
    gas -= fee
    if (gas < 0) frame.failAt(FAILURE.OUT_OF_GAS, position, height, gas + fee)

    if (op >= 0x60 && op <= 0x9f) {
      if (op <= 0x7f) {
        const size = op - 0x5f
        let word = pushes[position]
        if (word === undefined) {
          word = pushedWord(code, position, size)
          pushes[position] = word
        }
        stack[height++] = word
        position += size
      } else if (op <= 0x8f) {
        stack[height] = stack[height - op + 0x7f] as bigint
        height++
      } else {
        const other = height - op + 0x8e
        const top = stack[height - 1] as bigint
        stack[height - 1] = stack[other] as bigint
        stack[other] = top
      }
      position++
      continue
    }

    switch (op) {
      case 0x01: {
        const sum = (stack[height - 1] as bigint) + (stack[height - 2] as bigint)
        stack[--height - 1] = sum > MAX_WORD ? sum - MODULUS : sum
        break
      }
      case 0x03: {
        const difference = (stack[height - 1] as bigint) - (stack[height - 2] as bigint)
        stack[--height - 1] = difference < 0n ? difference + MODULUS : difference
        break
      }
      case 0x10:
        stack[height - 2] = (stack[height - 1] as bigint) < (stack[height - 2] as bigint) ? 1n : 0n
        height--
        break
      case 0x11:
        stack[height - 2] = (stack[height - 1] as bigint) > (stack[height - 2] as bigint) ? 1n : 0n
        height--
        break
      case 0x14:
        stack[height - 2] = stack[height - 1] === stack[height - 2] ? 1n : 0n
        height--
        break
      case 0x15:
        stack[height - 1] = stack[height - 1] === 0n ? 1n : 0n
        break
      case 0x16:
        stack[height - 2] = (stack[height - 1] as bigint) & (stack[height - 2] as bigint)
        height--
        break
      case 0x50:
        height--
        break
      case 0x56:
      case 0x57: {
        const target = stack[--height] as bigint
        if (op === 0x57 && stack[--height] === 0n) break
        // Far targets lose precision as numbers, but stay beyond the code.
        const destination = Number(target)
        if (jumpDestinations[destination] !== 1) frame.failAt(FAILURE.INVALID_JUMP, position, height, gas)
        position = destination
        if (--clock.ticks > 0 || !clock.mustPause()) continue
        frame.position = position
        frame.height = height
        frame.gas = gas
        return
      }
      case 0x58:
        stack[height++] = BigInt(position)
        break
      case 0x5b:
        break
      case 0x5f:
        stack[height++] = 0n
        break
      default: {
        frame.position = position
        frame.height = height
        frame.gas = gas
        ;(run[op] as (frame: Frame) => void)(frame)
        height = frame.height
        gas = frame.gas
        if (frame.status !== 'running') {
          frame.position = position + 1
          return
        }
      }
    }
    position++
  }
}
