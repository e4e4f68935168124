/** All that a node knows of its chain, as maps that changes leave as they were. */
import type { Transaction } from '../transaction.ts'
import { type Block, blockHash, blockSizes, decodeBlock, idOf, type Sizes } from './block.ts'
import type { Coin } from './coin.ts'
import { workOf } from './header.ts'
import { PersistentMap } from './persistent-map.ts'
import { GENESIS_BLOCK } from './regtest.ts'

/** A block with what the chain adds to it. */
export interface StoredBlock {
  /** Text of its hash. */
  readonly hash: string
  /** Text of its parent's; empty for the first block. */
  readonly parent: string
  readonly block: Block
  readonly height: number
  /** Of all blocks up to this one. */
  readonly work: bigint
  /** Counts blocks in the order in which they came. */
  readonly arrival: number
  /** Transactions up to this block, its own included. */
  readonly transactionCount: number
  readonly sizes: Sizes
  /** Texts of the hashes of its transactions, in order. */
  readonly ids: readonly string[]
  /** Is it, or an ancestor, known to be invalid, or declared to be so? */
  readonly isInvalid: boolean
  /** Was it part of the best chain once, so that its scripts are known to be good? */
  readonly wasConnected: boolean
  /** The coins that its transactions spent, in order; empty while it was never connected. */
  readonly undo: readonly Coin[]
}

/** A transaction that waits for a block. */
export interface MempoolEntry {
  readonly id: string
  readonly transaction: Transaction
  /** Satoshi. */
  readonly fee: bigint
  /** Seconds since 1970. */
  readonly time: number
  /** Of the best block when it came. */
  readonly height: number
  readonly sizes: Sizes
  /** Cost of its signature checks. */
  readonly checksCost: number
  /** Counts entries in the order in which they came. */
  readonly arrival: number
}

/** Where a transaction is. */
export interface Place {
  readonly block: string
  readonly position: number
}

/** The state. Maps by text of a hash unless stated otherwise. */
export interface ChainState {
  readonly blocks: PersistentMap<StoredBlock>
  /** Blocks without children. */
  readonly tips: PersistentMap<true>
  /** Hashes of the best chain, by `heightKey`. */
  readonly active: PersistentMap<string>
  /** Of transactions in the best chain. */
  readonly places: PersistentMap<Place>
  /** By `outputKey`. */
  readonly coins: PersistentMap<Coin>
  /** Coins by script: `scriptKey` and `outputKey`. */
  readonly coinsOfScripts: PersistentMap<true>
  /** Transactions of the best chain by script: `scriptKey`, `heightKey` and position in eight digits. */
  readonly history: PersistentMap<string>
  readonly mempool: PersistentMap<MempoolEntry>
  /** Transactions of the mempool by the outputs that they spend. */
  readonly spenders: PersistentMap<string>
  /** Hash of the best block. */
  readonly best: string
  /** Blocks and entries of the mempool that have come so far. */
  readonly arrivals: number
}

/** Eight digits, so that keys sort as numbers do. */
export function heightKey(height: number): string {
  return height.toString(16).padStart(8, '0')
}

/** A block as it comes, on a parent (absent for the first block). */
export function storedBlock(block: Block, parent: StoredBlock | undefined, arrival: number): StoredBlock {
  return {
    hash: blockHash(block),
    parent: parent?.hash ?? '',
    block,
    height: parent === undefined ? 0 : parent.height + 1,
    work: (parent?.work ?? 0n) + workOf(block.header.bits),
    arrival,
    transactionCount: (parent?.transactionCount ?? 0) + block.transactions.length,
    sizes: blockSizes(block),
    ids: block.transactions.map(idOf),
    isInvalid: false,
    wasConnected: false,
    undo: [],
  }
}

function emptyState(best: string): ChainState {
  return {
    blocks: PersistentMap.empty(),
    tips: PersistentMap.empty(),
    active: PersistentMap.empty(),
    places: PersistentMap.empty(),
    coins: PersistentMap.empty(),
    coinsOfScripts: PersistentMap.empty(),
    history: PersistentMap.empty(),
    mempool: PersistentMap.empty(),
    spenders: PersistentMap.empty(),
    best,
    arrivals: 1,
  }
}

/** The chain with its first block only, whose output can never be spent. */
export function genesisState(): ChainState {
  const first = { ...storedBlock(decodeBlock(GENESIS_BLOCK), undefined, 0), wasConnected: true }
  const state = emptyState(first.hash)
  return {
    ...state,
    blocks: state.blocks.put(first.hash, first),
    tips: state.tips.put(first.hash, true),
    active: state.active.put(heightKey(0), first.hash),
    places: first.ids.reduce(
      (places, id, position) => places.put(id, { block: first.hash, position }),
      state.places,
    ),
  }
}

/** A block that must be known: of the best chain, or an ancestor of one that is known. */
export function knownBlock(state: ChainState, hash: string): StoredBlock {
  const block = state.blocks.get(hash)
  if (block === undefined) throw new Error(`The chain has no block ${hash}.`)
  return block
}

/** The best block. */
export function bestBlock(state: ChainState): StoredBlock {
  return knownBlock(state, state.best)
}

/** The block of the best chain at a height; `undefined` above its end. */
export function blockAt(state: ChainState, height: number): StoredBlock | undefined {
  const hash = height < 0 ? undefined : state.active.get(heightKey(height))
  return hash === undefined ? undefined : knownBlock(state, hash)
}

/** Is the block on the best chain? */
export function isActive(state: ChainState, { hash, height }: StoredBlock): boolean {
  return state.active.get(heightKey(height)) === hash
}

const MEDIAN_BLOCKS = 11

/** Median of the times of a block and its ten ancestors. */
export function medianTime(state: ChainState, block: StoredBlock): number {
  const times: number[] = []
  let current: StoredBlock | undefined = block
  while (current !== undefined && times.length < MEDIAN_BLOCKS) {
    times.push(current.block.header.time)
    current = state.blocks.get(current.parent)
  }
  times.sort((a, b) => a - b)
  return times[times.length >> 1] ?? 0
}

/** The ancestor of a block at a height, the block itself included. */
export function ancestorAt(state: ChainState, block: StoredBlock, height: number): StoredBlock {
  if (isActive(state, block)) return blockAt(state, height) ?? block
  let current = block
  while (current.height > height) current = knownBlock(state, current.parent)
  return current
}
