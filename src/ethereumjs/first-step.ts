/** The first difference between two runs of a message: opcode, program counter, depth and gas of each step. */
import { createEthereumOpcodeListener } from '../comparison/ethereum-tracer.ts'
import type { EvmRun } from '../evm/evm.ts'
import { INVALID, type OpcodeTable } from '../evm/opcodes/operation.ts'
import type { FrameView, Tracer } from '../evm/tracing/tracer.ts'
import type { ChainEvm } from './chain-evm.ts'
import { chainEvm, type LibraryRules } from './make-evm.ts'

/** Maximum number of recorded steps, four numbers each. */
const MOST_STEPS = 1_000_000
const NUMBERS = 4

/** An opcode that is about to run. Gas before it. */
export interface Step {
  readonly opcode: number
  readonly pc: number
  readonly depth: number
  readonly gas: number
}

/** The steps of a run, up to a million. */
export class Steps {
  readonly #numbers: number[] = []

  push({ opcode, pc, depth, gas }: Step): void {
    if (this.#numbers.length < MOST_STEPS * NUMBERS) this.#numbers.push(opcode, pc, depth, gas)
  }

  at(index: number): Step | undefined {
    const [opcode, pc, depth, gas] = this.#numbers.slice(index * NUMBERS, (index + 1) * NUMBERS)
    if (opcode === undefined || pc === undefined || depth === undefined || gas === undefined) return undefined
    return { opcode, pc, depth, gas }
  }

  /** Index of the first step that the other run does not have; `undefined` when all are the same. */
  firstDifference(other: Steps): number | undefined {
    const [own, others] = [this.#numbers, other.#numbers]
    const length = Math.max(own.length, others.length)
    for (let i = 0; i < length; i++) if (own[i] !== others[i]) return Math.floor(i / NUMBERS)
    return undefined
  }
}

/** A tracer that keeps the steps of a run. */
export function stepRecorder(steps: Steps, table: OpcodeTable): Tracer {
  return {
    step({ pc, depth, gas, code }: FrameView, opcode) {
      // The library does not report the implicit STOP after the end of the code.
      if (pc >= code.length) return
      steps.push({ opcode: table[opcode] === undefined ? INVALID : opcode, pc, depth, gas })
    },
  }
}

/** An EVM of the library that keeps the steps of its run. */
export function recordingEvm(run: EvmRun, { common, customOpcodes }: LibraryRules, steps: Steps): ChainEvm {
  const listener = createEthereumOpcodeListener(common, customOpcodes, {
    step: ({ opcode, pc, depth, gasLeft }) => steps.push({ opcode, pc, depth, gas: gasLeft }),
    paid() {},
    native() {},
    deposit() {},
  })
  const evm = chainEvm(run, { common, customOpcodes: [...listener.opcodes] })
  listener.listen(evm)
  return evm
}

/** A step as text. */
export function stepText(step: Step | undefined, table: OpcodeTable): string {
  if (step === undefined) return 'the end'
  const { opcode, pc, depth, gas } = step
  return `${table[opcode]?.name ?? 'INVALID'} at ${pc}, depth ${depth}, gas ${gas}`
}
