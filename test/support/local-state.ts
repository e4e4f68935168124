/** Entries of the local network's state trie, written by hand (docs/internals/protocol.md#56-state-keys, docs/internals/protocol.md#72-regtest-genesis). */
import { PRECOMPILE_ADDRESS } from '../../src/chain/config.ts'
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
import { fixture } from './fixture.ts'

/** `fixtures/binary-trie/local-chain-state.json`. */
export interface LocalChainState {
  readonly roots: readonly Hex[]
  readonly firstPayout: Hex
  readonly contract: { readonly created: Hex; readonly slot1Cleared: Hex }
  readonly cows: readonly Hex[]
  readonly miner: Hex
  readonly labs: Hex
  readonly federators: readonly Hex[]
  readonly keys: { readonly remascSender: Hex; readonly cow: Hex; readonly slot0: Hex; readonly slot1: Hex }
}

export const LOCAL_STATE = fixture<LocalChainState>('binary-trie/local-chain-state.json')
export const ETHER = 10n ** 18n
/** What each of the local accounts begins with, wei. */
export const COW_BALANCE = 10n ** 12n * ETHER
const MARKER = Uint8Array.of(1)

const REMASC = fromHex(PRECOMPILE_ADDRESS.remasc)
const REMASC_SENDER = Uint8Array.of(0)

/** The target that a state is written to. */
interface Trie {
  put(key: Uint8Array, value: Uint8Array): void
}

export function accountKey(address: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(0), keccak256(address).subarray(0, 10), address)
}

export function markerKey(address: Uint8Array): Uint8Array {
  return concat(accountKey(address), Uint8Array.of(0))
}

export function codeKey(address: Uint8Array): Uint8Array {
  return concat(accountKey(address), Uint8Array.of(0x80))
}

/** `slot` has 32 bytes. */
export function storageKey(address: Uint8Array, slot: Uint8Array): Uint8Array {
  const short = stripZeros(slot)
  const end = short.length === 0 ? Uint8Array.of(0) : short
  return concat(markerKey(address), keccak256(slot).subarray(0, 10), end)
}

export function account(nonce: bigint, balance: bigint): Uint8Array {
  return encodeRlp([fromBigInt(nonce), fromBigIntSigned(balance)])
}

/** The slot of a cell of a precompiled contract. */
export function nameSlot(name: string): Uint8Array {
  return fromBigIntFixed(BigInt(toHex(new TextEncoder().encode(name))), 32)
}

/** Writes the state of the genesis block. */
export function putGenesis(trie: Trie): void {
  for (const cow of LOCAL_STATE.cows) trie.put(accountKey(fromHex(cow)), account(0n, COW_BALANCE))
  for (const address of Object.values(PRECOMPILE_ADDRESS)) {
    const balance = address === PRECOMPILE_ADDRESS.bridge ? 21_000_000n * ETHER : 0n
    trie.put(accountKey(fromHex(address)), account(0n, balance))
    trie.put(markerKey(fromHex(address)), MARKER)
  }
}

/** Writes what the REMASC transactions of `height` blocks leave: `fees` of all of them, wei. Up to height 14 nothing is paid out. */
export function putRemasc(trie: Trie, height: number, fees = 0n): void {
  trie.put(accountKey(REMASC_SENDER), account(BigInt(height), 0n))
  trie.put(accountKey(REMASC), account(0n, fees))
  trie.put(storageKey(REMASC, nameSlot('siblings')), Uint8Array.of(0xc0))
}

/** Writes a contract; values of its cells as numbers, by slot. */
export function putContract(
  trie: Trie,
  address: Hex,
  code: Uint8Array,
  cells: readonly (readonly [slot: bigint, value: bigint])[],
): void {
  const bytes = fromHex(address)
  trie.put(accountKey(bytes), account(0n, 0n))
  trie.put(markerKey(bytes), MARKER)
  trie.put(codeKey(bytes), code)
  for (const [slot, value] of cells) {
    trie.put(storageKey(bytes, fromBigIntFixed(slot, 32)), fromBigInt(value))
  }
}
