/** A mined transaction by the chain's rules and by a fork of Ethereum. */
import { LRUCache } from 'lru-cache'
import type { ExecutedBlock } from '../../chain/block.ts'
import type { EthereumFork } from '../../comparison/ethereum-forks.ts'
import type { EthereumBlock, RuleComparison } from '../../comparison/report.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams, NodeError } from '../../errors.ts'
import type { Vm } from '../../evm/rules.ts'
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

/** Compares transactions of a chain with their execution under Ethereum's rules. */
export class EthereumComparison {
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
    const { config, vm, lookup, replays } = this.#parts
    const found = lookup.receipt(hash)
    if (found === undefined) return undefined
    const { transaction, block, index } = found
    if (transaction.isRemasc) {
      throw invalidParams('transaction: the REMASC transaction has no equal on Ethereum')
    }
    const began = performance.now()
    const { state } = await replays.replay(block, () => undefined, { lastIndex: index - 1, timeoutMs })
    // Ethereum's executor is large: it is loaded with the first comparison.
    const { compareRules: compare } = await import('../../comparison/compare.ts')
    const limit = () => (timeoutMs > 0 ? { deadlineMs: began + timeoutMs - performance.now() } : {})
    const comparison = await compare({
      transaction,
      state,
      env: environmentAt(block.block.header, this.#parts),
      vm,
      chainId: config.chainId,
      fork,
      ...limit(),
    })
    const executed = await this.#ethereumBlock(block, fork, limit())
    return { ...comparison, ...(executed && { ethereumBlock: executed }) }
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
