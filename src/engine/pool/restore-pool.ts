/** Fills the pool from disk. */
import type { Hex } from '../../encoding/hex.ts'
import type { EngineParts } from '../parts.ts'

/** Adds the transactions on disk to the pool; the hashes of those that are no longer valid. */
export function refusedOnDisk({ blocks, blockchain, headState, pool, logger }: EngineParts): Hex[] {
  const refused: Hex[] = []
  for (const transaction of blocks.pool.entries) {
    try {
      pool.add(transaction, blockchain.head, headState())
    } catch (error) {
      logger.warn('a pooled transaction is no longer valid and is dropped', { hash: transaction.hash, error })
      refused.push(transaction.hash)
    }
  }
  return refused
}
