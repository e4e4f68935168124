/** A plain state, copied whole at every checkpoint, against which overlay and state trie are held. */
import { EMPTY_CODE_HASH } from '../../src/chain/account.ts'
import { fromBigInt, fromBigIntFixed } from '../../src/encoding/bytes.ts'
import { keccakHex } from '../../src/encoding/hash.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import { encodeRlp } from '../../src/encoding/rlp.ts'
import { oracleRoot } from './trie-oracle.ts'

export interface ModelAccount {
  readonly nonce: bigint
  readonly balance: bigint
  readonly code: Uint8Array
  readonly slots: ReadonlyMap<bigint, bigint>
}

/** Accounts are replaced, never changed, so copying the map copies the state. */
export type Model = Map<Hex, ModelAccount>

export function codeHashOf(code: Uint8Array): Hex {
  return code.length === 0 ? EMPTY_CODE_HASH : keccakHex(code)
}

/** Root of a contract's storage, built from nothing by the library. */
export function modelStorageRoot(account: ModelAccount): Promise<Hex> {
  const words = [...account.slots].filter(([, word]) => word !== 0n)
  return oracleRoot(
    words.map(([slot, word]) => [fromBigIntFixed(slot, 32), encodeRlp(fromBigInt(word))] as const),
    { hashKeys: true },
  )
}

/** Root of a state, built from nothing by the library. */
export async function modelRoot(model: Model): Promise<Hex> {
  const entries: [Uint8Array, Uint8Array][] = []
  for (const [address, account] of model) {
    const storageRoot = fromHex(await modelStorageRoot(account))
    const { nonce, balance, code } = account
    const rlp = encodeRlp([fromBigInt(nonce), fromBigInt(balance), storageRoot, fromHex(codeHashOf(code))])
    entries.push([fromHex(address), rlp])
  }
  return oracleRoot(entries, { hashKeys: true })
}
