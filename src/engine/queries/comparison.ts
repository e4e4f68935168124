/** A mined transaction by the chain's rules, and by a fork of Ethereum or by other rules of this chain. */
import { LRUCache } from 'lru-cache'
import type { ExecutedBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import type { RuleHeights } from '../../chain/consensus-rules.ts'
import { chosenHeights, type RuleChoice } from '../../chain/rule-choice.ts'
import { RuleChoiceError } from '../../chain/rule-names.ts'
import { asRunnable } from '../../chain/transaction-types.ts'
import type { EthereumFork } from '../../comparison/ethereum-forks.ts'
import type { EthereumBlock, RuleComparison, RuleSetComparison } from '../../comparison/report.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams, NodeError } from '../../errors.ts'
import { type Vm, vmRulesOf } from '../../evm/rules.ts'
import { createVm } from '../../evm/vm.ts'
import type { OnDemand } from '../../state/fork/demand.ts'
import { type ChainAccess, environmentAt } from '../blockchain/ancestry.ts'
import type { Lookup } from './lookup.ts'
import type { Replays } from './replay.ts'

interface Parts extends ChainAccess {
  readonly vm: Vm
  readonly lookup: Lookup
  readonly replays: Pick<Replays, 'replay'>
  /** Milliseconds of wall clock; 0 is no limit. */
  readonly timeoutMs: number
  readonly onDemand: OnDemand
}

/** Blocks under Ethereum's rules that are kept: `tandem drift --all` compares one transaction of a block after another. */
const CACHED_BLOCKS = 16

/** A chain's rules with changes. Throws `invalid-params`. */
function heightsOf({ ruleHeights }: ChainConfig, choice: RuleChoice): RuleHeights {
  try {
    return chosenHeights(ruleHeights, choice)
  } catch (error) {
    if (!(error instanceof RuleChoiceError)) throw error
    throw invalidParams(`rules.${error.option}: ${error.message}`)
  }
}

/** Compares transactions of a chain with their execution under other rules. */
export class RuleComparisons {
  readonly #parts: Parts
  readonly #ethereumBlocks = new LRUCache<string, EthereumBlock>({ max: CACHED_BLOCKS })

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** See `Queries.compareRules`. */
  async compareRules(
    hash: Hex,
    fork: EthereumFork,
    timeoutMs = this.#parts.timeoutMs,
  ): Promise<RuleComparison | undefined> {
    const { config, vm } = this.#parts
    const began = performance.now()
    const placed = await this.#place(hash, timeoutMs)
    if (placed === undefined) return undefined
    const { transaction, state, block, env } = placed
    // Ethereum's executor is large: it is loaded with the first comparison.
    const { compareRules: compare } = await import('../../comparison/compare.ts')
    const limit = () => (timeoutMs > 0 ? { deadlineMs: began + timeoutMs - performance.now() } : {})
    const comparison = await compare({
      transaction,
      state,
      env,
      vm,
      chainId: config.chainId,
      fork,
      ...limit(),
    })
    const executed = await this.#ethereumBlock(block, fork, limit())
    return { ...comparison, ...(executed && { ethereumBlock: executed }) }
  }

  /** See `Queries.compareRuleSets`. */
  async compareRuleSets(
    hash: Hex,
    choice: RuleChoice,
    timeoutMs = this.#parts.timeoutMs,
  ): Promise<RuleSetComparison | undefined> {
    const { config, vm } = this.#parts
    const ruleHeights = heightsOf(config, choice)
    const began = performance.now()
    const placed = await this.#place(hash, timeoutMs)
    if (placed === undefined) return undefined
    const { compareRuleSets: compare } = await import('../../comparison/rule-sets.ts')
    const other = createVm({ chainId: config.chainId, rulesAt: vmRulesOf({ ...config, ruleHeights }) })
    const { state, env } = placed
    const transaction = asRunnable(placed.transaction, vm.rulesAt(env.number).types)
    const limit = timeoutMs > 0 ? { deadlineMs: began + timeoutMs - performance.now() } : {}
    return compare({ transaction, state, env, vm, other, ...limit })
  }

  /** A transaction, the state before it and its block's environment; `undefined` when it is unknown. */
  async #place(hash: Hex, timeoutMs: number) {
    const found = this.#parts.lookup.receipt(hash)
    if (found === undefined) return undefined
    const { transaction, block, index } = found
    if (transaction.isRemasc) {
      throw invalidParams('transaction: the REMASC transaction is no message and is not compared')
    }
    const { state } = await this.#parts.replays.replay(block, () => undefined, {
      lastIndex: index - 1,
      timeoutMs,
    })
    return { transaction, state, block, env: environmentAt(block.block.header, this.#parts) }
  }

  /** The block under Ethereum's rules; `undefined` when its parent is not stored, or when time is up. */
  async #ethereumBlock(
    block: ExecutedBlock,
    fork: EthereumFork,
    limit: { readonly deadlineMs?: number },
  ): Promise<EthereumBlock | undefined> {
    const { config, blocks, lookup, onDemand } = this.#parts
    const key = `${block.hash} ${fork}`
    const known = this.#ethereumBlocks.get(key)
    const parent = blocks.get(block.block.header.parentHash)
    if (known !== undefined || parent === undefined) return known
    const { executeBlockByEthereumRules } = await import('../../comparison/ethereum-block.ts')
    try {
      const executed = await onDemand(() =>
        executeBlockByEthereumRules({
          transactions: block.block.transactions.filter(({ isRemasc }) => !isRemasc),
          state: lookup.stateAfter(parent),
          env: environmentAt(block.block.header, this.#parts),
          chainId: config.chainId,
          fork,
          ...limit,
        }),
      )
      this.#ethereumBlocks.set(key, executed)
      return executed
    } catch (error) {
      if (error instanceof NodeError && error.kind === 'limit-exceeded') return undefined
      throw error
    }
  }
}
