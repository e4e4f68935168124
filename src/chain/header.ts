/** Block headers: their fields. */
import type { Hex } from '../encoding/hex.ts'

/** A block header of any version (protocol 1.2). Immutable. */
export interface Header {
  readonly version: 0 | 1 | 2
  readonly parentHash: Hex
  readonly unclesHash: Hex
  /** Who is rewarded, 20 bytes. */
  readonly coinbase: Hex
  readonly stateRoot: Hex
  readonly transactionsRoot: Hex
  readonly receiptsRoot: Hex
  /** 256 bytes. */
  readonly logsBloom: Uint8Array
  readonly difficulty: bigint
  readonly number: number
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  /** Unix seconds. */
  readonly timestamp: number
  readonly extraData: Uint8Array
  /** Sum of the fees of the block's transactions, wei. */
  readonly paidFees: bigint
  /** Wei per gas; what BASEFEE answers. */
  readonly minimumGasPrice: bigint
  readonly uncleCount: number
  /** `undefined` where the element does not exist (before UMM); empty today. */
  readonly ummRoot: Uint8Array | undefined
  /** Cumulative end indexes of the parallel sublists; `undefined` for version 0. */
  readonly edges: readonly number[] | undefined
  /** Empty today; `undefined` below version 2. */
  readonly baseEvent: Uint8Array | undefined
  /** 80 bytes; empty while the block has no proof of work. */
  readonly bitcoinHeader: Uint8Array
  /** Sibling hashes, bottom up, in display order; empty when the parent-chain block has one transaction. */
  readonly merkleProof: Uint8Array
  /** The compressed coinbase (protocol 2.1). */
  readonly coinbaseTransaction: Uint8Array
  /**
   * Elements whose bytes as received differ from the canonical form of the value (genesis difficulty, null elements,
   * padded gas limits), kept so that re-encoding is stable (protocol 1.2).
   */
  readonly verbatim?: { readonly [element: number]: Uint8Array }
}
