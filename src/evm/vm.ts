/** Runs messages: state, block and rules to an EVM, of which a few idle ones are kept. */

import { type EVMResult, Message as LibraryMessage } from '@ethereumjs/evm'
import { CONSOLE_ADDRESS } from '../abi/console.ts'
import { EMPTY } from '../encoding/bytes.ts'
import { invalidParams } from '../errors.ts'
import { type EvmRun, RskEvm } from './evm.ts'
import { FAILURE } from './frame.ts'
import { Journal } from './journal.ts'
import { libraryCommon } from './library-common.ts'
import { LibraryState, libraryAddress } from './library-state.ts'
import type { Message, MessageResult } from './message.ts'
import type { CalledMessage } from './precompile-call.ts'
import { CHAIN_RULES, type Vm, type VmRules } from './rules.ts'
import { RunClock } from './scheduler.ts'

/** How many idle EVMs are kept. Making one costs half a millisecond. */
const POOL_SIZE = 8

/** What a VM is made of. */
export interface VmParts {
  /** Value of CHAINID. */
  readonly chainId: number
  /** Receives what the real chain would have done and this node leaves out, in a sentence for the log. */
  readonly onNotice?: (notice: string) => void
  /** Rules by height. Default: the chain's with all of them in force, at every height. */
  readonly rulesAt?: (height: number) => VmRules
  /** Makes the EVM of a run on this journal. Default: an RskEvm for the chain. */
  readonly makeEvm?: (journal: Journal, rules: VmRules) => RskEvm
}

/** Makes a VM; its EVMs are made as they are needed. */
export function createVm(parts: VmParts): Vm {
  const { chainId, onNotice = () => {}, rulesAt = () => CHAIN_RULES } = parts
  const makeEvm = parts.makeEvm ?? chainEvm
  /** An EVM serves one set of rules. */
  const idleByRules = new WeakMap<VmRules, RskEvm[]>()

  function chainEvm(journal: Journal, { frames }: VmRules): RskEvm {
    const common = libraryCommon(chainId, frames)
    return new RskEvm({ common, stateManager: new LibraryState(journal), params: {} })
  }

  function idleOf(rules: VmRules): RskEvm[] {
    let idle = idleByRules.get(rules)
    if (idle === undefined) {
      idle = []
      idleByRules.set(rules, idle)
    }
    return idle
  }

  /** Does a message go to an account that runs no code? */
  function isTransfer({ to }: Message, journal: Journal, rules: VmRules): boolean {
    if (to === null || to === CONSOLE_ADDRESS) return false
    return !rules.precompiles.has(to) && journal.codeOf(to).length === 0
  }

  return {
    rulesAt,
    async run(message, state, env, options = {}) {
      const rules = rulesAt(env.number)
      if (message.gas > rules.maxGas) throw invalidParams(`gas: ${message.gas} is above ${rules.maxGas}`)
      const journal = new Journal(state)
      if (options.tracer === undefined && isTransfer(message, journal, rules))
        return transferred(message, journal)
      const clock = new RunClock(options.deadlineMs)
      const { gasPrice, origin, transaction } = message
      const { precompiles } = rules
      const { tracer, transactionIndex = 0 } = options
      const run: EvmRun = {
        session: {
          precompiles,
          chainId,
          journal,
          env,
          origin,
          transaction,
          transactionIndex,
          gasPrice,
          clock,
          tracer,
        },
        rules,
        destroyedEarlier: options.destroyedEarlier,
        isLocal: options.isLocal ?? false,
        onNotice,
        precompileFailed: false,
        failedPrecompile: undefined,
        directEffects: [],
        consoleCalls: undefined,
      }
      const idle = idleOf(rules)
      const evm = idle.pop() ?? makeEvm(journal, rules)
      const adapter = new LibraryState(journal)
      evm.stateManager = adapter
      evm.journal = adapter as unknown as RskEvm['journal']
      evm.begin(run)
      const { value, data, gas: gasLimit, to } = message
      const caller = libraryAddress(message.from)
      const result =
        to === null
          ? await evm.runCreation(new LibraryMessage({ caller, value, data, gasLimit }))
          : await evm.runMessage(
              new LibraryMessage({ caller, to: libraryAddress(to), value, data, gasLimit }) as CalledMessage,
            )
      // Not reached after a throw: such an EVM is not used again.
      if (idle.length < POOL_SIZE) idle.push(evm)
      return toResult(message, result, run)
    },
  }
}

/** Moves the value of a message that runs no code, for which no EVM is needed. */
function transferred({ from, to, value }: Message, journal: Journal): MessageResult {
  if (to === null) throw new Error('a creation runs code')
  journal.transfer(from, to, value)
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

function toResult(message: Message, { execResult, createdAddress }: EVMResult, run: EvmRun): MessageResult {
  const { journal } = run.session
  const failure = execResult.exceptionError?.error
  const status =
    failure === undefined ? 'succeeded' : failure === FAILURE.REVERT ? 'reverted' : ('failed' as const)
  return {
    status,
    failure: status === 'failed' ? failure : undefined,
    output: status === 'failed' ? EMPTY : execResult.returnValue,
    gasUsed: execResult.executionGasUsed,
    refund: status === 'succeeded' ? BigInt(journal.refund) : 0n,
    logs: journal.logs,
    created: message.to === null ? createdAddress?.toString() : undefined,
    destroyed: journal.destroyed,
    participants: journal.participants,
    creations: journal.creations,
    valueCallSeen: journal.valueCallSeen,
    precompileFailed: run.precompileFailed,
    consoleCalls: run.consoleCalls?.payloads,
  }
}
