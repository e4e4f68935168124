/** The commitment of a coinbase transaction to the witnesses of its block (BIP-141). */
import { concat, equal } from '../encoding/bytes.ts'
import { doubleSha256 } from '../encoding/hash.ts'
import { OP } from './script.ts'
import type { Transaction } from './transaction.ts'

/** OP_RETURN, a push of 36 bytes, the tag. */
export const WITNESS_COMMITMENT_HEAD = Uint8Array.of(OP.RETURN, 0x24, 0xaa, 0x21, 0xa9, 0xed)
const SCRIPT_BYTES = 38

/** Position of the last committing output; -1 when none commits. */
export function commitmentPosition({ outputs }: Transaction): number {
  return outputs.findLastIndex(
    ({ script }) =>
      script.length >= SCRIPT_BYTES &&
      equal(script.subarray(0, WITNESS_COMMITMENT_HEAD.length), WITNESS_COMMITMENT_HEAD),
  )
}

/** The 32 bytes that the last committing output has; `undefined` when none commits. */
export function findWitnessCommitment(transaction: Transaction): Uint8Array | undefined {
  const output = transaction.outputs[commitmentPosition(transaction)]
  return output?.script.slice(WITNESS_COMMITMENT_HEAD.length, SCRIPT_BYTES)
}

/** What a coinbase transaction commits to: the root of the Merkle tree of wtxids (raw order) and the reserved value. */
export function witnessCommitment(root: Uint8Array, reserved: Uint8Array): Uint8Array {
  return doubleSha256(concat(root, reserved))
}
