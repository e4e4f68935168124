/** An account as the state keeps it. */
import type { Hex } from '../encoding/hex.ts'

/** keccak-256 of no bytes: the code hash of an account without code. */
export const EMPTY_CODE_HASH: Hex = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'

/** keccak-256 of 0x80: the root of an empty trie. */
export const EMPTY_TRIE_ROOT: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/** Immutable; a change makes a new one. */
export interface Account {
  readonly nonce: bigint
  /** Wei. */
  readonly balance: bigint
  /** Root of the storage trie as last committed; changes since are in the overlay. */
  readonly storageRoot: Hex
  readonly codeHash: Hex
}

/** An account that exists and holds nothing. */
export const EMPTY_ACCOUNT: Account = {
  nonce: 0n,
  balance: 0n,
  storageRoot: EMPTY_TRIE_ROOT,
  codeHash: EMPTY_CODE_HASH,
}

/** The account with another balance, wei. Spelled out, for it is made several times in every transaction. */
export function withBalance({ nonce, storageRoot, codeHash }: Account, balance: bigint): Account {
  return { nonce, balance, storageRoot, codeHash }
}

/** The account with another nonce. */
export function withNonce({ balance, storageRoot, codeHash }: Account, nonce: bigint): Account {
  return { nonce, balance, storageRoot, codeHash }
}
