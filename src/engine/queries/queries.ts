/** All that can be asked of chain, pool and mining, put together of the parts that know. */
import type { Genesis } from '../../chain/genesis.ts'
import { invalidParams } from '../../errors.ts'
import type { Vm } from '../../evm/vm.ts'
import type { Logger } from '../../logger.ts'
import type { StateTrie } from '../../state/state-trie.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import type { BlockOverrides } from '../dev/block-overrides.ts'
import type { Queries } from '../engine.ts'
import type { ErrorNames } from '../error-names.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { Emitter, EngineEvents } from '../events.ts'
import { participantClauses } from '../index/participants.ts'
import type { SectionIndex } from '../index/section-index.ts'
import type { Hashrates } from '../mining/hashrates.ts'
import type { Schedule } from '../mining/schedule.ts'
import type { Works } from '../mining/work.ts'
import type { Pool } from '../pool/pool.ts'
import { createComparison } from './comparison.ts'
import { createFeeHistory } from './fee-history.ts'
import { createFees } from './fees.ts'
import { createLogs } from './logs.ts'
import type { Lookup } from './lookup.ts'
import { createReplays } from './replay.ts'
import { createSimulate } from './simulate.ts'
import { createTraceFilter } from './trace-filter.ts'

interface Parts extends ChainAccess {
  readonly genesis: Genesis
  readonly trie: StateTrie
  readonly vm: Vm
  readonly lookup: Lookup
  readonly pool: Pool
  readonly blockOverrides: BlockOverrides
  readonly works: Works
  readonly hashrates: Hashrates
  readonly schedule: Schedule
  readonly logIndex: SectionIndex
  readonly participantIndex: SectionIndex
  readonly named: ErrorNames
  readonly events: Emitter<EngineEvents>
  readonly logger: Logger
  /** Wall clock, Unix seconds. */
  readonly now: () => number
  /** Gas. */
  readonly callGasCap: bigint
  readonly gasEstimationCap: bigint
  readonly strictCalls: boolean
  /** Milliseconds that a simulation or a replay may take which comes without a limit of its own; 0 is no limit. */
  readonly timeoutMs: number
  /** Bytes that one trace may take. */
  readonly maxTraceBytes: number
}

/** Makes the queries of an engine. */
export function createQueries(parts: Parts): Queries {
  const { blockchain, genesis, trie, lookup, pool, blockOverrides, works, hashrates, schedule } = parts
  const asked = () => blockOverrides.asked
  const fees = createFees({ ...parts, asked })
  const replays = createReplays(parts)
  const simulate = createSimulate({ ...parts, asked })

  const blocksBetween: Queries['blocksBetween'] = (senders, receivers, { from, to }) =>
    parts.participantIndex.candidates(
      participantClauses(senders, receivers),
      from,
      Math.min(to, blockchain.head.block.header.number),
      createEventLoopYield('query'),
    )

  return {
    head: () => blockchain.head,
    block: lookup.block,
    blocksAt: lookup.blocksAt,
    isCanonical: (hash) => blockchain.isCanonical(hash),
    state: lookup.state,
    transaction: lookup.transaction,
    receipt: lookup.receipt,
    uncle: (block, index) => block.uncles[index],
    pendingTransactions: () => pool.pending(),
    queuedTransactions: () => pool.queued(),
    poolSize: () => pool.size,
    accountQuota: (sender) => pool.quotaOf(sender),
    pendingNonce: (address) => pool.nextNonce(address, lookup.stateAfter(blockchain.head)),
    call: simulate.call,
    estimateGas: simulate.estimateGas,
    accessList: simulate.accessList,
    traceCall: simulate.traceCall,
    ...replays,
    compareRules: createComparison({ ...parts, replays }),
    logs: createLogs(parts),
    blocksBetween,
    traceFilter: createTraceFilter({ ...parts, replays, blocksBetween, block: lookup.block }),
    async proof(address, slots, reference) {
      const view = await lookup.block(reference)
      if (view === undefined) return undefined
      const { executed } = view
      if (executed.block.header.number === 0 && genesis.hasHistoricalRoot) {
        throw invalidParams(
          'block: this genesis carries the historical state root of its network, which is of an older format than the state',
        )
      }
      if (view.pending) throw invalidParams('block: a pending block has no state to prove against')
      return { address, ...trie.prove(executed.postState, address, slots) }
    },
    gasPrice: fees.gasPrice,
    feeHistory: createFeeHistory(parts),
    hashrate() {
      const { own, network } = fees.hashrate(blockOverrides.coinbase)
      return { own: own + hashrates.total(), network }
    },
    work: () => works.current(),
    coinbase: () => blockOverrides.coinbase,
    isMining: () => schedule.active,
  }
}
