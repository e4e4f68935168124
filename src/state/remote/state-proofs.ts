/**
 * State against the state root of its block's header, by the proofs of `eth_getProof` (EIP-1186): in this family's trie the
 * nodes are read as any state (docs/protocol.md#58-state-root), in Ethereum's by the library.
 */
import { z } from 'zod'
import { EMPTY_CODE_HASH } from '../../chain/account.ts'
import { fromBigIntFixed, toBigInt } from '../../encoding/bytes.ts'
import { keccak256, keccakHex } from '../../encoding/hash.ts'
import { fromHex, type Hex, toFixedHex, toHex } from '../../encoding/hex.ts'
import { asBytes, asList, decodeRlp } from '../../encoding/rlp.ts'
import { decodeNode } from '../../encoding/trie-node.ts'
import { bitsOf } from '../../encoding/trie-path.ts'
import type { LoadNode } from '../../encoding/trie-update.ts'
import { cellWord, createStateKeys, decodeAccount } from '../state-keys.ts'
import { findBelow, findNode } from '../trie-read.ts'
import type { CacheRecord } from './cache/records.ts'
import type { StateItem } from './model.ts'
import { Data } from './wire.ts'

/** What `eth_getProof` answers; the values in it are not read, but what its nodes prove. */
export const WireProof = z.looseObject({
  accountProof: z.array(Data),
  storageProof: z.array(z.looseObject({ proof: z.array(Data) })),
})
export type WireProof = z.output<typeof WireProof>

/** What the proofs show of one account. */
interface Proven {
  /** `undefined`: it does not exist. */
  readonly account: { readonly nonce: bigint; readonly balance: bigint } | undefined
  /** `undefined` where the proofs do not reach the code. */
  readonly codeHash: Hex | undefined
  readonly cells: ReadonlyMap<bigint, bigint>
}

/** The slots to prove by address; an account alone has none. */
export function slotsOf(items: readonly StateItem[]): Map<Hex, bigint[]> {
  const slots = new Map<Hex, bigint[]>()
  for (const item of items) {
    const own = slots.get(item.address) ?? []
    slots.set(item.address, own)
    if (item.kind === 'cell') own.push(item.slot)
  }
  return slots
}

const keys = createStateKeys(1)

/** Reads the nodes of a proof in this family's trie. Throws where they do not lead from the root to what was asked. */
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
  const node = findNode(load, decodeNode(top), keys.account(address))
  const value = node?.value
  if (node === undefined || !(value instanceof Uint8Array) || value.length === 0) {
    return { account: undefined, codeHash: EMPTY_CODE_HASH, cells: new Map(slots.map((slot) => [slot, 0n])) }
  }
  const cells = new Map<bigint, bigint>()
  for (const slot of slots) {
    const cell = findBelow(load, node, bitsOf(keys.cell(slot)))?.value
    // What is longer than a word belongs to precompiled contracts, and is no answer of eth_getStorageAt.
    if (cell === undefined) cells.set(slot, 0n)
    else if (cell instanceof Uint8Array) cells.set(slot, toBigInt(cell))
  }
  return { account: decodeAccount(value), codeHash: node.isLeaf ? EMPTY_CODE_HASH : undefined, cells }
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
  if (found === null) {
    return { account: undefined, codeHash: EMPTY_CODE_HASH, cells: new Map(slots.map((slot) => [slot, 0n])) }
  }
  const [nonce, balance, storageRoot, codeHash] = asList(decodeRlp(found), 'account').map((part) =>
    asBytes(part, 'account'),
  ) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array]
  const cells = new Map<bigint, bigint>()
  for (const [index, slot] of slots.entries()) {
    const proof = storageProof[index]?.proof ?? []
    const isEmpty = toHex(storageRoot) === EMPTY_ETHEREUM_ROOT
    const cell = isEmpty ? null : await read(toHex(storageRoot), fromBigIntFixed(slot, 32), proof)
    cells.set(slot, cell === null ? 0n : toBigInt(asBytes(decodeRlp(cell), 'cell')))
  }
  return {
    account: { nonce: toBigInt(nonce), balance: toBigInt(balance) },
    codeHash: toHex(codeHash),
    cells,
  }
}

/** Root of Ethereum's empty trie: the hash of the empty RLP string. */
const EMPTY_ETHEREUM_ROOT = keccakHex(Uint8Array.of(0x80))

/** What a record states that the proofs of its account show otherwise; `undefined` where they agree, or do not reach it. */
export function contradiction(record: CacheRecord, { account, codeHash, cells }: Proven): string | undefined {
  if (record.kind === 'cell') {
    const proven = cells.get(record.slot)
    const stated = cellWord(record.value)
    if (proven === undefined || proven === stated) return undefined
    return `slot ${toFixedHex(record.slot, 32)} of ${record.address} is ${stated}, and its proof shows ${proven}`
  }
  if (record.kind !== 'account') return undefined
  const { address, account: stated } = record
  const differs = (what: string, found: unknown, shown: unknown) =>
    found === shown ? undefined : `the ${what} of ${address} is ${found}, and its proof shows ${shown}`
  return (
    differs('balance', stated?.balance ?? 0n, account?.balance ?? 0n) ??
    differs('nonce', stated?.nonce ?? 0n, account?.nonce ?? 0n) ??
    (codeHash === undefined ? undefined : differs('code hash', stated?.codeHash ?? EMPTY_CODE_HASH, codeHash))
  )
}
