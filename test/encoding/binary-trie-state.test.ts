import { describe, expect, it } from 'vitest'
import { PRECOMPILE_ADDRESS } from '../../src/chain/config.ts'
import { BinaryTrie } from '../../src/encoding/binary-trie.ts'
import {
  concat,
  fromBigInt,
  fromBigIntFixed,
  fromBigIntSigned,
  stripZeros,
} from '../../src/encoding/bytes.ts'
import { keccak256 } from '../../src/encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../src/encoding/hex.ts'
import { encodeRlp } from '../../src/encoding/rlp.ts'
import { fixture } from '../support/fixture.ts'

interface LocalChainState {
  readonly roots: readonly Hex[]
  readonly firstPayout: Hex
  readonly contract: { readonly created: Hex; readonly slot1Cleared: Hex }
  readonly cows: readonly Hex[]
  readonly miner: Hex
  readonly labs: Hex
  readonly federators: readonly Hex[]
  readonly keys: { readonly remascSender: Hex; readonly cow: Hex; readonly slot0: Hex; readonly slot1: Hex }
}

const vector = fixture<LocalChainState>('binary-trie/local-chain-state.json')
const ETHER = 10n ** 18n
const MARKER = Uint8Array.of(1)

function accountKey(address: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(0), keccak256(address).subarray(0, 10), address)
}

function markerKey(address: Uint8Array): Uint8Array {
  return concat(accountKey(address), Uint8Array.of(0))
}

function storageKey(address: Uint8Array, slot: Uint8Array): Uint8Array {
  const short = stripZeros(slot)
  const end = short.length === 0 ? Uint8Array.of(0) : short
  return concat(markerKey(address), keccak256(slot).subarray(0, 10), end)
}

function account(nonce: bigint, balance: bigint): Uint8Array {
  return encodeRlp([fromBigInt(nonce), fromBigIntSigned(balance)])
}

function nameSlot(name: string): Uint8Array {
  return fromBigIntFixed(BigInt(toHex(new TextEncoder().encode(name))), 32)
}

const REMASC = fromHex(PRECOMPILE_ADDRESS.remasc)
const REMASC_SENDER = Uint8Array.of(0)

function genesisState(): BinaryTrie {
  const trie = new BinaryTrie()
  for (const cow of vector.cows) trie.put(accountKey(fromHex(cow)), account(0n, 10n ** 12n * ETHER))
  for (const address of Object.values(PRECOMPILE_ADDRESS)) {
    const balance = address === PRECOMPILE_ADDRESS.bridge ? 21_000_000n * ETHER : 0n
    trie.put(accountKey(fromHex(address)), account(0n, balance))
    trie.put(markerKey(fromHex(address)), MARKER)
  }
  return trie
}

/** The state after `height` empty blocks, each with its REMASC transaction. */
function stateAt(height: number): BinaryTrie {
  const trie = genesisState()
  if (height === 0) return trie
  trie.put(accountKey(REMASC_SENDER), account(BigInt(height), 0n))
  trie.put(storageKey(REMASC, nameSlot('siblings')), Uint8Array.of(0xc0))
  return trie
}

describe("the binary trie over the chain's own state keys", () => {
  it('has the keys of the page', () => {
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

  it('has the root of the first payout, of nothing to five accounts', () => {
    const trie = stateAt(15)
    trie.put(storageKey(REMASC, nameSlot('brokenSelectionRule')), Uint8Array.of(0))
    for (const payee of [vector.labs, vector.miner, ...vector.federators]) {
      trie.put(accountKey(fromHex(payee)), account(0n, 0n))
    }
    expect(trie.root()).toBe(vector.firstPayout)
  })

  it('has the roots of a contract that comes, changes and goes', () => {
    const trie = stateAt(14)
    const address = new Uint8Array(20).fill(0x11)
    const slot = (value: bigint | Uint8Array) =>
      storageKey(address, typeof value === 'bigint' ? fromBigIntFixed(value, 32) : value)
    const hashOf = (byte: number) => keccak256(Uint8Array.of(byte))
    const code = concat(accountKey(address), Uint8Array.of(0x80))
    trie.put(accountKey(address), account(0n, 128n))
    trie.put(markerKey(address), MARKER)
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
