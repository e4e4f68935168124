/** One transaction by the chain's rules and by a fork of Ethereum, side by side, for porting contracts. */
import type { Log } from '../chain/receipt.ts'
import type { Transaction } from '../chain/transaction.ts'
import { EMPTY } from '../encoding/bytes.ts'
import { toHex } from '../encoding/hex.ts'
import { GAS } from '../evm/gas-schedule.ts'
import type { BlockEnvironment, MessageResult } from '../evm/message.ts'
import type { Vm } from '../evm/rules.ts'
import { CHAIN_RULES } from '../evm/rules.ts'
import { applyTransaction, TransactionRejected } from '../execution/apply-transaction.ts'
import type { StateReader } from '../state/model.ts'
import { Overlay } from '../state/overlay.ts'
import { ChainTracer } from './chain-tracer.ts'
import type { EthereumFork } from './ethereum-forks.ts'
import { executeByEthereumRules } from './ethereum-rules.ts'
import type { EthereumStep } from './ethereum-tracer.ts'
import { type GasByGroup, GasTally } from './gas-groups.ts'
import type { ComparisonSide, Divergence, NamedStep, PriceDifference, RuleComparison } from './report.ts'
import type { Step, StepList } from './step-list.ts'

/** The transaction to compare, and its environment. */
export interface ComparisonParts {
  readonly transaction: Transaction
  /** The state just before it; only read. */
  readonly state: StateReader
  readonly env: BlockEnvironment
  /** Of the chain's rules. */
  readonly vm: Vm
  readonly chainId: number
  readonly fork: EthereumFork
  /** Milliseconds of wall clock for both sides together; `limit-exceeded` beyond. */
  readonly deadlineMs?: number
}

function named({ opcode, pc, depth, cost }: Step): NamedStep {
  return { opcode, name: CHAIN_RULES.opcodes[opcode]?.name ?? 'INVALID', pc, depth, cost }
}

const NO_GAS: GasByGroup = new GasTally().groups(0n)

function rejected(error: unknown): ComparisonSide {
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

async function runByChain(parts: ComparisonParts, listener: ChainTracer): Promise<ComparisonSide> {
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

/** Compares the steps of Ethereum's run with those of the chain's. */
class Follower {
  readonly #steps: StepList
  #index = 0
  /** Price differences of opcodes that Ethereum's frame may still fail on. */
  readonly #undecided = new Map<
    EthereumStep,
    { readonly difference: PriceDifference; readonly failed: boolean }
  >()
  firstPriceDifference: PriceDifference | undefined
  divergence: Divergence | undefined

  constructor(steps: StepList) {
    this.#steps = steps
  }

  step(step: EthereumStep): void {
    const index = this.#index++
    if (this.divergence !== undefined) return
    const chain = this.#steps.at(index)
    const { opcode, name, pc, depth, cost, address } = step
    const ethereum = { opcode, name, pc, depth, cost }
    if (chain?.opcode !== opcode || chain.pc !== pc || chain.depth !== depth) {
      this.divergence = { index, ...(chain && { chain: named(chain) }), ethereum }
    } else if (chain.cost !== cost && this.firstPriceDifference === undefined) {
      const difference = { index, address, chain: named(chain), ethereum }
      this.#undecided.set(step, { difference, failed: chain.failed })
    }
  }

  paid(step: EthereumStep): void {
    const difference = this.#undecided.get(step)?.difference
    if (difference !== undefined) this.#found(difference)
    this.#undecided.delete(step)
  }

  /** The opcode of a call is paid for after those that it runs. */
  #found(difference: PriceDifference): void {
    const { firstPriceDifference: first } = this
    if (first === undefined || difference.index < first.index) this.firstPriceDifference = difference
  }

  /** Ethereum's run is over. */
  finish(): void {
    // Where frames fail on both sides there is no price to compare: neither was computed to the end.
    for (const { difference, failed } of this.#undecided.values()) if (!failed) this.#found(difference)
    const chain = this.#steps.at(this.#index)
    if (this.divergence === undefined && chain !== undefined) {
      this.divergence = { index: this.#index, chain: named(chain) }
    }
  }
}

async function runByEthereum(parts: ComparisonParts, follower: Follower): Promise<ComparisonSide> {
  const { transaction, state, env, chainId, fork, deadlineMs } = parts
  const tally = new GasTally()
  try {
    const outcome = await executeByEthereumRules({
      transaction,
      state,
      env,
      chainId,
      hardfork: fork,
      ...(deadlineMs !== undefined && { deadlineMs }),
      listener: {
        step: (step) => follower.step(step),
        paid(step) {
          tally.opcode(step.opcode, step.cost)
          follower.paid(step)
        },
        native: (gasUsed) => tally.add('natives', gasUsed),
        deposit: (bytes) => tally.add('deposits', BigInt(bytes * GAS.codeDepositByte)),
      },
    })
    follower.finish()
    const { gasUsed, refund, output, logs, created, failure, intrinsicGas } = outcome
    tally.add('transaction', intrinsicGas)
    return {
      status: failure?.kind ?? 'succeeded',
      ...(failure && { reason: failure.reason }),
      gasUsed,
      refund,
      gas: tally.groups(gasUsed + refund),
      output,
      logs,
      ...(created && { created }),
    }
  } catch (error) {
    return rejected(error)
  }
}

const logText = ({ address, topics, data }: Log): string => [address, ...topics, toHex(data)].join(' ')

/** Runs a transaction both ways. Throws `limit-exceeded` at the deadline, or when the steps are too many to be compared. */
export async function compareRules(parts: ComparisonParts): Promise<RuleComparison> {
  const { deadlineMs } = parts
  const began = performance.now()
  const listener = new ChainTracer()
  const chain = await runByChain(parts, listener)
  const follower = new Follower(listener.steps)
  const left = deadlineMs !== undefined && { deadlineMs: began + deadlineMs - performance.now() }
  const ethereum = await runByEthereum({ ...parts, ...left }, follower)
  const { firstPriceDifference, divergence } = follower
  const sameLogs = chain.logs.map(logText).join() === ethereum.logs.map(logText).join()
  return {
    fork: parts.fork,
    chain,
    ethereum,
    sameResult: chain.status === ethereum.status && toHex(chain.output) === toHex(ethereum.output),
    sameLogs,
    ...(firstPriceDifference && { firstPriceDifference }),
    ...(divergence && { divergence }),
  }
}
