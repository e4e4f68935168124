/** The storage of a contract between two transactions of a block, slot by slot in the order of geth's storage trie. */
import { fromBigIntFixed } from '../../encoding/bytes.ts'
import { keccakHex } from '../../encoding/hash.ts'
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
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
  /** Hash of the slot behind the last one; `undefined` when there is none. */
  readonly next: Hex | undefined
}

interface Parts extends Pick<Chain, 'blocks' | 'trie'> {
  readonly block: Lookup['block']
  readonly replay: Replays['replay']
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

/**
 * Makes the query; `undefined` when there is no such block. Throws `invalid-params` beyond the transactions of the block,
 * and as `Replays.replay` does.
 */
export function createStorageRange({
  blocks,
  trie,
  block,
  replay,
}: Parts): (query: StorageQuery) => Promise<StorageRange | undefined> {
  return async function storageRange({ block: reference, index, contract, start, count, timeoutMs }) {
    const executed = (await block(reference))?.executed
    if (executed === undefined) return undefined
    const { header, transactions } = executed.block
    if (index > transactions.length) {
      throw new NodeError(
        'invalid-params',
        `transaction index ${index} out of range for block ${executed.hash}`,
      )
    }
    const parent = header.number === 0 ? executed : blocks.get(header.parentHash)
    if (parent === undefined) {
      throw new NodeError('block-not-found', `State not found for block with hash ${header.parentHash}`)
    }
    const isAfter = index === transactions.length
    const changes =
      index === 0 || isAfter
        ? undefined
        : (await replay(executed, () => undefined, { lastIndex: index - 1, timeoutMs })).state
            .changes()
            .storage.get(contract)
    const root = (isAfter ? executed : parent).postState
    const cells: StorageCell[] = []
    for (const cell of merged(below(root), above())) {
      if (cells.length === count) return { cells, next: cell.hash }
      cells.push(cell)
    }
    return { cells, next: undefined }

    function* below(root: Hex): Generator<StorageCell> {
      if (changes?.wiped === true) return
      for (const [slot, value] of trie.cellsFrom(root, contract, start)) {
        if (changes?.slots.has(slot)) continue
        const cell = cellOf(slot, cellWord(value))
        // The trie's keys hold ten bytes of the hash only.
        if (cell.hash >= start) yield cell
      }
    }

    function above(): StorageCell[] {
      return [...(changes?.slots ?? [])]
        .map(([slot, value]) => cellOf(slot, cellWord(value)))
        .filter(({ value, hash }) => value !== 0n && hash >= start)
        .sort((a, b) => (a.hash < b.hash ? -1 : 1))
    }
  }
}
