/** Who calls the bridge for nothing on the local network: its first federation, and those who vote on its settings. */
import type { Hex } from '../encoding/hex.ts'
import { PRECOMPILE_ADDRESS } from './config.ts'

/** The members of the first federation, by the addresses of their keys; each key is keccak-256 of `federator1` to `federator3`. */
export const FEDERATORS: ReadonlySet<Hex> = new Set<Hex>([
  '0x85845342b0d5260d516d6da5280a7df9a96d1925',
  '0x138161cda86b55c0de1bc3a0adef974633c85fbe',
  '0x6b045752f4d650a510a353bbf7e52988331e7f5b',
])

/** Keys keccak-256 of `auth-a` to `auth-e` (federation change), `auth-lock-whitelist` and `auth-fee-per-kb`. */
const VOTERS: ReadonlySet<Hex> = new Set<Hex>([
  '0x5252403bca6ac3c104abdd320a736fa38282045d',
  '0x0d8c44bd578a4e7148d1758b3332b529e93e48c1',
  '0x566bca18df14ed75efcc1a8a4f3947e81132dbbc',
  '0x2e7c9159614ddc0185e335d3343e92700c3e5a2d',
  '0xf0652637df184eca87e6bde29893825721dfb79f',
  '0x87d2a0f33744929da08b65fd62b627ea52b25f8e',
  '0x53f8f6dabd612b6137215ddd7758bb5cdd638922',
])

/**
 * Does a signed transaction from `from` to `to` cost no gas for being a call of the bridge
 * (docs/protocol.md#44-intrinsic-gas)?
 */
export function isFreeBridgeTransaction(from: Hex, to: Hex | null): boolean {
  return to === PRECOMPILE_ADDRESS.bridge && (FEDERATORS.has(from) || VOTERS.has(from))
}
