/** Transactions and receipts of an Ethereum block against the roots of its header (EIPs 2718, 2930, 1559, 4844, 7702). */
import { z } from 'zod'
import { logsBloom } from '../../chain/bloom.ts'
import type { Header } from '../../chain/header.ts'
import { recoverAddress } from '../../chain/signature.ts'
import { EMPTY, fromBigInt, oneByte } from '../../encoding/bytes.ts'
import { keccak256, keccakHex } from '../../encoding/hash.ts'
import { fromHex, type Hex, toHex, toQuantity } from '../../encoding/hex.ts'
import { encodeRlp, type RlpItem } from '../../encoding/rlp.ts'
import { Address, Hash, Quantity, type WireReceipt, type WireTransaction } from './wire.ts'

const Bytes = Hash.transform(fromHex)
const AccessList = z.array(z.looseObject({ address: Address, storageKeys: z.array(Bytes) }))
const Authorizations = z.array(
  z.looseObject({
    chainId: Quantity,
    address: Address,
    nonce: Quantity,
    yParity: Quantity,
    r: Quantity,
    s: Quantity,
  }),
)

/** What typed transactions have beside the members of all, in the order of their encoding around those. */
const Listed = z.looseObject({ chainId: Quantity, accessList: AccessList })
const Tipped = Listed.extend({ maxPriorityFeePerGas: Quantity })
const Blobs = Tipped.extend({ maxFeePerBlobGas: Quantity, blobVersionedHashes: z.array(Bytes) })
const Delegating = Tipped.extend({ authorizationList: Authorizations })

const amounts = (...values: readonly bigint[]): RlpItem[] => values.map(fromBigInt)
const listOf = (list: z.output<typeof AccessList>): RlpItem =>
  list.map(({ address, storageKeys }) => [fromHex(address), storageKeys])

/** What is signed of a transaction, without a legacy one's chain id; `undefined` for a type that is not known, and without its members. */
function signedParts(fields: WireTransaction): RlpItem[] | undefined {
  const { type, nonce, gasPrice, maxFeePerGas, gas, to, value, input } = fields
  const rest = [fromBigInt(gas), to === null ? EMPTY : fromHex(to), fromBigInt(value), input]
  if (type <= 1n) {
    if (gasPrice === undefined) return undefined
    if (type === 0n) return [...amounts(nonce, gasPrice), ...rest]
    const { data } = Listed.safeParse(fields)
    return data && [...amounts(data.chainId, nonce, gasPrice), ...rest, listOf(data.accessList)]
  }
  const { data } = Tipped.safeParse(fields)
  if (data === undefined || maxFeePerGas === undefined) return undefined
  const { chainId, maxPriorityFeePerGas, accessList } = data
  const parts = [...amounts(chainId, nonce, maxPriorityFeePerGas, maxFeePerGas), ...rest, listOf(accessList)]
  if (type === 2n) return parts
  if (type === 3n) {
    const blobs = Blobs.safeParse(fields).data
    return blobs && [...parts, fromBigInt(blobs.maxFeePerBlobGas), blobs.blobVersionedHashes]
  }
  const given = type === 4n ? Delegating.safeParse(fields).data : undefined
  if (given === undefined) return undefined
  const signed = given.authorizationList.map(({ address, ...each }) => [
    fromBigInt(each.chainId),
    fromHex(address),
    ...amounts(each.nonce, each.yParity, each.r, each.s),
  ])
  return [...parts, signed]
}

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

/** The bytes of a transaction; `undefined`: its type is not known, or members of it are missing. */
export function ethereumBytes(fields: WireTransaction): Uint8Array | undefined {
  const parts = signedParts(fields)
  return parts && typed(fields.type, [...parts, ...amounts(fields.v, fields.r, fields.s)])
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
