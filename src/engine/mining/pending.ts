/** The pending block: the one that this node would mine now, cached until head, pool or clock change. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import { headerHash } from '../../chain/header.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import type { CommittedState, StateReader } from '../../state/model.ts'
import type { BuiltBlock } from './builder.ts'

/** A block without proof of work, and the state after it. */
export interface PendingBlock {
  readonly executed: ExecutedBlock
  readonly state: StateReader
  /** The trie nodes of that state, which are nowhere else. */
  readonly committed: CommittedState
}

/** The pending block of a node, built at most once between changes. */
export interface Pending {
  current(): Promise<PendingBlock>
  /** Called when head, pool or clock changed: the next call of `current` builds another block. */
  discard(): void
}

/** `build` makes the block that would be mined now. A pending block has no extra data (docs/internals/protocol.md#18-extra-data). */
export function createPending(
  config: ChainConfig,
  build: (extraData: Uint8Array) => Promise<BuiltBlock>,
  isFork: boolean,
): Pending {
  let cached: Promise<PendingBlock> | undefined

  async function buildPending(): Promise<PendingBlock> {
    const { block, result, overlay, state } = await build(EMPTY)
    return {
      executed: {
        hash: headerHash(block.header, config),
        block,
        receipts: result.receipts,
        totalDifficulty: 0n,
        postState: state.root,
      },
      // On a fork, reads by others may miss something, and an overlay would cache the placeholder.
      state: isFork ? overlay.view() : overlay,
      committed: state,
    }
  }

  /** A build that fails after a change is repeated: a rewind may have removed blocks that it read. */
  function current(): Promise<PendingBlock> {
    if (cached !== undefined) return cached
    const built: Promise<PendingBlock> = buildPending().catch((error: unknown) => {
      if (cached !== built) return current()
      cached = undefined
      throw error
    })
    cached = built
    return built
  }

  return {
    current,
    discard() {
      cached = undefined
    },
  }
}
