/** Keys that the node holds and signs with. */
import type { Hex } from '../encoding/hex.ts'

/** The local wallet. With the wallet disabled it holds nothing, and `enabled` is false. */
export interface Accounts {
  readonly enabled: boolean
  /** In the order in which `eth_accounts` lists them. */
  list(): readonly Hex[]
  has(address: Hex): boolean
  /** The 32-byte key of a held account, or `undefined`. */
  key(address: Hex): Uint8Array | undefined
}
