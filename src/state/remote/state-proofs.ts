/**
 * State against the state root of its block's header, by the proofs of `eth_getProof` (EIP-1186): a state trie
 * reads the nodes of this family's proofs (docs/internals/protocol.md#58-state-root), `@ethereumjs/trie` those of Ethereum's.
 */
import { z } from 'zod'
import { fromBigIntFixed, toBigInt } from '../../encoding/bytes.ts'
import { keccak256, keccakHex } from '../../encoding/hash.ts'
import { fromHex, type Hex, toHex } from '../../encoding/hex.ts'
import { asBytes, asList, decodeRlp } from '../../encoding/rlp.ts'
import { decodeNode, TrieNode, trieValue } from '../../encoding/trie-node.ts'
import { bitsOf } from '../../encoding/trie-path.ts'
import type { LoadNode } from '../../encoding/trie-update.ts'
import { createStateKeys, decodeAccount } from '../state-keys.ts'
import { findBelow, findNode } from '../trie-read.ts'
import { Data } from './wire.ts'

/** What `eth_getProof` answers. Its values are not read, only the nodes that prove them. */
export const WireProof = z.looseObject({
  accountProof: z.array(Data),
  storageProof: z.array(z.looseObject({ proof: z.array(Data) })),
})
export type WireProof = z.output<typeof WireProof>

/** What the proofs show of one account. */
export interface Proven {
  /** `undefined`: it does not exist. */
  readonly account: { readonly nonce: bigint; readonly balance: bigint } | undefined
  /** Is this its code? */
  isCode(code: Uint8Array): boolean
  /** By slot. Values longer than a word, which only precompiled contracts have, are left out. */
  readonly cells: ReadonlyMap<bigint, bigint>
}

/** Path of the node of an account's code below the branch to it: the rest of the byte 0x80. */
const CODE_PATH = new Uint8Array(7)

/** An account that does not exist. */
function absent(slots: readonly bigint[]): Proven {
  const isCode = (code: Uint8Array) => code.length === 0
  return { account: undefined, isCode, cells: new Map(slots.map((slot) => [slot, 0n])) }
}

/** Reads the nodes of a proof in this family's trie. Throws where they do not lead from the root to the account and its slots. */
export function readOwnProof(
  root: Hex,
  address: Hex,
  slots: readonly bigint[],
  { accountProof, storageProof }: WireProof,
): Proven {
  const nodes = new Map<Hex, Uint8Array>()
  for (const wrapped of [...accountProof, ...storageProof.flatMap(({ proof }) => proof)]) {
    const bytes = asBytes(decodeRlp(wrapped), 'node')
    nodes.set(keccakHex(bytes), bytes)
  }
  const load: LoadNode = ({ hex }) => {
    const bytes = nodes.get(hex)
    if (bytes === undefined) throw new RangeError(`node ${hex} is missing`)
    return decodeNode(bytes)
  }
  const top = nodes.get(root)
  if (top === undefined) throw new RangeError(`the node of the state root ${root} is missing`)
  const keys = createStateKeys(1)
  const node = findNode(load, decodeNode(top), keys.account(address))
  const value = node?.value
  if (node === undefined || !(value instanceof Uint8Array) || value.length === 0) {
    return absent(slots)
  }
  const cells = new Map<bigint, bigint>()
  for (const slot of slots) {
    const cell = findBelow(load, node, bitsOf(keys.cell(slot)))?.value
    if (cell === undefined) cells.set(slot, 0n)
    else if (cell instanceof Uint8Array) cells.set(slot, toBigInt(cell))
  }
  const { right } = node
  const codeNode = right instanceof TrieNode ? right.hash.hex : right?.hex
  const nodeOf = (code: Uint8Array) => new TrieNode(CODE_PATH, trieValue(code), undefined, undefined, 0)
  return {
    account: decodeAccount(value),
    isCode: (code) => (code.length === 0 ? undefined : nodeOf(code).hash.hex) === codeNode,
    cells,
  }
}

/** The same in Ethereum's trie. */
export async function readEthereumProof(
  root: Hex,
  address: Hex,
  slots: readonly bigint[],
  { accountProof, storageProof }: WireProof,
): Promise<Proven> {
  const { verifyMerkleProof } = await import('@ethereumjs/trie')
  const read = (from: Hex, key: Uint8Array, proof: Uint8Array[]) =>
    verifyMerkleProof(keccak256(key), proof, { root: fromHex(from) })
  const found = await read(root, fromHex(address), accountProof)
  if (found === null) return absent(slots)
  const members = asList(decodeRlp(found), 'account').map((part) => asBytes(part, 'account'))
  const [nonce, balance, storageRoot, codeHash] = members
  if (nonce === undefined || balance === undefined || storageRoot === undefined || codeHash === undefined) {
    throw new RangeError(`the account has ${members.length} members, not 4`)
  }
  const cells = new Map<bigint, bigint>()
  for (const [index, slot] of slots.entries()) {
    const proof = storageProof[index]?.proof ?? []
    const isEmpty = toHex(storageRoot) === EMPTY_ETHEREUM_ROOT
    const cell = isEmpty ? null : await read(toHex(storageRoot), fromBigIntFixed(slot, 32), proof)
    cells.set(slot, cell === null ? 0n : toBigInt(asBytes(decodeRlp(cell), 'cell')))
  }
  return {
    account: { nonce: toBigInt(nonce), balance: toBigInt(balance) },
    isCode: (code) => keccakHex(code) === toHex(codeHash),
    cells,
  }
}

/** Root of Ethereum's empty trie: the hash of the empty RLP string. */
const EMPTY_ETHEREUM_ROOT = keccakHex(Uint8Array.of(0x80))
