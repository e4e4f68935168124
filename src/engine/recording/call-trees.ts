/** The call trees of the blocks that were built here last, recorded when their transactions ran. */
import { LRUCache } from 'lru-cache'
import type { Hex } from '../../encoding/hex.ts'
import type { RecordedCalls } from '../../execution/apply-block.ts'
import type { BlockWithState } from '../blockchain/blockchain.ts'

/** Bytes of all of them. */
const MOST_BYTES = 4 << 20

/** Call trees by block. */
export class CallTrees {
  readonly #known = new LRUCache<Hex, RecordedCalls>({
    maxSize: MOST_BYTES,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes),
  })

  /** Keeps those of blocks that were inserted. */
  keep(branch: readonly BlockWithState[]): void {
    for (const { block, result } of branch) {
      if (result?.calls !== undefined) this.#known.set(block.hash, result.calls)
    }
  }

  /** Those of a block; `undefined` where they are not known. */
  of(block: Hex): RecordedCalls | undefined {
    return this.#known.get(block)
  }
}
