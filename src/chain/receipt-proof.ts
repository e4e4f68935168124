/**
 * Checks without a node that a receipt belongs to a block, step by step, so that it can be done in any language.
 * Keccak is keccak-256.
 */
import { equal, fromBigInt } from '../encoding/bytes.ts'
import { keccak256 } from '../encoding/hash.ts'
import type { Hex } from '../encoding/hex.ts'
import { encodeRlp } from '../encoding/rlp.ts'
import { invalidParams } from '../errors.ts'
import { decodeReceipt, type EncodedReceipt } from './receipt.ts'
import { walkProof } from './trie-proof.ts'

/** What proves a receipt against the receipts root of its block's header. */
export interface ReceiptProof {
  /** Bytes of the receipt: `ext_getRawTransactionReceiptByHash`. */
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

/**
 * Walks a proof from the root down to `key`. Throws a NodeError `invalid-params` whose message names what is wrong.
 * `nodes` are leaf first, root last.
 */
export function provenValue(nodes: readonly Uint8Array[], key: Uint8Array, root: Hex): ProvenValue {
  const { node, isOnPath, rest } = walkProof(nodes, key, root)
  if (!isOnPath) throw invalidParams('The proof leads to another key')
  if (rest.length > 0) throw invalidParams('The proof ends before the key')
  const { value } = node
  if (value === undefined) throw invalidParams('The proof ends at a node without value')
  // A value of more than 32 bytes is stored outside its node, which has its keccak and its length.
  return value instanceof Uint8Array
    ? { hash: keccak256(value), length: value.length }
    : { hash: value.hash.bytes, length: value.length }
}

/**
 * Checks a receipt against the receipts root of a header (docs/internals/protocol.md#55-receipts), and reads it.
 * Throws a NodeError `invalid-params` whose message names what is wrong.
 */
export function verifyReceiptProof(
  { receipt, nodes, index }: ReceiptProof,
  receiptsRoot: Hex,
): EncodedReceipt {
  if (!Number.isSafeInteger(index) || index < 0) throw invalidParams('The index must be a whole number')

  // 1. The key of a receipt is the RLP of its index: 80, 01, …, 7f, 8180, …
  const key = encodeRlp(fromBigInt(BigInt(index)))

  // 2. The nodes lead from the root to its value. A receipt is long, so the trie has its keccak and its length.
  const { hash, length } = provenValue(nodes, key, receiptsRoot)

  // 3. These are the keccak and the length of this receipt.
  if (receipt.length !== length || !equal(keccak256(receipt), hash)) {
    throw invalidParams('The proof is of another receipt')
  }
  return decodeReceipt(receipt)
}
