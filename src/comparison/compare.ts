/** One transaction by the chain's rules and by a fork of Ethereum, side by side, for porting contracts. */
import { asRunnable } from '../chain/transaction-types.ts'
import { GAS } from '../evm/gas-schedule.ts'
import { type ChainRun, named, rejected, runByChain, sameness } from './chain-run.ts'
import { ChainTracer } from './chain-tracer.ts'
import type { EthereumFork } from './ethereum-forks.ts'
import { executeByEthereumRules } from './ethereum-rules.ts'
import type { EthereumStep } from './ethereum-tracer.ts'
import { GasTally } from './gas-groups.ts'
import type { ComparisonSide, Divergence, PriceDifference, RuleComparison } from './report.ts'
import type { StepList } from './step-list.ts'

/** The transaction to compare, and its environment. */
export interface ComparisonParts extends ChainRun {
  readonly chainId: number
  readonly fork: EthereumFork
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

/** Runs a transaction both ways. Throws `limit-exceeded` at the deadline, or when the steps are too many to be compared. */
export async function compareRules(parts: ComparisonParts): Promise<RuleComparison> {
  const { deadlineMs } = parts
  const began = performance.now()
  const listener = new ChainTracer()
  const { transaction, vm, env } = parts
  const own = asRunnable(transaction, vm.rulesAt(env.number).types)
  const chain = await runByChain({ ...parts, transaction: own }, listener)
  const follower = new Follower(listener.steps)
  const left = deadlineMs !== undefined && { deadlineMs: began + deadlineMs - performance.now() }
  const ethereum = await runByEthereum({ ...parts, ...left }, follower)
  const { firstPriceDifference, divergence } = follower
  return {
    fork: parts.fork,
    chain,
    ethereum,
    ...sameness(chain, ethereum),
    ...(firstPriceDifference && { firstPriceDifference }),
    ...(divergence && { divergence }),
  }
}
