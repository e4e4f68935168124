/** The queries of an engine, assembled from their parts. */
import { transactionsRoot } from '../../chain/block.ts'
import { headerHash } from '../../chain/header.ts'
import { invalidParams, NodeError } from '../../errors.ts'
import type { Queries } from '../engine.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { HeaderOverrides } from '../model.ts'
import type { EngineParts } from '../parts.ts'
import { ChainAccountHistory } from './account-history.ts'
import { createAccountQueries } from './accounts.ts'
import { StateCallSequences } from './call-sequence.ts'
import { RuleComparisons } from './comparison.ts'
import { createFeeHistory } from './fee-history.ts'
import { Fees } from './fees.ts'
import { LogSearch } from './logs.ts'
import { ChainLookup, type Lookup } from './lookup.ts'
import { minedBlocks } from './mined-blocks.ts'
import { ChainProxies } from './proxies.ts'
import { ChainReplays, type Replays } from './replay.ts'
import { StateSimulations } from './simulate.ts'
import { StateBlockSimulations } from './simulate-blocks.ts'
import { StateStepSimulations } from './simulate-steps.ts'
import { StorageSearch } from './storage-range.ts'
import { ChainTokens } from './tokens.ts'
import { TraceSearch } from './trace-filter.ts'
import { createValueFields } from './value-field.ts'

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

/** What the queries are made of. */
interface Context extends QueryOptions, EngineParts {
  readonly lookup: Lookup
  readonly replays: Replays
  readonly headerOverrides: () => HeaderOverrides
}

/** Makes the queries of an engine: a record, of which callers may take single members. */
export function createQueries(parts: EngineParts, options: QueryOptions): Queries {
  const lookup = new ChainLookup({ ...parts, pending: parts.mining.pending })
  const headerOverrides = () => parts.blockOverrides.headerOverrides
  // The options have the constants of the network, and the parts those of this chain.
  const common = { ...options, ...parts, lookup, headerOverrides }
  const context: Context = { ...common, replays: new ChainReplays(common) }
  return {
    ...chainQueries(context),
    ...poolQueries(context),
    ...createAccountQueries(parts),
    ...simulationQueries(context),
    ...replayQueries(context),
    ...searchQueries(context),
    ...feeQueries(context),
    ...miningQueries(context),
  }
}

function chainQueries({ lookup, blockchain, blocks, config, trie, genesis, ...rest }: Context) {
  return {
    head: () => blockchain.head,
    block: async (reference) => lookup.block(reference),
    heightOf: (reference) => lookup.heightOf(reference),
    blocksAt: (height) => lookup.blocksAt(height),
    isCanonical: (hash) => blockchain.isCanonical(hash),
    state: (reference) => lookup.state(reference),
    transaction: (hash) => lookup.transaction(hash),
    receipt: (hash) => lookup.receipt(hash),
    uncle: (block, index) => block.uncles[index],
    async executed(block) {
      const known = blocks.get(headerHash(block.header, config))
      if (known === undefined) return (await rest.validateBlock(block)).block
      if (transactionsRoot(block.transactions) === block.header.transactionsRoot) return known
      throw new NodeError('invalid-block', 'transactionsRoot is not that of the transactions')
    },
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
  } satisfies Partial<Queries>
}

function poolQueries({ pool, headState }: Context) {
  return {
    pendingTransactions: () => pool.pending(),
    queuedTransactions: () => pool.queued(),
    pendingTransactionAt: (position) => pool.pendingAt(position),
    pooledOf: (sender) => pool.ofSender(sender),
    pooledAt: (sender, nonce) => pool.at(sender, nonce),
    poolSize: () => pool.size,
    accountQuota: (sender) => pool.quotaOf(sender),
    pendingNonce: (address) => pool.nextNonce(address, headState()),
  } satisfies Partial<Queries>
}

