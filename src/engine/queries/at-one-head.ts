/** Queries that read many blocks and must see them on one branch, although the chain may change while they run. */
import type { Blockchain } from '../blockchain/blockchain.ts'

/** Most repetitions of a query because the chain changed while it ran. */
const MAX_RESTARTS = 3

interface Options {
  /** Last height that the query reads; the head's unless given. */
  readonly upTo?: number
  /** Repeat the query until it ran on one branch. Otherwise the result of the last repetition stands. */
  readonly isStrict?: boolean
}

/**
 * Runs a query on the canonical blocks up to a height, and again when these changed while it ran. `read` gets the last
 * height, and whether it may yield to other work; the last repetition may not if it is to see one branch.
 */
export async function atOneHead<T>(
  blockchain: Pick<Blockchain, 'head' | 'hashAt'>,
  read: (to: number, mayYield: boolean) => Promise<T>,
  { upTo = Number.POSITIVE_INFINITY, isStrict = false }: Options = {},
): Promise<T> {
  for (let restarts = 0; ; restarts++) {
    const to = Math.min(upTo, blockchain.head.block.header.number)
    // The hash of the last block identifies all blocks below it.
    const tip = blockchain.hashAt(to)
    const mayYield = restarts < MAX_RESTARTS
    const found = await read(to, mayYield)
    if (blockchain.hashAt(to) === tip || !(mayYield || isStrict)) return found
  }
}
