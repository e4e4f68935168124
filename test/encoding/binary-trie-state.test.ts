import { describe, expect, it } from 'vitest'
import { BinaryTrie } from '../../src/encoding/binary-trie.ts'
import { fromBigIntFixed } from '../../src/encoding/bytes.ts'
import { keccak256 } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import {
  account,
  accountKey,
  codeKey,
  markerKey,
  nameSlot,
  putGenesis,
  putRemasc,
  storageKey,
  LOCAL_STATE as vector,
} from '../support/local-state.ts'

const REMASC = fromHex('0x0000000000000000000000000000000001000008')
const REMASC_SENDER = Uint8Array.of(0)

/** The state after `height` empty blocks, each with its REMASC transaction. */
function stateAt(height: number): BinaryTrie {
  const trie = new BinaryTrie()
  putGenesis(trie)
  if (height > 0) putRemasc(trie, height)
  return trie
}

describe("the binary trie over the chain's own state keys", () => {
  it('has the keys in the table', () => {
    const contract = new Uint8Array(20).fill(0x11)
    expect(toHex(accountKey(REMASC_SENDER))).toBe(vector.keys.remascSender)
    expect(toHex(accountKey(fromHex(vector.cows[0] as Hex)))).toBe(vector.keys.cow)
    expect(toHex(storageKey(contract, fromBigIntFixed(0n, 32)))).toBe(vector.keys.slot0)
    expect(toHex(storageKey(contract, fromBigIntFixed(1n, 32)))).toBe(vector.keys.slot1)
  })

  it.each(vector.roots.map((root, height) => ({ root, height })))(
    'has the root at height $height',
    ({ root, height }) => {
      expect(stateAt(height).root()).toBe(root)
    },
  )

  it('has the root of the first payout, from an empty trie to five accounts', () => {
    const trie = stateAt(15)
    trie.put(storageKey(REMASC, nameSlot('brokenSelectionRule')), Uint8Array.of(0))
    for (const payee of [vector.labs, vector.miner, ...vector.federators]) {
      trie.put(accountKey(fromHex(payee)), account(0n, 0n))
    }
    expect(trie.root()).toBe(vector.firstPayout)
  })

  it('has the roots of a contract that is created, changed and removed', () => {
    const trie = stateAt(14)
    const address = new Uint8Array(20).fill(0x11)
    const slot = (value: bigint | Uint8Array) =>
      storageKey(address, typeof value === 'bigint' ? fromBigIntFixed(value, 32) : value)
    const hashOf = (byte: number) => keccak256(Uint8Array.of(byte))
    const code = codeKey(address)
    trie.put(accountKey(address), account(0n, 128n))
    trie.put(markerKey(address), Uint8Array.of(1))
    trie.put(code, new Uint8Array(100).fill(0x5b))
    trie.put(slot(0n), Uint8Array.of(255))
    trie.put(slot(1n), hashOf(1))
    trie.put(slot(hashOf(2)), Uint8Array.of(7))
    expect(trie.root()).toBe(vector.contract.created)

    trie.put(slot(1n), new Uint8Array(0))
    expect(trie.root()).toBe(vector.contract.slot1Cleared)

    for (const key of [accountKey(address), markerKey(address), code, slot(0n), slot(hashOf(2))])
      trie.delete(key)
    expect(trie.root()).toBe(vector.roots[14])
  })
})
