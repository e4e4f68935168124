/** Runs messages: gives state, block and rules to an EVM. */
import { CONSOLE_ADDRESS } from '../abi/console.ts'
import { EMPTY } from '../encoding/bytes.ts'
import { invalidParams } from '../errors.ts'
import { andThen } from '../maybe-promise.ts'
import { type FrameResult, topMessage } from './call-message.ts'
import { HotCode } from './compiled/hot-code.ts'
import { Evm, type EvmRun } from './evm.ts'
import { FAILURE } from './failure.ts'
import type { Session } from './frame.ts'
import { Journal } from './journal.ts'
import { bytesOf } from './memory-range.ts'
import type { Message, MessageResult } from './message.ts'
import { CHAIN_RULES, type Vm, type VmRules } from './rules.ts'
import { RunClock } from './scheduler.ts'
import type { Tracer } from './tracing/tracer.ts'

/** Jumps to a place in code after which compiling it pays. */
const HOT_AFTER = 400

/** What a VM is made of. */
export interface VmParts {
  /** Value of CHAINID. */
  readonly chainId: number
  /** Receives what the real chain would have done and this node leaves out, in a sentence for the log. */
  readonly onNotice?: (notice: string) => void
  /** Rules by height. Default: the chain's with all of them in force, at every height. */
  readonly rulesAt?: (height: number) => VmRules
  /**
   * Jumps to a place in code after which the code there is compiled; 0 for all code before it runs, infinite for none.
   * Default: 400.
   */
  readonly hotAfter?: number
  /** What is kept of compiled code; VMs that run the same contracts may share one. Default: one of its own. */
  readonly hotCode?: HotCode
  /** Makes the EVM of a run. Default: the chain's. */
  readonly makeEvm?: (run: EvmRun) => Pick<Evm, 'execute'>
}

/** Makes a VM. */
export function createVm(parts: VmParts): Vm {
  const { chainId, onNotice = () => {}, rulesAt = () => CHAIN_RULES, hotAfter = HOT_AFTER } = parts
  const hotCode = parts.hotCode ?? new HotCode()
  const makeEvm = parts.makeEvm ?? ((run: EvmRun) => new Evm(run))

  return {
    chainId,
    rulesAt,
    run(message, state, env, options = {}) {
      const rules = rulesAt(env.number)
      if (message.gas > rules.maxGas) throw invalidParams(`gas: ${message.gas} is above ${rules.maxGas}`)
      const precompiles = env.precompiles ?? rules.precompiles
      const journal = new Journal(state, rules.frames.followsDelegations ? precompiles : undefined)
      if (isTransfer(message, journal, precompiles)) return transferred(message, journal, options.tracer)
      const { gasPrice, origin, transaction } = message
      const { tracer, transactionIndex = 0, isLocal = false, destroyedEarlier, deadlineMs } = options
      // No spread makes it: frames read it all the time, and calls then took 1.2 to 1.5 times as long.
      const session: Session = {
        precompiles,
        chainId,
        journal,
        env,
        origin,
        transaction,
        transactionIndex,
        gasPrice,
        clock: new RunClock(deadlineMs),
        tracer,
      }
      const run: EvmRun = {
        session,
        rules,
        hotAfter,
        hotCode,
        destroyedEarlier,
        isLocal,
        onNotice,
        precompileFailed: false,
        failedPrecompile: undefined,
        directEffects: [],
        consoleCalls: undefined,
      }
      const result = makeEvm(run).execute(topMessage(message))
      return andThen(result, (ended) => toResult(message, ended, run))
    },
  }
}

/** Does a message go to an account that runs no code? */
function isTransfer({ to }: Message, journal: Journal, precompiles: Session['precompiles']): boolean {
  if (to === null || to === CONSOLE_ADDRESS) return false
  return !precompiles.has(to) && journal.codeToRun(to).length === 0
}

/** Moves the value of a message that runs no code, for which no EVM is needed. */
function transferred(
  { from, to, value, gas, data: input }: Message,
  journal: Journal,
  tracer: Tracer | undefined,
): MessageResult {
  if (to === null) throw new Error('a creation runs code')
  if (tracer !== undefined) {
    const runsCode = journal.codeOf(to).length > 0
    tracer.enter?.({ kind: 'call', depth: 0, from, to, value, gas, input, isPrecompile: false, runsCode })
  }
  journal.transfer(from, to, value)
  tracer?.exit?.({ gasUsed: 0n, output: EMPTY })
  return {
    status: 'succeeded',
    output: EMPTY,
    gasUsed: 0n,
    refund: 0n,
    logs: [],
    destroyed: [],
    valueCallSeen: false,
    precompileFailed: false,
  }
}

function toResult(message: Message, result: FrameResult, run: EvmRun): MessageResult {
  const { journal } = run.session
  const failure = result.failure?.reason
  const status =
    failure === undefined ? 'succeeded' : failure === FAILURE.REVERT ? 'reverted' : ('failed' as const)
  return {
    status,
    failure: status === 'failed' ? failure : undefined,
    output: status === 'failed' ? EMPTY : bytesOf(result.output),
    gasUsed: BigInt(result.gasUsed),
    refund: status === 'succeeded' ? BigInt(journal.refund) : 0n,
    logs: journal.logs,
    created: message.to === null ? result.created : undefined,
    destroyed: journal.destroyed,
    participants: journal.participants,
    creations: journal.creations,
    valueCallSeen: journal.valueCallSeen,
    precompileFailed: run.precompileFailed,
    consoleCalls: run.consoleCalls?.payloads,
  }
}
