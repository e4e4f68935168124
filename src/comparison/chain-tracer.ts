/** Counts gas and notes steps of a transaction under the chain's own rules. */
import { FAILURE, type Frame } from '../evm/frame.ts'
import type { FrameEnd, FrameStart, Tracer } from '../evm/tracing/tracer.ts'
import { GasTally } from './gas-groups.ts'
import { StepList } from './step-list.ts'

/** Gas for a byte of a new contract's code. */
export const DEPOSIT_GAS = 200n

/** The opcode that stands for one which the rules do not define. */
const INVALID = 0xfe

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
      this.tally.add('deposits', BigInt(output.length) * DEPOSIT_GAS)
    }
  }

  step(frame: Frame, opcode: number): void {
    this.#opcode = opcode
    this.#pc = frame.pc
    this.#isImplied = frame.pc >= frame.analysis.code.length
  }

  stepped({ depth, child }: Frame, cost: number, failure: string | undefined): void {
    if (this.#isImplied) return
    const own = child === undefined || 'initcode' in child ? cost : cost - child.gas
    const opcode = failure === FAILURE.INVALID_OPCODE ? INVALID : this.#opcode
    const failed = failure !== undefined && failure !== FAILURE.REVERT
    this.steps.push({ opcode, pc: this.#pc, depth, cost: own, failed })
    // A failing frame loses all its gas, whatever the last opcode would have cost.
    if (!failed) this.tally.opcode(this.#opcode, own)
  }
}
