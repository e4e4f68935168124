/**
 * What a transaction costs beside its message, by rule set (docs/protocol.md#44-intrinsic-gas,
 * docs/protocol.md#51-execution).
 */
import { type Account, EMPTY_ACCOUNT, EMPTY_CODE_HASH } from '../chain/account.ts'
import { intrinsicGas, type Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import type { BlockEnvironment, RuleSet } from '../evm/message.ts'
import type { Overlay } from '../state/overlay.ts'

/** The part of a transaction's rules that differs. */
export interface TransactionRules {
  /** Gas before any code runs. */
  intrinsicGas(transaction: Pick<Transaction, 'from' | 'to' | 'data'>): bigint
  /** After refund and charge, before destroyed contracts go: who gets the fee at once, in wei. */
  payFee(fee: bigint, state: Overlay, env: BlockEnvironment): void
  /** The last step, given the accounts that the transaction wrote. */
  sweep(touched: ReadonlySet<Hex>, state: Overlay, env: BlockEnvironment): void
}

/** The block collects fees until its end, and empty accounts stay for ever. */
const CHAIN: TransactionRules = {
  intrinsicGas,
  payFee() {},
  sweep() {},
}

function isEmpty(account: Account): boolean {
  return account.nonce === 0n && account.balance === 0n && account.codeHash === EMPTY_CODE_HASH
}

const PETERSBURG: TransactionRules = {
  intrinsicGas({ to, data }) {
    let gas = to === null ? 53_000 : 21_000
    for (const byte of data) gas += byte === 0 ? 4 : 68
    return BigInt(gas)
  },
  payFee(fee, state, { coinbase }) {
    const account = state.account(coinbase) ?? EMPTY_ACCOUNT
    state.putAccount(coinbase, { ...account, balance: account.balance + fee })
  },
  /** EIP-161. */
  sweep(touched, state, { coinbase }) {
    for (const address of [...touched, coinbase]) {
      const account = state.account(address)
      if (account !== undefined && isEmpty(account)) state.deleteAccount(address)
    }
  },
}

/** The rules of a set; the same record each time. */
export function transactionRules(ruleSet: RuleSet): TransactionRules {
  return ruleSet === 'chain' ? CHAIN : PETERSBURG
}
