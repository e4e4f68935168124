/** What became of a block that was brought, in the real node's names (docs/protocol.md#8-reorganisation). */
import type { Imported } from '../../engine/model.ts'

/** The new head, a block beside the chain, or known already. */
export const INSERTION_NAMES = {
  best: 'IMPORTED_BEST',
  side: 'IMPORTED_NOT_BEST',
  known: 'EXIST',
} as const satisfies Record<Imported['outcome'], string>
