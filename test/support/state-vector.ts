/** The form of fixtures/state/*.json, made by scripts/make-state-vectors.ts. Quantities are `0x` text; absent ones are 0. */
import type { Hex } from '../../src/encoding/hex.ts'

export interface StateVector {
  readonly name: string
  readonly pre: Readonly<
    Record<
      Hex,
      {
        readonly nonce?: string
        readonly balance?: string
        readonly code?: Hex
        readonly storage?: Readonly<Record<string, string>>
      }
    >
  >
  readonly transaction: {
    readonly nonce: string
    readonly gasPrice: string
    readonly gasLimit: string
    readonly to: Hex | null
    readonly value: string
    readonly data: Hex
  }
  /** Instead of the block's. */
  readonly coinbase?: Hex
  readonly expected: {
    readonly status: 'succeeded' | 'reverted' | 'failed' | 'rejected'
    /** Used, refund taken off; 0 when rejected. */
    readonly gas: number
    /** Root of the state afterwards. */
    readonly root: Hex
    /** Keccak-256 of the RLP of the logs. */
    readonly logs: Hex
  }
}

/** One file: a topic. The hash of block n is the keccak-256 of n in decimal digits. */
export interface StateVectorFile {
  readonly sender: Hex
  readonly block: {
    readonly number: number
    readonly timestamp: number
    readonly coinbase: Hex
    readonly difficulty: number
    readonly gasLimit: number
  }
  readonly vectors: readonly StateVector[]
}
