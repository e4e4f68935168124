/** The rules of regtest, Bitcoin's local test network (Bitcoin Core, `CRegTestParams`). */

import { TEST_VERSIONS } from '../address.ts'
import { fromDigits } from '../displayed-hash.ts'

/** What regtest sets. */
export const REGTEST = {
  /** Compact form of the highest target, which every block has. */
  bits: 0x207fffff,
  /** Blocks until the subsidy halves. */
  halving: 150,
  addressVersions: TEST_VERSIONS,
  /** First byte of a private key in Base58. */
  keyVersion: 239,
  /** Human-readable part of Bech32 addresses. */
  bech32: 'bcrt',
  /** Bytes in front of messages between nodes, and of blocks in files. */
  magic: 0xfabfb5da,
} as const

/** Satoshi in a coin. */
export const COIN = 100_000_000n

/** Blocks on a coinbase transaction's block, it included, before its outputs may be spent. */
export const MATURITY = 100
/** Most weight of a block. */
export const MAX_WEIGHT = 4_000_000
/** Most cost of signature checks of a block. */
export const MAX_CHECKS_COST = 80_000
/** Weight of a byte outside of witnesses. */
export const WITNESS_SCALE = 4

const GENESIS_HEADER =
  '0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4adae5494dffff7f2002000000'
const GENESIS_COINBASE =
  '01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000'

/** The bytes of the first block. */
export const GENESIS_BLOCK: Uint8Array = fromDigits(`${GENESIS_HEADER}01${GENESIS_COINBASE}`)

/** Satoshi that a block of a height makes. */
export function subsidyAt(height: number): bigint {
  const halvings = Math.floor(height / REGTEST.halving)
  return halvings >= 64 ? 0n : (50n * COIN) >> BigInt(halvings)
}
