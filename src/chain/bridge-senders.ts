/** Senders that the Bridge knows on the local network: its first federation, and those who vote on its settings. */
import type { Hex } from '../encoding/hex.ts'
import { PRECOMPILE_ADDRESS } from './config.ts'

/** The members of the first federation, by the addresses of their keys; each key is keccak-256 of `federator1` to `federator3`. */
export const FEDERATORS: ReadonlySet<Hex> = new Set<Hex>([
  '0x85845342b0d5260d516d6da5280a7df9a96d1925',
  '0x138161cda86b55c0de1bc3a0adef974633c85fbe',
  '0x6b045752f4d650a510a353bbf7e52988331e7f5b',
])

/** Voters on a new federation: keys keccak-256 of `auth-a` to `auth-e`. */
export const FEDERATION_VOTERS: ReadonlySet<Hex> = new Set<Hex>([
  '0x5252403bca6ac3c104abdd320a736fa38282045d',
  '0x0d8c44bd578a4e7148d1758b3332b529e93e48c1',
  '0x566bca18df14ed75efcc1a8a4f3947e81132dbbc',
  '0x2e7c9159614ddc0185e335d3343e92700c3e5a2d',
  '0xf0652637df184eca87e6bde29893825721dfb79f',
])

/** Changes the whitelist of those who may lock coins: key keccak-256 of `auth-lock-whitelist`. */
export const WHITELIST_VOTER: Hex = '0x87d2a0f33744929da08b65fd62b627ea52b25f8e'

/** Votes on the fee of peg-outs: key keccak-256 of `auth-fee-per-kb`. */
export const FEE_VOTER: Hex = '0x53f8f6dabd612b6137215ddd7758bb5cdd638922'

/** Increases the locking cap, and pays gas for it: key keccak-256 of `auth-increase_locking_cap`. */
export const LOCKING_CAP_VOTER: Hex = '0x6913bd4715eff3b25501f3212f15df38296d1f21'

/** Sets the address of the union bridge: key keccak-256 of `changeUnionBridgeContractAddressAuthorizer`. */
export const UNION_ADDRESS_AUTHORIZER: Hex = '0x6c9dfd950bf748bb26f893f7e5f693c7f60a8f85'

/** The contract that changes the union bridge's locking cap and permissions. */
export const UNION_CAP_AUTHORIZER: Hex = '0xff6f4ff09c54561e1476203e56fcfc834911aa64'

function isVoter(address: Hex): boolean {
  return FEDERATION_VOTERS.has(address) || address === WHITELIST_VOTER || address === FEE_VOTER
}

/**
 * Does a signed transaction from `from` to `to` cost no gas for being a call of the bridge
 * (docs/internals/protocol.md#44-intrinsic-gas)?
 */
export function isFreeBridgeTransaction(from: Hex, to: Hex | null): boolean {
  return to === PRECOMPILE_ADDRESS.bridge && (FEDERATORS.has(from) || isVoter(from))
}
