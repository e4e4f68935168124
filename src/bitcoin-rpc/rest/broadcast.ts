/** Puts transactions in hex digits into the mempool. */
import type { Bitcoin } from '../../bitcoin/bitcoin.ts'
import { idOf } from '../../bitcoin/chain/block.ts'
import { MAX_TRANSACTION_WEIGHT } from '../../bitcoin/chain/policy.ts'
import { RuleViolation } from '../../bitcoin/chain/rule-violation.ts'
import { transactionOf } from '../parameters.ts'
import { CODE, RpcFailure } from '../rpc-failure.ts'

/** The transaction's id. Throws a failure with the reason when it is refused. */
export function broadcast({ chain }: Bitcoin, hex: string): string {
  // A byte weighs one unit at least: a longer text is refused without being decoded.
  if (hex.length > 2 * MAX_TRANSACTION_WEIGHT + 2) throw new RpcFailure(CODE.REJECTED, 'tx-size')
  const transaction = transactionOf(hex.trim())
  const id = idOf(transaction)
  if (chain.state.mempool.has(id)) return id
  try {
    return chain.accept(transaction).id
  } catch (error) {
    if (error instanceof RuleViolation) throw new RpcFailure(CODE.REJECTED, error.message)
    throw error
  }
}
