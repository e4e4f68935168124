/** Ethereum's state root (Yellow Paper 4.1) of an in-memory state, by the trie of `@ethereumjs/trie`. */
import { MerklePatriciaTrie } from '@ethereumjs/trie'
import type { Account } from '../../src/chain/account.ts'
import { fromBigInt, fromBigIntFixed } from '../../src/encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { encodeRlp } from '../../src/encoding/rlp.ts'
import type { StateChanges } from '../../src/state/overlay.ts'
import { cellWord } from '../../src/state/state-keys.ts'

interface FullAccount {
  account: Account
  slots: Map<bigint, bigint>
}

/** Root of a trie whose keys are hashed. */
export async function ethereumTrieRoot(
  entries: Iterable<readonly [Uint8Array, Uint8Array]>,
): Promise<Uint8Array> {
  const trie = new MerklePatriciaTrie({ useKeyHashing: true })
  for (const [key, value] of entries) await trie.put(key, value)
  return trie.root()
}

/** All accounts after these changes, in order, of an empty state. */
function fullState(layers: readonly StateChanges[]): Map<Hex, FullAccount> {
  const all = new Map<Hex, FullAccount>()
  for (const { accounts, storage } of layers) {
    for (const [address, account] of accounts) {
      const known = all.get(address)
      if (account === null) all.delete(address)
      else if (known === undefined) all.set(address, { account, slots: new Map() })
      else known.account = account
    }
    for (const [address, { wiped, slots }] of storage) {
      const known = all.get(address)
      if (known === undefined) continue
      if (wiped) known.slots.clear()
      for (const [slot, value] of slots) known.slots.set(slot, cellWord(value))
    }
  }
  return all
}

/** Ethereum's root of the state that these changes, in order, make of an empty one. */
export async function ethereumStateRoot(...layers: readonly StateChanges[]): Promise<Hex> {
  const entries: [Uint8Array, Uint8Array][] = []
  for (const [address, { account, slots }] of fullState(layers)) {
    const words = [...slots].filter(([, word]) => word !== 0n)
    const storageRoot = await ethereumTrieRoot(
      words.map(([slot, word]) => [fromBigIntFixed(slot, 32), encodeRlp(fromBigInt(word))] as const),
    )
    const { nonce, balance, codeHash } = account
    entries.push([
      fromHex(address),
      encodeRlp([fromBigInt(nonce), fromBigInt(balance), storageRoot, fromHex(codeHash)]),
    ])
  }
  return toHex(await ethereumTrieRoot(entries))
}
