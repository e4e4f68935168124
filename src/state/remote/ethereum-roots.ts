/** Transactions and receipts of an Ethereum block against the roots of its header (EIPs 2718, 2930, 1559, 4844, 7702). */
import { logsBloom } from '../../chain/bloom.ts'
import type { Header } from '../../chain/header.ts'
import { recoverAddress } from '../../chain/signature.ts'
import { EMPTY, fromBigInt, oneByte } from '../../encoding/bytes.ts'
import { keccak256, keccakHex } from '../../encoding/hash.ts'
import { fromHex, type Hex, toHex, toQuantity } from '../../encoding/hex.ts'
import { encodeRlp, type RlpItem } from '../../encoding/rlp.ts'
import type { WireReceipt, WireTransaction } from './wire.ts'
import { signedTypedItems } from './wire-typed.ts'

/** What is signed of a transaction, without a legacy one's chain id; `undefined` as `signedTypedItems`. */
function signedParts(fields: WireTransaction): RlpItem[] | undefined {
  const { type, nonce, gasPrice, gas, to, value, input } = fields
  if (type !== 0n) return signedTypedItems(fields)
  if (gasPrice === undefined) return undefined
  return [...amounts(nonce, gasPrice, gas), to === null ? EMPTY : fromHex(to), fromBigInt(value), input]
}

const amounts = (...values: readonly bigint[]): RlpItem[] => values.map(fromBigInt)

/** The encoding of a type: its number before the list, except for a legacy one. */
function typed(type: bigint, parts: readonly RlpItem[]): Uint8Array {
  const list = encodeRlp(parts)
  return type === 0n ? list : Uint8Array.of(Number(type), ...list)
}

/** A transaction as a block has it, and who signed it. */
interface Encoded {
  readonly raw: Uint8Array
  readonly sender: Hex | undefined
}

/** `undefined`: its type is not known, or it has no signature, as those that a chain makes by itself. */
function encode(fields: WireTransaction): Encoded | undefined {
  const { type, v, r, s } = fields
  const parts = signedParts(fields)
  if (parts === undefined || (r === 0n && s === 0n)) return undefined
  const raw = typed(type, [...parts, ...amounts(v, r, s)])
  const chainId = (v - 35n) / 2n
  const signed = type === 0n && v >= 35n ? [...parts, fromBigInt(chainId), EMPTY, EMPTY] : parts
  const isOdd = type !== 0n ? v === 1n : v >= 35n ? (v - 35n) % 2n === 1n : v === 28n
  return { raw, sender: recoverAddress(keccak256(typed(type, signed)), r, s, isOdd ? 1 : 0) }
}

function encodeReceipt({ status, cumulativeGasUsed, logs }: WireReceipt, type: bigint): Uint8Array {
  return typed(type, [
    status ? oneByte(1) : EMPTY,
    fromBigInt(cumulativeGasUsed),
    logsBloom(logs),
    logs.map(({ address, topics, data }) => [fromHex(address), topics.map(fromHex), data]),
  ])
}

/** Root of the trie that holds each value under the RLP of its index (Yellow Paper 4.4). */
async function listRoot(values: readonly Uint8Array[]): Promise<Hex> {
  const { MerklePatriciaTrie } = await import('@ethereumjs/trie')
  const trie = new MerklePatriciaTrie()
  for (const [index, value] of values.entries()) {
    await trie.put(encodeRlp(fromBigInt(BigInt(index))), value)
  }
  return toHex(trie.root())
}

/** The result of comparing a block with its header, in phrases. */
export interface RootCheck {
  /** What contradicts the header. */
  readonly wrong?: string
  /** Why something is not proven by it. */
  readonly unproven?: string
}

/** Compares transactions, in the order of a block, and their receipts with the roots of a header whose hash was verified. */
export async function checkEthereumRoots(
  transactions: readonly WireTransaction[],
  receipts: readonly WireReceipt[],
  header: Header,
): Promise<RootCheck> {
  const block = `block ${header.number}`
  const encoded: Encoded[] = []
  for (const fields of transactions) {
    const known = encode(fields)
    if (known === undefined) {
      return {
        unproven: `transaction ${fields.hash} of ${block}, of type ${toQuantity(fields.type)}, is of no known form`,
      }
    }
    encoded.push(known)
  }
  if ((await listRoot(encoded.map(({ raw }) => raw))) !== header.transactionsRoot) {
    return { wrong: `the transactions of ${block} have another root than its header` }
  }
  const ends = receipts.map((receipt, index) => encodeReceipt(receipt, transactions[index]?.type ?? 0n))
  if ((await listRoot(ends)) !== header.receiptsRoot) {
    return { wrong: `the receipts of ${block} have another root than its header` }
  }
  const isSum = receipts.every(
    ({ gasUsed, cumulativeGasUsed }, index) =>
      cumulativeGasUsed === (receipts[index - 1]?.cumulativeGasUsed ?? 0n) + gasUsed,
  )
  if (!isSum) return { wrong: `the receipts of ${block} have other amounts of gas than their sums` }
  // Development nodes make up the signatures of impersonated senders, and some the hash.
  const made = transactions.find(
    ({ hash, from }, index) => encoded[index]?.sender !== from || keccakHex(encoded[index].raw) !== hash,
  )
  if (made === undefined) return {}
  return {
    unproven: `the hash or the sender of transaction ${made.hash} of ${block} is not that of its signature`,
  }
}
