/** Checks the end of a stored chain when it is opened: damage there must not be found later, by a caller. */

import { EMPTY_TRIE_ROOT } from '../../chain/account.ts'
import type { ExecutedBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import { headerHash } from '../../chain/header.ts'
import type { Hex } from '../../encoding/hex.ts'
import { messageOf } from '../../errors.ts'
import type { BlockStore } from '../../store/block-store.ts'
import { DamagedError, UnreadableError } from '../../store/damage.ts'
import type { Store } from '../../store/level.ts'
import { stateTables } from '../../store/tables.ts'

interface Parts {
  readonly store: Store
  readonly blocks: BlockStore
  readonly config: ChainConfig
  /** Where the database is, for error messages. */
  readonly place: string
  /** Is it a fork, whose upstream has the state that it did not change? */
  readonly isFork: boolean
}

/**
 * Reads the head, the root of the state after it, and the blocks below it down to the head of the last checkpoint: those
 * above came from the log. Throws `database` naming the block that is not whole.
 */
export function checkStoredEnd(parts: Parts): void {
  const { store, blocks, place, isFork } = parts
  const { lastHead } = store
  if (lastHead === undefined) return
  let hash = blocks.head()
  if (hash === undefined) throw new DamagedError(place, 'it has no head')
  let block = wholeBlock(hash, parts)
  const { postState } = block
  const isStored = postState === EMPTY_TRIE_ROOT || stateTables(store).nodes.get(postState) !== undefined
  if (!isStored && !isFork)
    throw new DamagedError(place, `the root ${postState} of the state after its head is missing`)
  while (block.block.header.number > Math.max(lastHead.number, blocks.first)) {
    hash = block.block.header.parentHash
    block = wholeBlock(hash, parts)
  }
}

/** A block of the canonical chain. Throws `database` when it is missing or has another hash. */
function wholeBlock(hash: Hex, { blocks, config, place, isFork }: Parts): ExecutedBlock {
  const block = read(hash, blocks, place)
  const { header } = block.block
  const isOfUpstream = isFork && header.number === blocks.first
  if (!isOfUpstream && headerHash(header, config) !== hash)
    throw new DamagedError(place, `the header of block ${header.number} (${hash}) has another hash`)
  if (blocks.canonicalHash(header.number) !== hash) {
    throw new DamagedError(place, `block ${header.number} (${hash}) is not found by its number`)
  }
  return block
}

function read(hash: Hex, blocks: BlockStore, place: string): ExecutedBlock {
  try {
    const block = blocks.get(hash)
    if (block !== undefined) return block
  } catch (error) {
    const reason = error instanceof UnreadableError ? error.problem : messageOf(error)
    throw new DamagedError(place, `block ${hash} cannot be read (${reason})`)
  }
  throw new DamagedError(place, `block ${hash} is missing`)
}
