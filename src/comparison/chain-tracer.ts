/** Counts gas and records steps of a transaction under the chain's own rules. */

import { FAILURE } from '../evm/failure.ts'
import { GAS } from '../evm/gas-schedule.ts'
import { INVALID } from '../evm/opcodes/operation.ts'
import type { FrameEnd, FrameStart, FrameView, Tracer } from '../evm/tracing/tracer.ts'
import { GasTally } from './gas-groups.ts'
import { StepList } from './step-list.ts'

/** A tracer; read `steps` and `tally` when the transaction is over. */
export class ChainTracer implements Tracer {
  readonly steps = new StepList()
  readonly tally = new GasTally()
  readonly #open: FrameStart[] = []
  #opcode = 0
  #pc = 0
  /** Is it the implicit STOP after the end of the code, which Ethereum's executor does not report? */
  #isImplied = false

  enter(start: FrameStart): void {
    this.#open.push(start)
  }

  exit({ gasUsed, output, failure }: FrameEnd): void {
    const start = this.#open.pop()
    if (start?.isPrecompile) this.tally.add('natives', gasUsed)
    else if (start?.kind.startsWith('create') && failure === undefined) {
      this.tally.add('deposits', BigInt(output.length * GAS.codeDepositByte))
    }
  }

  step(frame: FrameView, opcode: number): void {
    this.#opcode = opcode
    this.#pc = frame.pc
    this.#isImplied = frame.pc >= frame.code.length
  }

  stepped({ depth, passedGas }: FrameView, cost: number, failure: string | undefined): void {
    if (this.#isImplied) return
    const own = cost - passedGas
    const opcode = failure === FAILURE.INVALID_OPCODE ? INVALID : this.#opcode
    const failed = failure !== undefined && failure !== FAILURE.REVERT
    this.steps.push({ opcode, pc: this.#pc, depth, cost: own, failed })
    // A failing frame loses all its gas, whatever the last opcode would have cost.
    if (!failed) this.tally.opcode(this.#opcode, own)
  }
}
