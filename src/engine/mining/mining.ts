/** Block production of a node: the pending block, mining work, the local miner, its schedule, and branches for `evm_reorg`. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Transaction } from '../../chain/transaction.ts'
import { encodeRlp } from '../../encoding/rlp.ts'
import type { Logger } from '../../logger.ts'
import { afterDelays, type OnDemand, runOnce } from '../../state/fork/demand.ts'
import type { StateReader } from '../../state/model.ts'
import type { BlockReader } from '../blockchain/ancestry.ts'
import type { Chain } from '../blockchain/chain.ts'
import type { Clock } from '../clock.ts'
import type { BlockOverrides } from '../dev/block-overrides.ts'
import type { MineRequest, MiningMode } from '../model.ts'
import type { ParentChain } from '../parent-chain.ts'
import { type Candidates, inOrder } from '../pool/order.ts'
import type { Pool } from '../pool/pool.ts'
import { BranchBuilder } from './branch-builder.ts'
import { BlockBuilder, type BuildRequest, type BuiltBlock } from './builder.ts'
import { createHashrates, type Hashrates } from './hashrates.ts'
import { createMiner, type Miner } from './miner.ts'
import { createPending, type Pending } from './pending.ts'
import { createSchedule, type IntervalTimer, type Schedule } from './schedule.ts'
import { type Solutions, SolutionVerifier } from './solution.ts'
import { CachedWorks, type Works } from './work.ts'

/** Block production. */
export interface Mining {
  readonly pending: Pick<Pending, 'current'>
  readonly works: Omit<Works, 'discard'>
  readonly solutions: Solutions
  readonly hashrates: Hashrates
  readonly schedule: Schedule
  /**
   * Builds a block on a parent from the pool's transactions, without proof of work, for a command in the queue; `timestamp`
   * in Unix seconds, `choose` as in `MineRequest`. On a fork throws `UpstreamDelay` instead of waiting for long.
   */
  build(parent: ExecutedBlock, timestamp: number, choose?: MineRequest['choose']): Promise<BuiltBlock>
  /** Completes a built block with a proof of work. */
  readonly mine: Miner
  /** Builds blocks from another pool, and completes them, on a branch that is not written yet. */
  onBranch(pool: Pool, branch: BlockReader): Pick<Mining, 'build' | 'mine'>
  /** See `BranchBuilder.build`. */
  readonly buildBranch: BranchBuilder['build']
  /** Discards the pending block and the current work: head, pool, clock or block overrides changed. */
  discardPending(): void
}

/** What block production needs of the node. */
export interface MiningParts extends Chain {
  readonly pool: Pool
  readonly clock: Clock
  readonly blockOverrides: BlockOverrides
  readonly logger: Logger
  /** Wall clock, Unix seconds. */
  readonly now: () => number
  /** Proves the blocks mined here, where the node runs one. */
  readonly parentChain?: ParentChain | undefined
  /** Mining mode of the schedule once it is started. */
  readonly mode: MiningMode
  /** Client name in the extra data of blocks mined here, for example `TANDEM-0.1.0`. */
  readonly signature: string
  /** Minimum time between two submissions of work, milliseconds; 0 is no limit. */
  readonly workRateLimitMs: number
  /** Mines a block when the schedule's timer fires. */
  readonly onTick: () => Promise<void>
  /** Ends the intervals of the schedule; a timer of Node.js unless given. */
  readonly timer?: IntervalTimer | undefined
  /** Whether the node is closing, which ends a running search for a proof of work. */
  readonly isClosing: () => boolean
}

/** Makes the block production of a node; its schedule is stopped. */
export function createMining(parts: MiningParts): Mining {
  const { config, blockchain, clock, blockOverrides, logger, now, fork } = parts
  const extraData = encodeRlp([Uint8Array.of(1), new TextEncoder().encode(parts.signature)])
  const inQueue: OnDemand = fork?.demand.runQueued ?? runOnce
  const builder = new BlockBuilder(parts)
  const build = (request: BuildRequest) =>
    builder.build({ ...request, headerOverrides: blockOverrides.headerOverrides })
  const buildFromPool = poolBuild(parts, build)
  const buildNext = (data: Uint8Array) =>
    afterDelays(async () => {
      const { head } = blockchain
      return buildFromPool(head, clock.nextTimestamp(head.block.header.timestamp), data, parts.onDemand)
    })
  const pending = createPending(config, buildNext, fork !== undefined)
  const works = new CachedWorks({ ...parts, build: () => buildNext(extraData) })
  const mine = createMiner(parts, parts.isClosing, parts.parentChain)
  const coinbase = () => blockOverrides.coinbase
  const branches = new BranchBuilder({ ...parts, onDemand: inQueue, coinbase, extraData, build, mine })
  const elapsed = () => performance.now()
  const { workRateLimitMs: rateLimitMs } = parts
  return {
    pending,
    works,
    solutions: new SolutionVerifier({ ...parts, works, logger, now, elapsed, rateLimitMs }),
    hashrates: createHashrates(now),
    schedule: createSchedule(parts.mode, parts.onTick, parts.timer),
    build: (parent, timestamp, choose) => buildFromPool(parent, timestamp, extraData, inQueue, choose),
    mine,
    onBranch(pool, branch) {
      const buildOn = poolBuild({ ...parts, pool }, (request) => build({ ...request, branch }))
      return {
        build: (parent, timestamp, choose) => buildOn(parent, timestamp, extraData, inQueue, choose),
        mine: (built) => mine(built, branch),
      }
    },
    buildBranch: (...given) => branches.build(...given),
    discardPending() {
      pending.discard()
      works.discard()
    },
  }
}

/** Builds a block from the pool's transactions; `timestamp` in Unix seconds. */
type PoolBuild = (
  parent: ExecutedBlock,
  timestamp: number,
  extraData: Uint8Array,
  onDemand: OnDemand,
  choose?: MineRequest['choose'],
) => Promise<BuiltBlock>

function poolBuild(
  { fork, pool, stateAfter, blockOverrides }: MiningParts,
  build: (request: BuildRequest) => Promise<BuiltBlock>,
): PoolBuild {
  return (parent, timestamp, extraData, onDemand, choose) =>
    onDemand(
      async () => {
        if (fork !== undefined) readAccounts(stateAfter(parent), pool.pending())
        const { coinbase } = blockOverrides
        const candidates = chosen(pool.candidates(), choose)
        return build({ parent, timestamp, coinbase, extraData, candidates })
      },
      () => pool.pendingAt(0),
    )
}

/** The candidates that a request chooses. */
function chosen(candidates: Candidates, choose: MineRequest['choose']): Candidates {
  if (choose === undefined) return candidates
  const all: Transaction[] = []
  for (let next = candidates.next(); next !== undefined; next = candidates.next()) all.push(next)
  return inOrder(choose(all))
}

/** Transactions whose accounts are read before a block is built. */
const MAX_READ_AHEAD = 500

/** Reads senders and receivers of transactions, so that a fork fetches them together. */
function readAccounts(state: StateReader, transactions: readonly Transaction[]): void {
  for (const { from, to } of transactions.slice(0, MAX_READ_AHEAD)) {
    state.account(from)
    if (to !== null) state.account(to)
  }
}
