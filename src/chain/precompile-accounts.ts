/**
 * From which block each precompiled contract exists, and what its activation does to the state
 * (docs/internals/protocol.md#75-activation).
 */

import type { Hex } from '../encoding/hex.ts'
import { type Account, EMPTY_ACCOUNT, withBalance, withNonce } from './account.ts'
import { activatingRules, isActive } from './activations.ts'
import { PRECOMPILE_ADDRESS as AT } from './config.ts'
import type { RuleHeights, RuleName } from './consensus-rules.ts'

/** The contracts that a rule brings; the others run from genesis on. */
export const PRECOMPILE_RULES: ReadonlyMap<Hex, RuleName> = new Map<Hex, RuleName>([
  [AT.hdWalletUtils, 'rskip106'],
  [AT.blockHeader, 'rskip119'],
  [AT.bn128Add, 'rskip137'],
  [AT.bn128Mul, 'rskip137'],
  [AT.bn128Pairing, 'rskip137'],
  [AT.blake2f, 'rskip153'],
  [AT.environment, 'rskip203'],
  [AT.secp256k1Add, 'rskip516'],
  [AT.secp256k1Mul, 'rskip516'],
])

/** Contracts without a rule; they have accounts from RSKIP-126 on. */
const FIRST_PRECOMPILES: readonly Hex[] = [
  AT.ecrecover,
  AT.sha256,
  AT.ripemd160,
  AT.identity,
  AT.modexp,
  AT.bridge,
  AT.remasc,
]

/** What a state must offer for the accounts of contracts to be made in it. */
export interface PrecompileState {
  account(address: Hex): Account | undefined
  putAccount(address: Hex, account: Account): void
}

/**
 * Makes the accounts of the contracts that begin in the block of this height, with their markers: those of a rule of
 * their own with balance and nonce reset; the first ones, at RSKIP-126, where they are absent.
 */
export function activatePrecompiles(state: PrecompileState, heights: RuleHeights, height: number): void {
  const rules = activatingRules(heights, height)
  if (rules.length === 0) return
  if (rules.includes('rskip126')) {
    for (const address of FIRST_PRECOMPILES) {
      state.putAccount(address, { ...(state.account(address) ?? EMPTY_ACCOUNT), isContract: true })
    }
  }
  for (const [address, rule] of PRECOMPILE_RULES) {
    if (!rules.includes(rule)) continue
    const account = withBalance(withNonce(state.account(address) ?? EMPTY_ACCOUNT, 0n), 0n)
    state.putAccount(address, { ...account, isContract: true })
  }
}

/** Does the state after a block of this height hold an account of a precompiled contract at this address? */
export function hasPrecompileAccount(address: Hex, heights: RuleHeights, height: number): boolean {
  const rule = FIRST_PRECOMPILES.includes(address) ? 'rskip126' : PRECOMPILE_RULES.get(address)
  return rule !== undefined && isActive(heights, rule, height)
}
