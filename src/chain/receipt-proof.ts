/**
 * Checking that a receipt stands in a block without a node, step by step, so that it can be done in any language.
 * Keccak is keccak-256.
 */
import { equal, fromBigInt, toNumber } from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'
import { fromHex, type Hex } from '../encoding/hex.ts'
import { encodeRlp } from '../encoding/rlp.ts'
import { invalidParams } from '../errors.ts'
import { decodeReceipt, type Receipt } from './receipt.ts'

/** What proves a receipt against the receipts root of its block's header. */
export interface ReceiptProof {
  /** RLP of the receipt: `ext_getRawTransactionReceiptByHash`. */
  readonly receipt: Uint8Array
  /** Nodes of the receipts trie, leaf first, root last: `ext_getTransactionReceiptNodesByHash`. */
  readonly nodes: readonly Uint8Array[]
  /** Position of the transaction in its block. */
  readonly index: number
}

/** The value at the end of a proof. */
export interface ProvenValue {
  /** Its keccak, 32 bytes. */
  readonly hash: Uint8Array
  /** Bytes. */
  readonly length: number
}

/** The flags in the first byte of a node (docs/internals/protocol.md#57-trie-nodes). */
const VERSION_MASK = 0xc0
const VERSION = 0x40
const LONG_VALUE = 0x20
const HAS_PATH = 0x10
const HAS_LEFT = 0x08
const HAS_RIGHT = 0x04
const LEFT_EMBEDDED = 0x02
const RIGHT_EMBEDDED = 0x01

const HASH_BYTES = 32
const LENGTH_BYTES = 3

/** How a node names its child: the child's own bytes, or their keccak. */
type Child = { readonly bytes: Uint8Array } | { readonly hash: Uint8Array }

interface ProofNode {
  /** The bits between the branch that leads here and this node, one per element. */
  readonly path: Uint8Array
  readonly left: Child | undefined
  readonly right: Child | undefined
  /** Of a long value its keccak and length; of any other itself; empty without a value. */
  readonly value: Uint8Array
  readonly isLong: boolean
}

/** The bits of a byte string, most significant first, one per element. */
function bitsOf(bytes: Uint8Array): Uint8Array {
  const bits = new Uint8Array(bytes.length * 8)
  for (let i = 0; i < bits.length; i++) bits[i] = ((bytes[i >> 3] as number) >> (7 - (i & 7))) & 1
  return bits
}

/** Takes a node apart (docs/internals/protocol.md#57-trie-nodes). */
function readNode(bytes: Uint8Array): ProofNode {
  let at = 0
  const take = (count: number): Uint8Array => {
    if (at + count > bytes.length) throw invalidParams('A node of the proof is cut short')
    at += count
    return bytes.subarray(at - count, at)
  }
  const takeByte = (): number => toNumber(take(1))
  // The parent chain's CompactSize: one byte, or fd, fe or ff and 2, 4 or 8 bytes, little-endian.
  const takeVarint = (): number => {
    const first = takeByte()
    if (first < 0xfd) return first
    const width = first === 0xfd ? 2 : first === 0xfe ? 4 : 8
    return take(width).reduceRight((value, byte) => value * 256 + byte, 0)
  }
  const takePath = (): Uint8Array => {
    const prefix = takeByte()
    const count = prefix < 0x20 ? prefix + 1 : prefix < 0xff ? prefix + 128 : takeVarint()
    return bitsOf(take(Math.ceil(count / 8))).subarray(0, count)
  }
  const takeChild = (embedded: number): Child =>
    embedded === 0 ? { hash: take(HASH_BYTES) } : { bytes: take(takeByte()) }

  const flags = takeByte()
  if ((flags & VERSION_MASK) !== VERSION) throw invalidParams('A node of the proof has an unknown format')
  const path = (flags & HAS_PATH) === 0 ? new Uint8Array(0) : takePath()
  const left = (flags & HAS_LEFT) === 0 ? undefined : takeChild(flags & LEFT_EMBEDDED)
  const right = (flags & HAS_RIGHT) === 0 ? undefined : takeChild(flags & RIGHT_EMBEDDED)
  // Size of everything below; no part of the proof.
  if (left !== undefined || right !== undefined) takeVarint()
  return { path, left, right, value: take(bytes.length - at), isLong: (flags & LONG_VALUE) !== 0 }
}

function namesChild(child: Child, bytes: Uint8Array): boolean {
  return 'bytes' in child ? equal(child.bytes, bytes) : equal(child.hash, keccak256(bytes))
}

/**
 * Walks a proof from the root down to `key`. Throws a NodeError `invalid-params` whose message names what is wrong.
 * `nodes` stand leaf first, root last.
 */
export function provenValue(nodes: readonly Uint8Array[], key: Uint8Array, root: Hex): ProvenValue {
  const way = [...nodes].reverse()
  const [top] = way
  if (top === undefined) throw invalidParams('The proof has no nodes')

  // 1. The last node of the list is the root.
  if (!equal(keccak256(top), fromHex(root))) throw invalidParams('The last node of the proof is not the root')

  let bits = bitsOf(key)
  for (let i = 0; ; i++) {
    // 2. Each node's path is the next part of the key.
    const node = readNode(way[i] as Uint8Array)
    const { length } = node.path
    if (!equal(node.path, bits.subarray(0, length))) throw invalidParams('The proof leads to another key')
    bits = bits.subarray(length)

    // 3. The next bit chooses the child, which is the next node of the proof.
    const next = way[i + 1]
    if (next !== undefined) {
      const child = bits[0] === 0 ? node.left : bits[0] === 1 ? node.right : undefined
      if (child === undefined) throw invalidParams('The proof goes on where the trie does not')
      if (!namesChild(child, next))
        throw invalidParams('A node of the proof is not the child of the one above')
      bits = bits.subarray(1)
      continue
    }

    // 4. The key ends where the proof does, and there the value stands: itself, or its keccak and length.
    if (bits.length > 0) throw invalidParams('The proof ends before the key')
    const { value, isLong } = node
    if (value.length === 0) throw invalidParams('The proof ends at a node without value')
    if (!isLong) return { hash: keccak256(value), length: value.length }
    if (value.length !== HASH_BYTES + LENGTH_BYTES) throw invalidParams('A node of the proof is malformed')
    return { hash: value.subarray(0, HASH_BYTES), length: toNumber(value.subarray(HASH_BYTES)) }
  }
}

/**
 * Checks a receipt against the receipts root of a header (docs/internals/protocol.md#55-receipts), and reads it.
 * Throws a NodeError `invalid-params` whose message names what is wrong.
 */
export function verifyReceiptProof({ receipt, nodes, index }: ReceiptProof, receiptsRoot: Hex): Receipt {
  if (!Number.isSafeInteger(index) || index < 0) throw invalidParams('The index must be a whole number')

  // 1. Receipts stand in the trie under the RLP of their index: 80, 01, …, 7f, 8180, …
  const key = encodeRlp(fromBigInt(BigInt(index)))

  // 2. The nodes lead from the root to what stands there. A receipt is long, so that is its keccak and its length.
  const { hash, length } = provenValue(nodes, key, receiptsRoot)

  // 3. Which are those of this receipt.
  if (receipt.length !== length || !equal(keccak256(receipt), hash)) {
    throw invalidParams('The proof is of another receipt')
  }
  return decodeReceipt(receipt)
}