function simulationQueries(context: Context) {
  const { recordings, mining } = context
  const recorded = { ...context, vm: recordings.on(context.vm, 'calls') }
  const calls = new StateSimulations({ ...recorded, estimateVm: recordings.on(context.vm, 'estimates') })
  const blocks = new StateBlockSimulations({ ...recorded, pending: mining.pending })
  const sequences = new StateCallSequences(recorded)
  const steps = new StateStepSimulations(recorded)
  return {
    call: (...given) => calls.call(...given),
    estimateGas: (...given) => calls.estimateGas(...given),
    accessList: (...given) => calls.accessList(...given),
    traceCall: (...given) => calls.traceCall(...given),
    traceCalls: (...given) => calls.traceCalls(...given),
    traceSigned: (...given) => calls.traceSigned(...given),
    simulateBlocks: (simulation) => blocks.simulateBlocks(simulation),
    simulateSteps: (...given) => steps.simulateSteps(...given),
    callMany: (...given) => sequences.callMany(...given),
    callBundle: (...given) => sequences.callBundle(...given),
    ...createValueFields(context),
  } satisfies Partial<Queries>
}

function replayQueries(context: Context) {
  const { replays } = context
  const comparison = new RuleComparisons(context)
  const storage = new StorageSearch(context)
  return {
    replay: (...given) => replays.replay(...given),
    traces: (...given) => replays.traces(...given),
    trace: (...given) => replays.trace(...given),
    compareRules: (...given) => comparison.compareRules(...given),
    compareRuleSets: (...given) => comparison.compareRuleSets(...given),
    storageRange: (query) => storage.find(query),
  } satisfies Partial<Queries>
}

function searchQueries(context: Context) {
  const { blockchain, indexes, lookup } = context
  const minedTransaction: Lookup['minedTransaction'] = (hash) => lookup.minedTransaction(hash)
  const history = new ChainAccountHistory({ ...context, minedTransaction })
  const logs = new LogSearch(context)
  const blocksBetween: Queries['blocksBetween'] = (senders, receivers, { from, to }) =>
    indexes.withParticipants(
      senders,
      receivers,
      { from, to: Math.min(to, blockchain.head.block.header.number) },
      createEventLoopYield('query'),
    )
  const traces = new TraceSearch({ ...context, blocksBetween })
  const proxies = new ChainProxies(context)
  const tokens = new ChainTokens({ ...context, logs })
  return {
    transactionBySenderAndNonce: (...given) => history.transactionBySenderAndNonce(...given),
    contractOrigin: (contract) => history.contractOrigin(contract),
    accountTransactions: (query) => history.accountTransactions(query),
    logs: (query) => logs.find(query),
    walkLogs: (walk) => logs.walkLogs(walk),
    blocksBetween,
    traceFilter: (query) => traces.find(query),
    minedBlocks: (miner) => minedBlocks(context, miner),
    implementations: (...given) => proxies.implementations(...given),
    tokenTransfers: (query) => tokens.tokenTransfers(query),
    token: (...given) => tokens.token(...given),
    tokens: () => tokens.tokens(),
    tokenHolders: (address, moment) => tokens.tokenHolders(address, moment),
    tokenBalance: (...given) => tokens.tokenBalance(...given),
  } satisfies Partial<Queries>
}

function feeQueries(context: Context) {
  const fees = new Fees(context)
  const { blockOverrides, mining } = context
  return {
    gasPrice: () => fees.gasPrice(),
    feeHistory: createFeeHistory(context),
    hashrate() {
      const { own, network } = fees.hashrate(blockOverrides.coinbase)
      return { own: own + mining.hashrates.total(), network }
    },
  } satisfies Partial<Queries>
}

function miningQueries({ blockchain, clock, mining, blockOverrides }: Context) {
  return {
    nextTimestamp: () => clock.nextTimestamp(blockchain.head.block.header.timestamp),
    work: () => mining.works.current(),
    coinbase: () => blockOverrides.coinbase,
    isMining: () => mining.schedule.active,
  } satisfies Partial<Queries>
}
