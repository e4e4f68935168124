/** A change of the canonical chain as the steps that filters and subscriptions report. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { ChainUpdate } from '../../engine/model.ts'

/** A block joins the canonical chain, or has left it. */
export interface ChainStep {
  readonly block: ExecutedBlock
  readonly removed: boolean
}

/** First what left, then what came, each in ascending order (docs/internals/rpc-reference.md#78-subscriptions). */
export function chainSteps({ removed, added }: ChainUpdate): ChainStep[] {
  return [
    ...[...removed].reverse().map((block) => ({ block, removed: true })),
    ...added.map((block) => ({ block, removed: false })),
  ]
}

/** The head to which a move leads. */
export function headAfter({ removed, added }: ChainUpdate): Hex | undefined {
  return added.at(-1)?.hash ?? removed.at(-1)?.block.header.parentHash
}
