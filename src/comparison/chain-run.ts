/** A transaction by rules of this chain, with its steps and its gas by group. */
import type { Log } from '../chain/receipt.ts'
import type { Transaction } from '../chain/transaction.ts'
import { EMPTY } from '../encoding/bytes.ts'
import { toHex } from '../encoding/hex.ts'
import type { BlockEnvironment, MessageResult } from '../evm/message.ts'
import type { Vm } from '../evm/rules.ts'
import { CHAIN_RULES } from '../evm/rules.ts'
import { applyTransaction, TransactionRejected } from '../execution/apply-transaction.ts'
import type { StateReader } from '../state/model.ts'
import { Overlay } from '../state/overlay.ts'
import type { ChainTracer } from './chain-tracer.ts'
import { type GasByGroup, GasTally } from './gas-groups.ts'
import type { ComparisonSide, NamedStep } from './report.ts'
import type { Step } from './step-list.ts'

/** The transaction, and where it runs. */
export interface ChainRun {
  readonly transaction: Transaction
  /** The state just before it; only read. */
  readonly state: StateReader
  readonly env: BlockEnvironment
  /** Of the rules. */
  readonly vm: Vm
  /** Milliseconds of wall clock for both sides together; `limit-exceeded` beyond. */
  readonly deadlineMs?: number
}

/** A step with the name of its opcode. */
export function named({ opcode, pc, depth, cost }: Step): NamedStep {
  return { opcode, name: CHAIN_RULES.opcodes[opcode]?.name ?? 'INVALID', pc, depth, cost }
}

const NO_GAS: GasByGroup = new GasTally().groups(0n)

/** The side of a transaction that no block could include. Throws every other error. */
export function rejected(error: unknown): ComparisonSide {
  if (!(error instanceof TransactionRejected)) throw error
  return {
    status: 'rejected',
    reason: error.message,
    gasUsed: 0n,
    refund: 0n,
    gas: NO_GAS,
    output: EMPTY,
    logs: [],
  }
}

/** Runs the transaction. Throws `limit-exceeded` at the deadline, or when the steps are too many to be compared. */
export async function runByChain(parts: ChainRun, listener: ChainTracer): Promise<ComparisonSide> {
  const { transaction, state, env, vm, deadlineMs } = parts
  let run: MessageResult | undefined
  const recorded: Vm = {
    chainId: vm.chainId,
    rulesAt: vm.rulesAt,
    async run(...args) {
      run = await vm.run(...args)
      return run
    },
  }
  try {
    const outcome = await applyTransaction({
      transaction,
      state: new Overlay(state),
      env,
      vm: recorded,
      gasAvailable: transaction.gasLimit,
      tracer: listener,
      ...(deadlineMs !== undefined && { deadlineMs }),
    })
    const { gasUsed, output, logs, created, failure } = outcome
    const intrinsic = vm.rulesAt(env.number).intrinsicGas(transaction)
    listener.tally.add('transaction', intrinsic)
    const total = intrinsic + (run?.gasUsed ?? 0n)
    return {
      status: failure?.kind ?? 'succeeded',
      ...(failure && { reason: failure.reason }),
      gasUsed,
      refund: total - gasUsed,
      gas: listener.tally.groups(total),
      output,
      logs,
      ...(created && { created }),
    }
  } catch (error) {
    return rejected(error)
  }
}

const logText = ({ address, topics, data }: Log): string => [address, ...topics, toHex(data)].join(' ')

/** Whether two sides have the same status and output, and the same events. */
export function sameness(one: ComparisonSide, other: ComparisonSide) {
  return {
    sameResult: one.status === other.status && toHex(one.output) === toHex(other.output),
    sameLogs: one.logs.map(logText).join() === other.logs.map(logText).join(),
  }
}
