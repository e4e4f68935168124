/** DUPN, SWAPN and TXINDEX, which RSKIP-191 removed (docs/internals/protocol.md#75-activation). */
import { opcodeAt, sizeOf } from '../evm/code-analysis.ts'
import { FAILURE } from '../evm/failure.ts'
import { GAS } from '../evm/gas-schedule.ts'
import { fail, type Opcode, type RunState, runOf } from './run-state.ts'

/** Is there an opcode at this place, and no byte that a push from an earlier one takes? */
function isInstruction(code: Uint8Array, pc: number): boolean {
  let at = 0
  while (at < pc) {
    at += sizeOf(opcodeAt(code, at))
  }
  return at === pc
}

/**
 * Skips the byte after the opcode. Where execution then continues within the data of a push, which the library does not
 * expect, opcodes run from here until they reach one that it knows.
 */
async function passByte(runState: RunState): Promise<void> {
  const { interpreter, code } = runState
  runState.programCounter++
  while (runState.programCounter < code.length && !isInstruction(code, runState.programCounter)) {
    const opcode = opcodeAt(code, runState.programCounter)
    const pushed = sizeOf(opcode) - 1
    if (pushed > 0) {
      const at = runState.programCounter + 1
      const bytes = code.subarray(at, at + pushed)
      const word = BigInt(`0x0${Buffer.from(bytes).toString('hex')}`)
      runState.cachedPushes[at] = word << BigInt(8 * (pushed - bytes.length))
    }
    runState.opCode = opcode
    await interpreter.runStep()
  }
}

/** Pops the index of a word and adds `more`; fails where the stack has no such word. */
function popDepth({ stack }: RunState, more: number): number {
  const depth = stack.pop()
  if (depth >= BigInt(stack.length)) fail(FAILURE.STACK_UNDERFLOW)
  const n = Number(depth) + more
  if (n > stack.length) fail(FAILURE.STACK_UNDERFLOW)
  return n
}

/** Fails with fewer words on the stack. */
function need({ stack }: RunState, words: number): void {
  if (stack.length < words) fail(FAILURE.STACK_UNDERFLOW)
}

/** The opcodes by number. */
export const RETIRED: readonly Opcode[] = [
  {
    opcode: 0xa8,
    opcodeName: 'DUPN',
    baseFee: GAS.veryLow,
    async logicFunction(runState) {
      need(runState, 2)
      const n = popDepth(runState, 1)
      runState.stack.dup(n)
      await passByte(runState)
    },
  },
  {
    opcode: 0xa9,
    opcodeName: 'SWAPN',
    baseFee: GAS.veryLow,
    async logicFunction(runState) {
      need(runState, 3)
      const n = popDepth(runState, 2)
      runState.stack.swap(n - 1)
      await passByte(runState)
    },
  },
  {
    opcode: 0xaa,
    opcodeName: 'TXINDEX',
    baseFee: GAS.base,
    logicFunction: (runState) => runState.stack.push(BigInt(runOf(runState).session.transactionIndex)),
  },
]
