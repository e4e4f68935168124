/** The parts of a running engine that commands, queries and development tools share. Listed here only. */
import type { Genesis } from '../chain/genesis.ts'
import type { Logger } from '../logger.ts'
import type { Chain } from './blockchain/chain.ts'
import type { ChainWriter } from './blockchain/chain-writer.ts'
import type { Clock } from './clock.ts'
import type { BlockOverrides } from './dev/block-overrides.ts'
import type { Impersonation } from './dev/impersonation.ts'
import type { Emitter } from './events.ts'
import type { ChainIndexes } from './index/chain-indexes.ts'
import type { Mining } from './mining/mining.ts'
import type { EngineEvents } from './model.ts'
import type { ParentChain } from './parent-chain.ts'
import type { PersistedPool } from './pool/persisted-pool.ts'
import type { Pool } from './pool/pool.ts'
import type { RandomBytes } from './randomness.ts'
import type { CallTrees } from './recording/call-trees.ts'
import type { Recordings } from './recording/recordings.ts'
import type { NameFailure } from './transaction-notes.ts'
import type { Wallet } from './wallet/wallet.ts'

/** The parts, `Chain`'s members among them. */
export interface EngineParts extends Chain {
  readonly genesis: Genesis
  readonly logger: Logger
  /** Wall clock, Unix seconds. */
  readonly now: () => number
  readonly random: RandomBytes
  readonly events: Emitter<EngineEvents>
  readonly accounts: Wallet
  readonly nameFailure: NameFailure
  readonly clock: Clock
  readonly blockOverrides: BlockOverrides
  readonly impersonation: Impersonation
  readonly indexes: ChainIndexes
  readonly pool: Pool
  readonly persistedPool: PersistedPool
  readonly mining: Mining
  readonly chainWriter: ChainWriter
  readonly callTrees: CallTrees
  readonly recordings: Recordings
  /** A parent chain in the node; absent where it is elsewhere. */
  readonly parentChain: ParentChain | undefined
}
