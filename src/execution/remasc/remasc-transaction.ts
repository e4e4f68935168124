/**
 * The transaction that ends every block: collected fees go to REMASC, which then runs
 * (docs/internals/protocol.md#53-remasc-transaction).
 */
import { EMPTY_ACCOUNT, withBalance, withNonce } from '../../chain/account.ts'
import { type ChainConfig, PRECOMPILE_ADDRESS, REMASC_SENDER } from '../../chain/config.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { BlockEnvironment } from '../../evm/message.ts'
import type { Tracer } from '../../evm/tracing/tracer.ts'
import type { Overlay } from '../../state/overlay.ts'
import type { TransactionOutcome } from '../apply-transaction.ts'
import { payRemasc } from './payout.ts'

/**
 * Credits the block's fees (wei) to REMASC, increments the sender's nonce and makes the due payments. A tracer
 * receives one call to the contract, and one from it for each payment (docs/internals/protocol.md#9-traces).
 */
export function applyRemascTransaction(
  state: Overlay,
  env: BlockEnvironment,
  paidFees: bigint,
  config: ChainConfig,
  tracer?: Tracer,
): TransactionOutcome {
  const call = { kind: 'call', value: 0n, gas: 0n, input: EMPTY, runsCode: false } as const
  const to = PRECOMPILE_ADDRESS.remasc
  tracer?.enter?.({ ...call, depth: 0, from: REMASC_SENDER, to, isPrecompile: true })
  creditRemasc(state, paidFees)
  state.markContract(to)
  const sender = state.account(REMASC_SENDER) ?? EMPTY_ACCOUNT
  state.putAccount(REMASC_SENDER, withNonce(sender, sender.nonce + 1n))
  const payees = new Set<Hex>()
  const logs = payRemasc(state, env, config, (payment, log) => {
    const { to: payee, amount: value } = payment
    payees.add(payee)
    tracer?.enter?.({ ...call, depth: 1, from: to, to: payee, value, isPrecompile: false })
    tracer?.exit?.({ gasUsed: 0n, output: EMPTY })
    tracer?.log?.(log)
  })
  tracer?.exit?.({ gasUsed: 0n, output: EMPTY })
  const free = { gasUsed: 0n, gasBeforeRefund: 0n, fee: 0n }
  return { succeeded: true, ...free, logs, output: EMPTY, destroyed: [], participants: payees }
}

/** Adds fees, wei, to REMASC's balance; creates the account if there is none. */
export function creditRemasc(state: Overlay, fees: bigint): void {
  const pot = state.account(PRECOMPILE_ADDRESS.remasc) ?? EMPTY_ACCOUNT
  state.putAccount(PRECOMPILE_ADDRESS.remasc, withBalance(pot, pot.balance + fees))
}
