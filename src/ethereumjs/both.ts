/** Runs each message by both EVMs on the same state, and stops where they differ. */
import { NodeError } from '../errors.ts'
import type { BlockEnvironment, Message, RunOptions } from '../evm/message.ts'
import type { Vm } from '../evm/rules.ts'
import { createVm, type VmParts } from '../evm/vm.ts'
import { applyChanges } from '../state/apply-changes.ts'
import type { StateReader } from '../state/model.ts'
import { Overlay } from '../state/overlay.ts'
import { type Difference, differenceOf } from './difference.ts'
import { recordingEvm, Steps, stepRecorder, stepText } from './first-step.ts'
import { chainEvm, libraryRulesOf } from './make-evm.ts'

interface Situation {
  readonly message: Message
  readonly state: StateReader
  readonly env: BlockEnvironment
  readonly options: RunOptions
}

/** Longest text of a value in a report. */
const LONGEST_VALUE = 200

const shortened = (text: string): string =>
  text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}… (${text.length} characters)`

/**
 * Makes a VM. A run rejects with `execution-differs` when the EVMs disagree; the state is then as it was. Runs with a
 * tracer are not compared.
 */
export function createBothVm(parts: VmParts): Vm {
  const own = createVm(parts)
  const rulesOf = libraryRulesOf(parts.chainId)
  const quiet = { ...parts, onNotice: () => {} }
  const library = createVm({ ...quiet, makeEvm: (run) => chainEvm(run, rulesOf(run.rules)) })

  /** The first step that differs, as text; both EVMs run again. */
  async function firstStep({ message, state, env, options }: Situation): Promise<string> {
    const { opcodes } = parts.rulesAt?.(env.number) ?? own.rulesAt(env.number)
    const [ownSteps, librarySteps] = [new Steps(), new Steps()]
    const recorded = createVm({
      ...quiet,
      makeEvm: (run) => recordingEvm(run, rulesOf(run.rules), librarySteps),
    })
    const tracer = stepRecorder(ownSteps, opcodes)
    await createVm(quiet).run(message, new Overlay(state), env, { ...options, tracer })
    await recorded.run(message, new Overlay(state), env, options)
    const index = ownSteps.firstDifference(librarySteps)
    if (index === undefined) return 'all steps are the same'
    const texts = [ownSteps, librarySteps].map((steps) => stepText(steps.at(index), opcodes))
    return `step ${index} is ${texts[0]} by tandem, ${texts[1]} by ethereumjs`
  }

  async function report(situation: Situation, { what, ...values }: Difference): Promise<NodeError> {
    const { message, env } = situation
    const [tandem, ethereumjs] = [shortened(values.tandem), shortened(values.ethereumjs)]
    const name = message.transaction === undefined ? 'a message' : `transaction ${message.transaction.hash}`
    const step = await firstStep(situation)
    return new NodeError(
      'execution-differs',
      `execution differs: ${name} in block ${env.number}: ${what}: ${tandem} by tandem, ${ethereumjs} by ethereumjs; ${step}`,
      { rule: what, height: env.number, expected: ethereumjs, found: tandem },
    )
  }

  return {
    chainId: own.chainId,
    tracesByAnotherEvm: true,
    rulesAt: own.rulesAt,
    async run(message, state, env, options = {}) {
      if (options.tracer !== undefined) return own.run(message, state, env, options)
      const [first, second] = [new Overlay(state), new Overlay(state)]
      const tandem = { result: await own.run(message, first, env, options), state: first }
      const ethereumjs = { result: await library.run(message, second, env, options), state: second }
      const difference = differenceOf(tandem, ethereumjs)
      if (difference !== undefined) throw await report({ message, state, env, options }, difference)
      applyChanges(state, first.changes())
      return tandem.result
    },
  }
}
