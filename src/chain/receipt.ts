/** Receipts and logs: their fields. */
import type { Hex } from '../encoding/hex.ts'

/** One event. */
export interface Log {
  readonly address: Hex
  /** 0 to 4 words of 32 bytes. */
  readonly topics: readonly Hex[]
  readonly data: Uint8Array
}

/** What one transaction did (protocol 5.5). */
export interface Receipt {
  readonly succeeded: boolean
  /** Gas of the block, up to and including this transaction. */
  readonly cumulativeGasUsed: bigint
  readonly gasUsed: bigint
  /** 256 bytes. */
  readonly logsBloom: Uint8Array
  readonly logs: readonly Log[]
}
