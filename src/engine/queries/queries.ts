/** The queries of an engine, assembled from their parts. */
import { transactionsRoot } from '../../chain/block.ts'
import { headerHash } from '../../chain/header.ts'
import { invalidParams, NodeError } from '../../errors.ts'
import type { Queries } from '../engine.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { EngineParts } from '../parts.ts'
import { createAccountHistory } from './account-history.ts'
import { createAccountQueries } from './accounts.ts'
import { createCallSequences } from './call-sequence.ts'
import { createComparison } from './comparison.ts'
import { createFeeHistory } from './fee-history.ts'
import { createFees } from './fees.ts'
import { createLogs } from './logs.ts'
import { createLookup } from './lookup.ts'
import { createReplays } from './replay.ts'
import { createSimulations } from './simulate.ts'
import { createBlockSimulations } from './simulate-blocks.ts'
import { createStorageRange } from './storage-range.ts'
import { createTraceFilter } from './trace-filter.ts'
import { createValueSlots } from './value-slot.ts'

/** Limits and modes of queries. */
export interface QueryOptions {
  /** Gas of a call; requests with more are reduced to it. */
  readonly callGasCap: bigint
  /** The same for gas estimates. */
  readonly gasEstimationCap: bigint
  /** Throw on failed calls other than reverts instead of returning empty output. */
  readonly strictCalls: boolean
  /** Least price that `gasPrice` suggests, wei per gas. */
  readonly leastGasPrice: bigint
  /** Time limit of simulations and replays without one of their own, milliseconds; 0 is no limit. */
  readonly timeoutMs: number
  /** Memory limit of one trace, bytes. */
  readonly maxTraceBytes: number
}

/** Makes the queries of an engine. */
export function createQueries(parts: EngineParts, options: QueryOptions): Queries {
  const { blockchain, config, genesis, trie, pool, blockOverrides, mining } = parts
  const headerOverrides = () => blockOverrides.headerOverrides
  const lookup = createLookup({ ...parts, pending: mining.pending })
  // The options have the constants of the network, and the parts those of this chain.
  const context = { ...options, ...parts, lookup, headerOverrides }
  const fees = createFees(context)
  const replays = createReplays(context)
  const simulations = createSimulations(context)

  const blocksBetween: Queries['blocksBetween'] = (senders, receivers, { from, to }) =>
    parts.indexes.withParticipants(
      senders,
      receivers,
      { from, to: Math.min(to, blockchain.head.block.header.number) },
      createEventLoopYield('query'),
    )

  return {
    head: () => blockchain.head,
    block: async (reference) => lookup.block(reference),
    blocksAt: lookup.blocksAt,
    isCanonical: (hash) => blockchain.isCanonical(hash),
    state: lookup.state,
    transaction: lookup.transaction,
    receipt: lookup.receipt,
    uncle: (block, index) => block.uncles[index],
    pendingTransactions: () => pool.pending(),
    queuedTransactions: () => pool.queued(),
    pendingTransactionAt: (position) => pool.pendingAt(position),
    pooledOf: (sender) => pool.ofSender(sender),
    pooledAt: (sender, nonce) => pool.at(sender, nonce),
    poolSize: () => pool.size,
    accountQuota: (sender) => pool.quotaOf(sender),
    pendingNonce: (address) => pool.nextNonce(address, parts.headState()),
    ...createAccountQueries(parts),
    ...simulations,
    ...createBlockSimulations({ ...context, pending: mining.pending }),
    ...createCallSequences({ ...context, replays }),
    ...createValueSlots(context),
    ...replays,
    compareRules: createComparison({ ...context, replays }),
    ...createAccountHistory({ ...parts, transaction: lookup.transaction }),
    logs: createLogs(parts),
    blocksBetween,
    storageRange: createStorageRange({ ...parts, block: lookup.block, replay: replays.replay }),
    async executed(block) {
      const known = parts.blocks.get(headerHash(block.header, parts.config))
      if (known === undefined) return (await parts.validateBlock(block)).block
      if (transactionsRoot(block.transactions) === block.header.transactionsRoot) return known
      throw new NodeError('invalid-block', 'transactionsRoot is not that of the transactions')
    },
    traceFilter: createTraceFilter({ ...parts, replays, blocksBetween, block: lookup.block }),
    async proof(address, slots, reference) {
      const view = await lookup.block(reference)
      if (view === undefined) return undefined
      const { executed } = view
      const { number } = executed.block.header
      if (number === 0 && genesis.hasHistoricalRoot) {
        throw invalidParams(
          'block: this genesis carries the historical state root of its network, which is of an older format than the state',
        )
      }
      if (number > 0 && !config.rulesAt(number).unifiedTrie) {
        throw invalidParams('block: the state root of this height is of an older format than the state')
      }
      if (view.pending) throw invalidParams('block: a pending block has no state to prove against')
      return { address, ...trie.prove(executed.postState, address, slots) }
    },
    gasPrice: fees.gasPrice,
    feeHistory: createFeeHistory(parts),
    hashrate() {
      const { own, network } = fees.hashrate(blockOverrides.coinbase)
      return { own: own + mining.hashrates.total(), network }
    },
    work: () => mining.works.current(),
    coinbase: () => blockOverrides.coinbase,
    isMining: () => mining.schedule.active,
  }
}
