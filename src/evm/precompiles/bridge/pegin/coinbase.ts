/** Coinbase transactions of the parent chain, which commit to the witnesses of their blocks (RSKIP-143). */
import { reversed } from '../../../../bitcoin/hash.ts'
import { tryParseScript } from '../../../../bitcoin/script.ts'
import { isCoinbase, type Transaction } from '../../../../bitcoin/transaction.ts'
import {
  commitmentPosition,
  findWitnessCommitment,
  witnessCommitment,
} from '../../../../bitcoin/witness-commitment.ts'
import { decodeParentHeader } from '../../../../chain/merged-mining/parent-header.ts'
import { equal, toBigInt } from '../../../../encoding/bytes.ts'
import { PrecompileFailure } from '../../precompile.ts'
import type { BridgeCall } from '../method.ts'
import { readParentTransaction, rootOver } from './parent-transaction.ts'

/** Before RSKIP-460 the reference node fails on a malformed output from the committing one on, or anywhere without one. */
function checkReadable(transaction: Transaction): void {
  const looked = transaction.outputs.slice(Math.max(commitmentPosition(transaction), 0))
  if (looked.some(({ script }) => tryParseScript(script) === undefined)) {
    throw new PrecompileFailure('an output that ends within a push')
  }
}

/**
 * Keeps the root of the wtxids of a block. Arguments: transaction, block, tree, root, reserved value. Throws
 * PrecompileFailure, or a RangeError for malformed data.
 */
export function registerCoinbase({ args, headers, peg, isActive }: BridgeCall): void {
  headers.open()
  const bytes = args.bytes(0)
  const root = rootOver(args.bytes(2), bytes)
  if (root === undefined) return
  const header = headers.get(toBigInt(args.bytes(1)))
  if (header === undefined) throw new PrecompileFailure('the block is not known')
  if (!equal(root, decodeParentHeader(header.bytes).merkleRoot)) return
  const transaction = readParentTransaction(bytes)
  if (!isCoinbase(transaction)) throw new PrecompileFailure('not a coinbase transaction')
  const witnessRoot = reversed(args.bytes(3))
  if (!isActive('rskip460')) checkReadable(transaction)
  const commitment = findWitnessCommitment(transaction)
  if (commitment === undefined || !equal(commitment, witnessCommitment(witnessRoot, args.bytes(4)))) {
    throw new PrecompileFailure('the coinbase transaction commits to other witnesses')
  }
  peg.setWitnessRoot(reversed(args.bytes(1)), witnessRoot)
}
