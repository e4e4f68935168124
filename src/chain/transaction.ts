/** Transactions: their fields. */
import type { Hex } from '../encoding/hex.ts'

/** A decoded transaction with its sender (protocol 4.3, 5.3). Immutable. */
export interface Transaction {
  readonly hash: Hex
  /** 20 bytes; `REWARD_SENDER` for the block's fee-collecting transaction. */
  readonly from: Hex
  readonly nonce: bigint
  /** Wei per gas. */
  readonly gasPrice: bigint
  readonly gasLimit: bigint
  /** `null` creates a contract. */
  readonly to: Hex | null
  /** Wei. */
  readonly value: bigint
  readonly data: Uint8Array
  /** The V as encoded: 27/28, or 35/36 + 2 × chain id; 0 for the fee-collecting transaction. */
  readonly v: number
  readonly r: bigint
  readonly s: bigint
  /** 0 when unprotected. */
  readonly chainId: number
  /** RLP whose keccak-256 is `hash`. */
  readonly raw: Uint8Array
  /** Is this the fee-collecting transaction that ends every block? */
  readonly isReward: boolean
}
