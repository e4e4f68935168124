/** Runs a frame, without a promise, until it ends, requests a call, or a pause for the event loop is due. */
import { isJumpDestination, opcodeAt, pushedWord } from './code-analysis.ts'
import { FAILURE } from './failure.ts'
import type { Frame } from './frame.ts'
import type { OpcodeTable } from './opcodes/operation.ts'
import { MAX_WORD, MODULUS } from './word.ts'

/** Bytes of code without a jump after which the clock counts, and the jumps that they take as long as. */
const LINE_BYTES = 256
const TICKS_PER_LINE = 8

/** An opcode that runs from the table takes as long as this part of a jump, at least. */
export const TICKS_PER_RUN = 0.25

/**
 * Runs until `frame.status` is no longer `running`, or the clock requires a pause.
 * A jump to where `hotAfter` jumps went before also ends it, with the status `hot`.
 * Throws `EvmFailure` when the code fails and `limit-exceeded` when time is up.
 * One function with a case for each of the commonest opcodes, which their records name: pc, stack pointer and gas then stay
 * in registers. Without the cases the loops of `npm run bench:micro -- --only evm`, interpreted, take 1.1 to 1.4 times as
 * long (Node 20).
 */
export function advance(frame: Frame, table: OpcodeTable, hotAfter: number): void {
  const { clock } = frame.session
  const { code, counts, jumpDestinations, pushes } = frame.analysis
  const { stack } = frame
  const { length } = code
  let pc = frame.pc
  /** Where a line ends that is looked at no sooner: the code, or so many bytes of it. */
  let end = Math.min(length, pc + LINE_BYTES)
  let sp = frame.sp
  let gas = frame.gas

  for (;;) {
    if (pc >= end && pc < length) {
      end = Math.min(length, pc + LINE_BYTES)
      clock.ticks -= TICKS_PER_LINE
      if (clock.ticks <= 0 && clock.mustPause()) {
        frame.put(pc, sp, gas)
        return
      }
    }
    const op = opcodeAt(code, pc)
    const row = table[op]
    if (row === undefined) frame.failAt(FAILURE.INVALID_OPCODE, pc, sp, gas)
    if (sp < row.pops) frame.failAt(FAILURE.STACK_UNDERFLOW, pc, sp, gas)
    if (sp > row.room) frame.failAt(FAILURE.STACK_OVERFLOW, pc, sp, gas)
    if (gas < row.fee) frame.failAt(FAILURE.OUT_OF_GAS, pc, sp, gas)
    gas -= row.fee

    const { loopCase } = row
    if (loopCase >= 0x60 && loopCase <= 0x9f) {
      if (op <= 0x7f) {
        const size = op - 0x5f
        let word = pushes[pc]
        if (word === undefined) {
          word = pushedWord(code, pc, size)
          pushes[pc] = word
        }
        stack[sp++] = word
        pc += size
      } else if (op <= 0x8f) {
        stack[sp] = stack[sp - op + 0x7f] as bigint
        sp++
      } else {
        const other = sp - op + 0x8e
        const top = stack[sp - 1] as bigint
        stack[sp - 1] = stack[other] as bigint
        stack[other] = top
      }
      pc++
      continue
    }

    switch (loopCase) {
      case 0x01: {
        const sum = (stack[sp - 1] as bigint) + (stack[sp - 2] as bigint)
        stack[--sp - 1] = sum > MAX_WORD ? sum - MODULUS : sum
        break
      }
      case 0x03: {
        const difference = (stack[sp - 1] as bigint) - (stack[sp - 2] as bigint)
        stack[--sp - 1] = difference < 0n ? difference + MODULUS : difference
        break
      }
      case 0x10:
        stack[sp - 2] = (stack[sp - 1] as bigint) < (stack[sp - 2] as bigint) ? 1n : 0n
        sp--
        break
      case 0x11:
        stack[sp - 2] = (stack[sp - 1] as bigint) > (stack[sp - 2] as bigint) ? 1n : 0n
        sp--
        break
      case 0x14:
        stack[sp - 2] = stack[sp - 1] === stack[sp - 2] ? 1n : 0n
        sp--
        break
      case 0x15:
        stack[sp - 1] = stack[sp - 1] === 0n ? 1n : 0n
        break
      case 0x16:
        stack[sp - 2] = (stack[sp - 1] as bigint) & (stack[sp - 2] as bigint)
        sp--
        break
      case 0x50:
        sp--
        break
      case 0x56:
      case 0x57: {
        const target = stack[--sp] as bigint
        if (op === 0x57 && stack[--sp] === 0n) {
          counts[pc + 1] = (counts[pc + 1] ?? 0) + 1
          break
        }
        // Far targets lose precision as numbers, but stay beyond the code.
        const destination = Number(target)
        if (jumpDestinations[destination] !== 1 && !isJumpDestination(frame.analysis, destination)) {
          frame.failAt(FAILURE.INVALID_JUMP, pc, sp, gas)
        }
        pc = destination
        end = Math.min(length, pc + LINE_BYTES)
        const count = (counts[destination] ?? 0) + 1
        counts[destination] = count
        if (count >= hotAfter) frame.status = 'hot'
        else if (--clock.ticks > 0 || !clock.mustPause()) continue
        frame.put(pc, sp, gas)
        return
      }
      case 0x58:
        stack[sp++] = BigInt(pc)
        break
      case 0x5b:
        break
      case 0x5f:
        stack[sp++] = 0n
        break
      default: {
        frame.put(pc, sp, gas)
        clock.ticks -= TICKS_PER_RUN
        row.run(frame)
        pc = frame.pc
        sp = frame.sp
        gas = frame.gas
        if (frame.status !== 'running') {
          frame.pc = pc + 1
          return
        }
      }
    }
    pc++
  }
}
