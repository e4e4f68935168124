/** The storage of a contract between two transactions of a block, slot by slot in the order of geth's storage trie. */
import type { ExecutedBlock } from '../../chain/block.ts'
import { fromBigIntFixed } from '../../encoding/bytes.ts'
import { keccakHex } from '../../encoding/hash.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams, NodeError } from '../../errors.ts'
import type { Overlay } from '../../state/overlay.ts'
import { cellWord } from '../../state/state-keys.ts'
import type { Chain } from '../blockchain/chain.ts'
import type { BlockReference } from '../model.ts'
import type { Lookup } from './lookup.ts'
import type { Replays } from './replay.ts'

/** Selects slots of a contract. */
export interface StorageQuery {
  readonly block: BlockReference
  /** The number of the block's transactions that have run. */
  readonly index: number
  readonly contract: Hex
  /** Keccak-256 of the first slot, or a number below it: 32 bytes. */
  readonly start: Hex
  /** Slots at most. */
  readonly count: number
  /** Milliseconds of wall clock; 0 is no limit. */
  readonly timeoutMs: number
}

/** A slot that holds a word other than 0. */
export interface StorageCell {
  /** Keccak-256 of the slot as 32 bytes. */
  readonly hash: Hex
  readonly slot: bigint
  readonly value: bigint
}

/** Slots in the order of their hashes. */
export interface StorageRange {
  readonly cells: readonly StorageCell[]
  /** Hash of the slot after the last one; `undefined` when there is none. */
  readonly next: Hex | undefined
}

interface Parts extends Pick<Chain, 'blocks' | 'trie'> {
  readonly lookup: Pick<Lookup, 'block'>
  readonly replays: Pick<Replays, 'replay'>
}

function cellOf(slot: bigint, value: bigint): StorageCell {
  return { hash: keccakHex(fromBigIntFixed(slot, 32)), slot, value }
}

/** Two lists in the order of hashes as one. */
function* merged(
  first: Iterable<StorageCell>,
  second: readonly StorageCell[],
): Generator<StorageCell, undefined> {
  let at = 0
  for (const cell of first) {
    for (let other = second[at]; other !== undefined && other.hash < cell.hash; other = second[++at])
      yield other
    yield cell
  }
  yield* second.slice(at)
}

type StorageChanges =
  ReturnType<Overlay['changes']>['storage'] extends ReadonlyMap<Hex, infer Changes> ? Changes : never

/** Reads the storage of contracts between the transactions of a chain's blocks. */
export class StorageSearch {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * The slots from a hash on; `undefined` when there is no such block. Throws `invalid-params` beyond the transactions of
   * the block, and as `Replays.replay` does.
   */
  async find(query: StorageQuery): Promise<StorageRange | undefined> {
    const executed = (await this.#parts.lookup.block(query.block))?.executed
    if (executed === undefined) return undefined
    const { header, transactions } = executed.block
    if (query.index > transactions.length) {
      throw invalidParams(`transaction index ${query.index} out of range for block ${executed.hash}`)
    }
    const parent = header.number === 0 ? executed : this.#parts.blocks.get(header.parentHash)
    if (parent === undefined) {
      throw new NodeError('block-not-found', `State not found for block with hash ${header.parentHash}`)
    }
    const isAfter = query.index === transactions.length
    const changes = query.index === 0 || isAfter ? undefined : await this.#changesOf(executed, query)
    const root = (isAfter ? executed : parent).postState
    const cells: StorageCell[] = []
    for (const cell of merged(this.#unchanged(root, changes, query), changedCells(changes, query))) {
      if (cells.length === query.count) return { cells, next: cell.hash }
      cells.push(cell)
    }
    return { cells, next: undefined }
  }

  /** What the first transactions of a block changed of the contract's storage. */
  async #changesOf(
    executed: ExecutedBlock,
    { index, contract, timeoutMs }: StorageQuery,
  ): Promise<StorageChanges | undefined> {
    const limits = { lastIndex: index - 1, timeoutMs }
    const { state } = await this.#parts.replays.replay(executed, () => undefined, limits)
    return state.changes().storage.get(contract)
  }

  /** The cells of a state that were not changed since, in the order of their hashes. */
  *#unchanged(
    root: Hex,
    changes: StorageChanges | undefined,
    { contract, start }: StorageQuery,
  ): Generator<StorageCell> {
    if (changes?.wiped === true) return
    for (const [slot, value] of this.#parts.trie.cellsFrom(root, contract, start)) {
      if (changes?.slots.has(slot)) continue
      const cell = cellOf(slot, cellWord(value))
      // The trie's keys hold ten bytes of the hash only.
      if (cell.hash >= start) yield cell
    }
  }
}

function changedCells(changes: StorageChanges | undefined, { start }: StorageQuery): StorageCell[] {
  return [...(changes?.slots ?? [])]
    .map(([slot, value]) => cellOf(slot, cellWord(value)))
    .filter(({ value, hash }) => value !== 0n && hash >= start)
    .sort((a, b) => (a.hash < b.hash ? -1 : 1))
}
