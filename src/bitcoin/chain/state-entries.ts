/** A chain's state as entries of a key and a value each, as it is stored: blocks, the mempool, the best block. */
import { concat } from '../../encoding/bytes.ts'
import { HASH_BYTES } from '../../encoding/hash.ts'
import { ByteReader } from '../byte-reader.ts'
import { digitsOf, displayed, fromDigits } from '../displayed-hash.ts'
import { uint32, uint64 } from '../serialization.ts'
import { encodeTransaction, readTransaction } from '../transaction.ts'
import { type Block, blockHash, decodeBlock, encodeBlock, idOf, transactionSizes } from './block.ts'
import { connect, disconnect } from './connection.ts'
import { withEntry, withoutEntries } from './mempool.ts'
import {
  bestBlock,
  type ChainState,
  genesisState,
  isActive,
  knownBlock,
  type MempoolEntry,
  type StoredBlock,
  storedBlock,
} from './state.ts'

/** An entry; a change deletes it where the value is `undefined`. Keys are hex digits. */
export interface EntryChange {
  readonly key: string
  readonly value: Uint8Array | undefined
}

/** First digits of keys, by what the entry holds. */
const TABLE = { best: '00', block: '01', mempool: '02' } as const

const INVALID = 1
const CONNECTED = 2

function encodeStored({ arrival, isInvalid, wasConnected, block }: StoredBlock): Uint8Array {
  const flags = (isInvalid ? INVALID : 0) | (wasConnected ? CONNECTED : 0)
  return concat(uint32(arrival), Uint8Array.of(flags), encodeBlock(block))
}

function encodeEntry({ arrival, time, height, fee, checksCost, transaction }: MempoolEntry): Uint8Array {
  return concat(
    uint32(arrival),
    uint32(time),
    uint32(height),
    uint64(fee),
    uint32(checksCost),
    encodeTransaction(transaction),
  )
}

function decodeEntry(bytes: Uint8Array): MempoolEntry {
  const reader = new ByteReader(bytes)
  const [arrival, time, height] = [reader.uint32(), reader.uint32(), reader.uint32()]
  const [fee, checksCost] = [reader.int64(), reader.uint32()]
  const { transaction } = readTransaction(bytes.subarray(reader.position))
  const sizes = transactionSizes(transaction)
  return { id: idOf(transaction), transaction, fee, time, height, sizes, checksCost, arrival }
}

function encodeBest({ best, arrivals }: ChainState): Uint8Array {
  return concat(fromDigits(best), uint32(arrivals))
}

/** The changes that lead from one state to another. */
export function* entryChanges(before: ChainState, after: ChainState): Generator<EntryChange> {
  for (const { key, after: block } of before.blocks.differences(after.blocks)) {
    yield { key: TABLE.block + key, value: block && encodeStored(block) }
  }
  for (const { key, after: entry } of before.mempool.differences(after.mempool)) {
    yield { key: TABLE.mempool + key, value: entry && encodeEntry(entry) }
  }
  if (before.best !== after.best || before.arrivals !== after.arrivals)
    yield { key: TABLE.best, value: encodeBest(after) }
}

interface Loaded {
  readonly block: Block
  readonly arrival: number
  readonly flags: number
}

function decodeStored(bytes: Uint8Array): Loaded {
  const reader = new ByteReader(bytes)
  const [arrival, flags] = [reader.uint32(), reader.byte()]
  return { arrival, flags, block: decodeBlock(bytes.subarray(reader.position)) }
}

function withBlock(state: ChainState, { block, arrival, flags }: Loaded): ChainState {
  const parent = state.blocks.get(displayed(block.header.previous))
  // The first block is there from the start.
  if (parent === undefined) return state
  const plain = storedBlock(block, parent, arrival)
  const stored = { ...plain, isInvalid: (flags & INVALID) !== 0, wasConnected: (flags & CONNECTED) !== 0 }
  return {
    ...state,
    blocks: state.blocks.put(stored.hash, stored),
    tips: state.tips.delete(parent.hash).put(stored.hash, true),
  }
}

/** The state with a block that is known, or new behind a known one, as its entry has it. */
function withEntryOfBlock(state: ChainState, loaded: Loaded): ChainState {
  const known = state.blocks.get(blockHash(loaded.block))
  if (known === undefined) return withBlock(state, loaded)
  const { arrival, flags } = loaded
  const flagged = { isInvalid: (flags & INVALID) !== 0, wasConnected: (flags & CONNECTED) !== 0 }
  return { ...state, blocks: state.blocks.put(known.hash, { ...known, ...flagged, arrival }) }
}

/** The state with this block as the best: all from the first to it are connected again, without running scripts. */
function connectedTo(state: ChainState, hash: string): ChainState {
  const path: StoredBlock[] = []
  let block = knownBlock(state, hash)
  while (!isActive(state, block)) {
    path.unshift(block)
    block = knownBlock(state, block.parent)
  }
  let next = state
  while (bestBlock(next).hash !== block.hash) next = disconnect(next)
  return path.reduce((chain, one) => connect(chain, one, () => true), next)
}

/** The state of stored entries; keys that are not its own are left out. Throws a RangeError for damaged ones. */
export function stateOfEntries(entries: Iterable<readonly [string, Uint8Array]>): ChainState {
  const blocks: Loaded[] = []
  const mempool: MempoolEntry[] = []
  let best: ByteReader | undefined
  for (const [key, value] of entries) {
    const table = key.slice(0, 2)
    if (table === TABLE.block) blocks.push(decodeStored(value))
    else if (table === TABLE.mempool) mempool.push(decodeEntry(value))
    else if (table === TABLE.best) best = new ByteReader(value)
  }
  const known = blocks.toSorted((a, b) => a.arrival - b.arrival).reduce(withBlock, genesisState())
  if (best === undefined) return known
  const hash = digitsOf(best.bytes(HASH_BYTES))
  const arrivals = best.uint32()
  const connected = connectedTo(known, hash)
  return { ...mempool.reduce(withEntry, connected), arrivals }
}

/**
 * The state after changes of stored entries; `undefined` where they take blocks away, and all entries have to be read. Keys
 * that are not its own are left out. Throws a RangeError for damaged entries.
 */
export function stateAfterChanges(
  before: ChainState,
  changes: readonly EntryChange[],
): ChainState | undefined {
  const blocks: Loaded[] = []
  const mempool = new Map([...before.mempool.entries()])
  let best: ByteReader | undefined
  for (const { key, value } of changes) {
    const [table, rest] = [key.slice(0, 2), key.slice(2)]
    if (table === TABLE.block) {
      if (value === undefined) return undefined
      blocks.push(decodeStored(value))
    } else if (table === TABLE.mempool) {
      if (value === undefined) mempool.delete(rest)
      else mempool.set(rest, decodeEntry(value))
    } else if (table === TABLE.best && value !== undefined) best = new ByteReader(value)
  }
  const bare = withoutEntries(before, [...before.mempool.values()])
  const known = blocks.toSorted((a, b) => a.arrival - b.arrival).reduce(withEntryOfBlock, bare)
  const connected = best === undefined ? known : connectedTo(known, digitsOf(best.bytes(HASH_BYTES)))
  const next = [...mempool.values()].reduce(withEntry, connected)
  return { ...next, arrivals: best === undefined ? before.arrivals : best.uint32() }
}
