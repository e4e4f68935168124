/** An account as the state keeps it. */
import type { Hex } from '../encoding/hex.ts'

/** keccak-256 of no bytes: the code hash of an account without code. */
export const EMPTY_CODE_HASH: Hex = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'

/** keccak-256 of 0x80: the root of an empty trie. */
export const EMPTY_TRIE_ROOT: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/** Bytes of an address. */
export const ADDRESS_BYTES = 20

/** Largest nonce of an account (docs/internals/protocol.md#45-pool-admission). */
export const MAX_NONCE = 2n ** 64n - 1n

/** Sender of a call without one. JSON shows it as the sender of REMASC transactions, whose own is a single byte. */
export const ZERO_ADDRESS: Hex = '0x0000000000000000000000000000000000000000'

/** Immutable; a change makes a new one. */
export interface Account {
  readonly nonce: bigint
  /** Wei. */
  readonly balance: bigint
  readonly codeHash: Hex
  /** Is it marked as a contract? Contracts without code are, and so are precompiles (docs/internals/protocol.md#56-state-keys). */
  readonly isContract: boolean
}

/** An account that exists and holds nothing. */
export const EMPTY_ACCOUNT: Account = {
  nonce: 0n,
  balance: 0n,
  codeHash: EMPTY_CODE_HASH,
  isContract: false,
}

/** The account with another balance, wei. Every field is named because this runs several times in each transaction. */
export function withBalance({ nonce, codeHash, isContract }: Account, balance: bigint): Account {
  return { nonce, balance, codeHash, isContract }
}

/** The account with another nonce. */
export function withNonce({ balance, codeHash, isContract }: Account, nonce: bigint): Account {
  return { nonce, balance, codeHash, isContract }
}
