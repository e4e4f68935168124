/** The Bridge's coins: those of the parent chain that are locked are paid out here. */
import type { Hex } from '../../../../encoding/hex.ts'
import { MAX_COINS, WEI_PER_SATOSHI } from '../constants/network.ts'
import type { BridgeCall } from '../method.ts'
import { lockingCap } from '../votes/settings.ts'

/** Pays satoshi to an account. */
export function payOut({ env }: BridgeCall, to: Hex, satoshi: bigint): void {
  env.transfer(to, satoshi * WEI_PER_SATOSHI)
}

/** Is what is locked at most the cap with so many satoshi more (RSKIP-134)? */
export function isBelowCap(call: BridgeCall, satoshi: bigint): boolean {
  if (!call.isActive('rskip134')) return true
  const locked = MAX_COINS - call.env.balance() / WEI_PER_SATOSHI
  return locked + satoshi <= lockingCap(call)
}
