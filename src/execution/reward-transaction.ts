/** The transaction that ends every block: collected fees go to the reward contract, which then runs (protocol 5.3). */
import { EMPTY_ACCOUNT, withBalance, withNonce } from '../chain/account.ts'
import { type ChainConfig, NATIVE_ADDRESS, REWARD_SENDER } from '../chain/config.ts'
import { EMPTY } from '../encoding/bytes.ts'
import type { TransactionOutcome } from './execute-transaction.ts'
import type { BlockEnvironment } from './message.ts'
import type { Overlay } from './overlay.ts'
import { payRewards } from './reward/payout.ts'
import type { Tracer } from './trace/tracer.ts'

/**
 * Credits the block's fees (wei) to the reward contract, bumps the odd sender's nonce and pays what is due. A tracer
 * hears of one call to the contract, and of one from it for each payment (protocol 9).
 */
export function executeRewardTransaction(
  state: Overlay,
  env: BlockEnvironment,
  paidFees: bigint,
  config: ChainConfig,
  tracer?: Tracer,
): TransactionOutcome {
  const call = { kind: 'call', value: 0n, gas: 0n, input: EMPTY, runsCode: false } as const
  const to = NATIVE_ADDRESS.remasc
  tracer?.enter?.({ ...call, depth: 0, from: REWARD_SENDER, to, isNative: true })
  const pot = state.account(NATIVE_ADDRESS.remasc) ?? EMPTY_ACCOUNT
  state.putAccount(NATIVE_ADDRESS.remasc, withBalance(pot, pot.balance + paidFees))
  const sender = state.account(REWARD_SENDER) ?? EMPTY_ACCOUNT
  state.putAccount(REWARD_SENDER, withNonce(sender, sender.nonce + 1n))
  const logs = payRewards(state, env, config, (payment, log) => {
    const { to: payee, amount: value } = payment
    tracer?.enter?.({ ...call, depth: 1, from: to, to: payee, value, isNative: false })
    tracer?.exit?.({ gasUsed: 0n, output: EMPTY })
    tracer?.log?.(log)
  })
  tracer?.exit?.({ gasUsed: 0n, output: EMPTY })
  return { succeeded: true, gasUsed: 0n, fee: 0n, logs, output: EMPTY, destroyed: [] }
}
