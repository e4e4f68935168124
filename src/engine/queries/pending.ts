/** The block that we would mine now, kept until head, pool or clock moves. */

import type { ExecutedBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import { headerHash } from '../../chain/header.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import type { StateReader } from '../../state/model.ts'
import type { BuiltBlock } from '../mining/builder.ts'

/** A block without proof of work, and the state after it. */
export interface PendingBlock {
  readonly executed: ExecutedBlock
  readonly state: StateReader
}

/** Gives the pending block, building it at most once between changes. */
export interface Pending {
  current(): Promise<PendingBlock>
  /** Head, pool or clock moved. */
  forget(): void
}

/**
 * `build` makes the block that would be mined at this moment; extra data is left out of a pending block
 * (docs/protocol.md#18-extra-data).
 */
export function createPending(
  config: ChainConfig,
  build: (extraData: Uint8Array) => Promise<BuiltBlock>,
): Pending {
  let kept: Promise<PendingBlock> | undefined

  async function make(): Promise<PendingBlock> {
    const { block, result, overlay, state } = await build(EMPTY)
    return {
      executed: {
        hash: headerHash(block.header, config),
        block,
        receipts: result.receipts,
        totalDifficulty: 0n,
        postState: state.root,
      },
      state: overlay,
    }
  }

  return {
    current() {
      if (kept === undefined) {
        const made = make()
        kept = made
        made.catch(() => {
          if (kept === made) kept = undefined
        })
      }
      return kept
    },
    forget() {
      kept = undefined
    },
  }
}
