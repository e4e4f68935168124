/** Transactions of the parent chain that a block of it holds. */
import { ByteReader } from '../../../../bitcoin/byte-reader.ts'
import { reversed } from '../../../../bitcoin/hash.ts'
import { hasTreeLength, proveByTree } from '../../../../bitcoin/merkle-tree.ts'
import { checkTransaction, readTransaction, type Transaction, txid } from '../../../../bitcoin/transaction.ts'
import { equal } from '../../../../encoding/bytes.ts'
import { doubleSha256 } from '../../../../encoding/hash.ts'
import { type Hex, toHex } from '../../../../encoding/hex.ts'
import { isRootOf } from '../headers/block-root.ts'
import type { BridgeState } from '../method.ts'

/** A transaction with the hash that names it. */
export interface ParentTransaction extends Transaction {
  /** Raw order. */
  readonly txid: Uint8Array
}

/** The hash as logs have it, in displayed order. */
export function displayedTxid({ txid }: ParentTransaction): Hex {
  return toHex(reversed(txid))
}

/** Throws a RangeError for a transaction that begins with no inputs, or with the mark of a witness and none (RSKIP-143). */
function checkInputCount(bytes: Uint8Array, isWitnessKnown: boolean): void {
  const countAt = (position: number) => new ByteReader(bytes, position).compactSize()
  if (countAt(4) !== 0n) return
  if (!isWitnessKnown || (countAt(5) === 1n && countAt(6) === 0n)) throw new RangeError('no inputs')
}

/** The root (raw order) of a partial Merkle tree about a transaction, by its bytes; `undefined` for one about others. */
export function rootOver(tree: Uint8Array, bytes: Uint8Array): Uint8Array | undefined {
  if (!hasTreeLength(tree)) throw new RangeError('a Merkle tree of a wrong length')
  const { root, matches } = proveByTree(tree)
  const hash = doubleSha256(bytes)
  return matches.some((match) => equal(match, hash)) ? root : undefined
}

/**
 * Does a tree prove the bytes of a transaction in the best chain's block at a height, deep enough for a peg-in? Throws a
 * RangeError where the reference node fails: for a malformed tree, and a height out of reach.
 */
export function isProven(state: BridgeState, bytes: Uint8Array, height: number, tree: Uint8Array): boolean {
  const { headers, network, isActive } = state
  const confirmations = headers.best().height - height + 1
  if (height < 0 || confirmations < network.peginConfirmations) return false
  const root = rootOver(tree, bytes)
  if (root === undefined) return false
  checkInputCount(bytes, isActive('rskip143'))
  const header = headers.atHeight(height)
  if (header === undefined) throw new RangeError('no block at that height')
  return isRootOf(state, header, root)
}

/** Reads a transaction; what follows it is not read. Throws a RangeError for bytes that hold none, or one that cannot be valid. */
export function readParentTransaction(bytes: Uint8Array): ParentTransaction {
  const { transaction, size } = readTransaction(bytes)
  checkTransaction(transaction, size)
  return { ...transaction, txid: txid(transaction) }
}
