/** The transaction that ends every block: collected fees go to the reward contract, which then runs (protocol 5.3). */
import { EMPTY_ACCOUNT } from '../chain/account.ts'
import { type ChainConfig, NATIVE_ADDRESS, REWARD_SENDER } from '../chain/config.ts'
import { EMPTY } from '../encoding/bytes.ts'
import type { TransactionOutcome } from './execute-transaction.ts'
import type { BlockEnvironment } from './message.ts'
import type { Overlay } from './overlay.ts'
import { payRewards } from './reward/payout.ts'

/** Credits the block's fees (wei) to the reward contract, bumps the odd sender's nonce and pays what is due. */
export function executeRewardTransaction(
  state: Overlay,
  env: BlockEnvironment,
  paidFees: bigint,
  config: ChainConfig,
): TransactionOutcome {
  const pot = state.account(NATIVE_ADDRESS.remasc) ?? EMPTY_ACCOUNT
  state.putAccount(NATIVE_ADDRESS.remasc, { ...pot, balance: pot.balance + paidFees })
  const sender = state.account(REWARD_SENDER) ?? EMPTY_ACCOUNT
  state.putAccount(REWARD_SENDER, { ...sender, nonce: sender.nonce + 1n })
  const logs = payRewards(state, env, config)
  return { succeeded: true, gasUsed: 0n, fee: 0n, logs, output: EMPTY, destroyed: [] }
}
