/** What a node records of the code that it runs. Off, nothing is recorded, and code runs compiled. */
import { ExecutedCodes } from '../../coverage/executed-codes.ts'
import type { Message } from '../../evm/message.ts'
import type { Vm } from '../../evm/rules.ts'
import { muxTracers } from '../../evm/tracing/mux-tracer.ts'
import type { Tracer } from '../../evm/tracing/tracer.ts'
import { GasRecording } from './gas-recording.ts'

/** What runs code: a transaction of a block, a call or simulation, an estimate. */
export const RUN_KINDS = ['transactions', 'calls', 'estimates'] as const
/** One of them. */
export type RunKind = (typeof RUN_KINDS)[number]

/** The tracer of a run of this kind; `undefined` where it is not observed. */
export type RunObserver = (kind: RunKind) => Tracer | undefined

/** The recordings of a node, and of the chains that are copies of it. They outlive its chain. */
export class Recordings {
  readonly codes = new ExecutedCodes()
  #covered: ReadonlySet<RunKind> = new Set()
  #gas: GasRecording | undefined
  #isGasOn = false
  #holders = 0
  #observer: RunObserver | undefined

  /** A node that records here is open. */
  hold(): void {
    this.#holders++
  }

  /** Such a node closes; is it the last? */
  release(): boolean {
    this.#holders--
    return this.#holders === 0
  }

  /** Asks for a tracer of each run from now on. */
  observeRuns(observer: RunObserver): void {
    this.#observer = observer
  }

  /** The kinds of runs whose coverage is recorded; none while it is off. */
  get covered(): ReadonlySet<RunKind> {
    return this.#covered
  }

  /** Records these kinds of runs from now on; what was recorded before is forgotten. */
  startCoverage(kinds: readonly RunKind[]): void {
    this.codes.clear()
    this.#covered = new Set(kinds)
  }

  /** Records no more; what was recorded stays. */
  stopCoverage(): void {
    this.#covered = new Set()
  }

  /** The gas that is recorded; absent while it is off. */
  get gas(): GasRecording | undefined {
    return this.#isGasOn ? this.#gas : undefined
  }

  /** What was recorded of gas, also after its end. */
  get recordedGas(): GasRecording | undefined {
    return this.#gas
  }

  /** Records the gas of transactions from now on; what was recorded before is forgotten. */
  startGas(): void {
    this.#gas = new GasRecording()
    this.#isGasOn = true
  }

  /** Records no more gas; what was recorded stays. */
  stopGas(): void {
    this.#isGasOn = false
  }

  /** The tracer of a run, if it is recorded. */
  tracerOf(kind: RunKind, { transaction }: Message): Tracer | undefined {
    const isCovered = this.#covered.has(kind)
    const gas =
      kind === 'transactions' && transaction !== undefined ? this.gas?.tracer(transaction) : undefined
    const others = [gas, this.#observer?.(kind)].filter((tracer) => tracer !== undefined)
    if (others.length === 0) return isCovered ? this.codes.tracer() : undefined
    const all = isCovered ? [...others, this.codes.stepTracer()] : others
    return all.length === 1 ? all[0] : muxTracers(all)
  }

  /**
   * The same VM, whose runs of this kind are recorded. A call or estimate that a client traces is not; a transaction of the
   * chain is, and then without the recorder of its calls.
   */
  on(vm: Vm, kind: RunKind): Vm {
    return {
      ...vm,
      run: (message, state, env, options) => {
        const isTraced = kind !== 'transactions' && options?.tracer !== undefined
        const tracer = isTraced ? undefined : this.tracerOf(kind, message)
        return vm.run(message, state, env, tracer === undefined ? options : { ...options, tracer })
      },
    }
  }
}
