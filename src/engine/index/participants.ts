/** Participants in a section index: who sent the transactions of a block, and who received them. */
import { contractAddress } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { Clauses, Mark } from './section.ts'
import type { Standing } from './section-index.ts'

const RECEIVER = 0x1_0000

/** Two bytes of an address; few blocks are named in vain, and each is looked at anyway. */
function fingerprint(address: Hex): number {
  return Number.parseInt(address.slice(-4), 16)
}

/** Marks senders and receivers of a block's transactions; a created contract receives the transaction that creates it. */
export function participantsIn(blocks: BlockStore): (block: Standing, mark: Mark) => void {
  return ({ hash }, mark) => {
    for (const { from, to, nonce } of blocks.get(hash)?.block.transactions ?? []) {
      mark(fingerprint(from))
      mark(RECEIVER | fingerprint(to ?? contractAddress(from, nonce)))
    }
  }
}

/**
 * True of every block with a transaction from one of `senders` and one to one of `receivers`; an empty list is anybody.
 * It may be true of some others.
 */
export function participantClauses(senders: readonly Hex[], receivers: readonly Hex[]): Clauses {
  const clauses = [
    senders.map((address) => [fingerprint(address)]),
    receivers.map((address) => [RECEIVER | fingerprint(address)]),
  ]
  return clauses.filter((items) => items.length > 0)
}
