/** State overrides of one call, applied to a private overlay (docs/internals/rpc-reference.md#74-calls-and-estimates). */
import { EMPTY_ACCOUNT } from '../chain/account.ts'
import type { Hex } from '../encoding/hex.ts'
import { invalidParams } from '../errors.ts'
import type { Overlay } from '../state/overlay.ts'
import type { AccountOverride, StateOverrides } from './request.ts'

/**
 * Applies overrides account by account in the order given. Throws `invalid-params` for a precompiled contract, and for
 * `state` beside `stateDiff`.
 */
export function applyOverrides(
  overlay: Overlay,
  overrides: StateOverrides,
  precompileAddresses: { has(address: Hex): boolean },
): void {
  for (const [address, override] of overrides) {
    if (precompileAddresses.has(address)) throw invalidParams('Precompiled contracts can not be overridden')
    if (override.state !== undefined && override.stateDiff !== undefined) {
      throw invalidParams(`'state' and 'stateDiff' of ${address} can not be set at the same time`)
    }
    applyOverride(overlay, address, override)
  }
}

function applyOverride(overlay: Overlay, address: Hex, override: AccountOverride): void {
  const { balance, nonce, code, state, stateDiff } = override
  const account = overlay.account(address) ?? EMPTY_ACCOUNT
  overlay.putAccount(address, {
    ...account,
    balance: balance ?? account.balance,
    nonce: nonce ?? account.nonce,
  })
  if (code !== undefined) overlay.putCode(address, code)
  if (state !== undefined) overlay.clearStorage(address)
  for (const [slot, value] of state ?? stateDiff ?? []) overlay.putStorage(address, slot, value)
}
