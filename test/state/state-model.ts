/** A plain state, copied whole at every checkpoint, against which overlay and state trie are held. */
import { EMPTY_CODE_HASH } from '../../src/chain/account.ts'
import { concat, fromBigInt, fromBigIntFixed, fromBigIntSigned, oneByte } from '../../src/encoding/bytes.ts'
import { keccak256, keccakHex } from '../../src/encoding/hash.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { encodeRlp } from '../../src/encoding/rlp.ts'
import { NaiveTrie } from '../support/naive-trie.ts'

export interface ModelAccount {
  readonly nonce: bigint
  readonly balance: bigint
  readonly code: Uint8Array
  /** Had the account ever code? */
  readonly isContract: boolean
  readonly slots: ReadonlyMap<bigint, bigint>
}

/** Accounts are replaced, never changed, so copying the map copies the state. */
export type Model = Map<Hex, ModelAccount>

export function codeHashOf(code: Uint8Array): Hex {
  return code.length === 0 ? EMPTY_CODE_HASH : keccakHex(code)
}

/** Key of an account (docs/internals/protocol.md#56-state-keys). */
export function modelAccountKey(address: Hex): Uint8Array {
  const bytes = fromHex(address)
  return concat(oneByte(0), keccak256(bytes).subarray(0, 10), bytes)
}

/** Key of a storage cell. */
export function modelCellKey(address: Hex, slot: bigint): Uint8Array {
  const suffix = slot === 0n ? oneByte(0) : fromBigInt(slot)
  const hash = keccak256(fromBigIntFixed(slot, 32)).subarray(0, 10)
  return concat(modelAccountKey(address), oneByte(0), hash, suffix)
}

/** Root of a state, built key by key from nothing. */
export function modelRoot(model: Model): Hex {
  const trie = new NaiveTrie()
  for (const [address, { nonce, balance, code, isContract, slots }] of model) {
    const key = modelAccountKey(address)
    trie.put(key, encodeRlp([fromBigInt(nonce), fromBigIntSigned(balance)]))
    if (isContract) trie.put(concat(key, oneByte(0)), oneByte(1))
    if (code.length > 0) trie.put(concat(key, oneByte(0x80)), code)
    for (const [slot, word] of slots) if (word !== 0n) trie.put(modelCellKey(address, slot), fromBigInt(word))
  }
  return trie.root()
}
