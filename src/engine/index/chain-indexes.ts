/** The indexes of the canonical chain: blocks by the bloom bits of their logs, by the participants of their transactions, and by their miners. */
import { bloomBits } from '../../chain/bloom.ts'
import type { TopicFilter } from '../../chain/log-filter.ts'
import { contractAddress, type Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Logger } from '../../logger.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { Store } from '../../store/level.ts'
import { indexTables } from '../../store/tables.ts'
import type { Blockchain } from '../blockchain/blockchain.ts'
import type { EventLoopYield } from '../event-loop.ts'
import type { ChainUpdate, HeightChunks } from '../model.ts'
import type { Clauses, Mark } from './section.ts'
import { type IndexedBlock, SectionIndex } from './section-index.ts'

/** Heights from `from` to `to`, both included; `to` is not above the head. */
interface HeightRange {
  readonly from: number
  readonly to: number
}

/**
 * The indexes. A query yields heights as `SectionIndex.candidates` does: a caller that yields to the event loop in
 * between checks whether the chain has changed. False positives are possible, false negatives are not.
 */
export interface ChainIndexes {
  /** Blocks that may hold a log of one of the addresses (an empty list matches all) with the topics. */
  withLogs(
    addresses: readonly Hex[],
    topics: TopicFilter,
    range: HeightRange,
    yieldIfDue: EventLoopYield,
  ): HeightChunks
  /**
   * Blocks that may hold a transaction from one of `senders` and one to one of `receivers`; an empty list matches all.
   * The receiver of a creation is the created contract.
   */
  withParticipants(
    senders: readonly Hex[],
    receivers: readonly Hex[],
    range: HeightRange,
    yieldIfDue: EventLoopYield,
  ): HeightChunks
  /** Blocks that may have been mined by an account. */
  minedBy(miner: Hex, range: HeightRange, yieldIfDue: EventLoopYield): HeightChunks
  /** Applies a chain update. */
  follow(update: ChainUpdate): void
}

interface Parts {
  readonly blockchain: Blockchain
  readonly blocks: BlockStore
  readonly store: Store
  readonly logger: Logger
}

/** Makes the indexes of a chain. Opening one reads nothing: what is missing is built on demand. */
export function createChainIndexes({ blockchain, blocks, store, logger }: Parts): ChainIndexes {
  const { logSections, participantSections, minerSections } = indexTables(store)
  const logs = new SectionIndex({
    blockchain,
    store,
    logger,
    bounds: blocks,
    table: logSections,
    contents: markLogs,
  })
  const participants = new SectionIndex({
    blockchain,
    store,
    logger,
    bounds: blocks,
    table: participantSections,
    contents: participantMarker((hash) => blocks.get(hash)?.block.transactions ?? []),
  })
  const miners = new SectionIndex({
    blockchain,
    store,
    logger,
    bounds: blocks,
    table: minerSections,
    contents: markMiner,
  })
  return {
    withLogs: (addresses, topics, { from, to }, yieldIfDue) =>
      logs.candidates(logClauses(addresses, topics), from, to, yieldIfDue),
    withParticipants: (senders, receivers, { from, to }, yieldIfDue) =>
      participants.candidates(participantClauses(senders, receivers), from, to, yieldIfDue),
    minedBy: (miner, { from, to }, yieldIfDue) =>
      miners.candidates([[[fingerprint(miner)]]], from, to, yieldIfDue),
    follow(update) {
      logs.follow(update)
      miners.follow(update)
      participants.follow(update)
    },
  }
}

/** The term of every block that has logs; the terms below are the 2048 bits of the bloom. */
const ANY_LOG = 2048

/** Marks the set bits of a block's bloom. */
export function markLogs({ header: { logsBloom } }: IndexedBlock, mark: Mark): void {
  let any = false
  for (let at = 0; at < logsBloom.length; at++) {
    const byte = logsBloom[at] ?? 0
    if (byte === 0) continue
    any = true
    const lowest = (logsBloom.length - 1 - at) * 8
    for (let bit = 0; bit < 8; bit++) if ((byte >> bit) & 1) mark(lowest + bit)
  }
  if (any) mark(ANY_LOG)
}

function logClauses(addresses: readonly Hex[], topics: TopicFilter): Clauses {
  const wanted = [addresses, ...topics.map((items) => items ?? [])].filter((items) => items.length > 0)
  if (wanted.length === 0) return [[[ANY_LOG]]]
  return wanted.map((items) => items.map(bloomBits))
}

/** Added to the terms of receivers; those of senders lie below. */
const RECEIVER = 0x1_0000

/** The last two bytes of an address: collisions give false positives, which the query filters out. */
function fingerprint(address: Hex): number {
  return Number.parseInt(address.slice(-4), 16)
}

/** Marks the miner of a block. */
export function markMiner({ header: { coinbase } }: IndexedBlock, mark: Mark): void {
  mark(fingerprint(coinbase))
}

/** Marks senders and receivers of a block's transactions; the receiver of a creation is the created contract. */
export function participantMarker(
  transactionsOf: (hash: Hex) => readonly Transaction[],
): (block: IndexedBlock, mark: Mark) => void {
  return ({ hash }, mark) => {
    for (const { from, to, nonce } of transactionsOf(hash)) {
      mark(fingerprint(from))
      mark(RECEIVER | fingerprint(to ?? contractAddress(from, nonce)))
    }
  }
}

function participantClauses(senders: readonly Hex[], receivers: readonly Hex[]): Clauses {
  const clauses = [
    senders.map((address) => [fingerprint(address)]),
    receivers.map((address) => [RECEIVER | fingerprint(address)]),
  ]
  return clauses.filter((items) => items.length > 0)
}
