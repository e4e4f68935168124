/** The trie of `@ethereumjs/trie` as the oracle of the tests: roots from scratch and checked proofs. */
import { MerklePatriciaTrie, verifyMerkleProof } from '@ethereumjs/trie'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'

/** Root of a trie with these keys (as they are, or hashed) and values. */
export async function oracleRoot(
  entries: Iterable<readonly [Uint8Array, Uint8Array]>,
  { hashKeys }: { hashKeys: boolean },
): Promise<Hex> {
  const trie = new MerklePatriciaTrie({ useKeyHashing: hashKeys })
  for (const [key, value] of entries) await trie.put(key, value)
  return toHex(trie.root())
}

/** The value that a proof shows for a key (hashed first) under a root, `null` when it shows absence; rejects when it shows neither. */
export function oracleProven(
  root: Hex,
  key: Uint8Array,
  proof: readonly Uint8Array[],
): Promise<Uint8Array | null> {
  return verifyMerkleProof(key, [...proof], { useKeyHashing: true, root: fromHex(root) })
}
