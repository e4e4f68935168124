/** The transaction that ends every block: collected fees go to the reward contract, which then runs (protocol 5.3). */
import { EMPTY_ACCOUNT } from '../chain/account.ts'
import { NATIVE_ADDRESS, REWARD_SENDER } from '../chain/config.ts'
import type { Log } from '../chain/receipt.ts'
import { EMPTY } from '../encoding/bytes.ts'
import type { TransactionOutcome } from './execute-transaction.ts'
import type { BlockEnvironment } from './message.ts'
import type { Overlay } from './overlay.ts'

/** The reward contract's own work on a block; the logs that it makes. */
export type RewardContract = (state: Overlay, env: BlockEnvironment) => readonly Log[]

/** Credits the block's fees (wei) to the reward contract, bumps the odd sender's nonce and runs the contract. */
export function executeRewardTransaction(
  state: Overlay,
  env: BlockEnvironment,
  paidFees: bigint,
  contract: RewardContract | undefined,
): TransactionOutcome {
  const pot = state.account(NATIVE_ADDRESS.remasc) ?? EMPTY_ACCOUNT
  state.putAccount(NATIVE_ADDRESS.remasc, { ...pot, balance: pot.balance + paidFees })
  const sender = state.account(REWARD_SENDER) ?? EMPTY_ACCOUNT
  state.putAccount(REWARD_SENDER, { ...sender, nonce: sender.nonce + 1n })
  const logs = contract?.(state, env) ?? []
  return { succeeded: true, gasUsed: 0n, fee: 0n, logs, output: EMPTY, destroyed: [] }
}
