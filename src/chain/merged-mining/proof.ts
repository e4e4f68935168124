/** The proof of work inside our header: attaching one, and checking it (docs/internals/protocol.md#2-merged-mining). */
import { equal } from '../../encoding/bytes.ts'
import { doubleSha256 } from '../../encoding/hash.ts'
import { fromHex, toHex } from '../../encoding/hex.ts'
import { invalidBlock, type NodeError } from '../../errors.ts'
import type { ChainConfig } from '../config.ts'
import { type Header, hashForMergedMining } from '../header.ts'
import {
  COMMITMENT_BYTES,
  type CompressedCoinbase,
  coinbaseHash,
  compressCoinbase,
  lastPosition,
  splitCompressed,
  TAG,
} from './commitment.ts'
import { rootOfBranch } from './merkle-branch.ts'
import { decodeParentHeader, hashValue, meetsTarget, PARENT_HEADER_BYTES, targetOf } from './parent-header.ts'
import { BLOCK_BYTES } from './sha256-midstate.ts'

const MAX_BYTES_AFTER_HASH = 128

/** What a parent-chain miner hands in. */
export interface Solution {
  /** 80 bytes. */
  readonly parentHeader: Uint8Array
  /** The whole serialized coinbase, without witness. */
  readonly coinbase: Uint8Array
  /** Siblings bottom up, display order (docs/internals/protocol.md#22-merkle-proof). */
  readonly merkleBranch: Uint8Array
}

/** The header with a solution in it, unchecked. Throws a RangeError when the coinbase holds no tag. */
export function attachProof(header: Header, { parentHeader, coinbase, merkleBranch }: Solution): Header {
  return {
    ...header,
    bitcoinHeader: parentHeader,
    merkleProof: merkleBranch,
    coinbaseTransaction: compressCoinbase(coinbase),
  }
}

function broken(message: string, expected?: string, found?: string): NodeError {
  return invalidBlock(message, {
    rule: 'proofOfWork',
    ...(expected !== undefined && { expected }),
    ...(found !== undefined && { found }),
  })
}

function wordText(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`
}

/** Runs a step that throws RangeErrors over malformed bytes, and reports them as a broken rule. */
function parsed<T>(step: () => T): T {
  try {
    return step()
  } catch (error) {
    if (error instanceof RangeError) throw broken(error.message)
    throw error
  }
}

function checkCommitment({ count, tail }: CompressedCoinbase, hash: Uint8Array): void {
  if (count + tail.length <= BLOCK_BYTES)
    throw broken('The coinbase transaction must be longer than 64 bytes')
  const position = lastPosition(tail, TAG)
  if (position < 0) throw broken('The coinbase transaction holds no tag')
  const start = position + TAG.length
  if (!equal(tail.subarray(start, start + COMMITMENT_BYTES), hash)) {
    throw broken(
      'The coinbase transaction does not commit to this block',
      toHex(hash),
      toHex(tail.subarray(start, start + COMMITMENT_BYTES)),
    )
  }
  if (position >= BLOCK_BYTES)
    throw broken('The tag lies beyond the first 64 bytes of the shortened coinbase')
  if (tail.length - start - COMMITMENT_BYTES > MAX_BYTES_AFTER_HASH) {
    throw broken(`More than ${MAX_BYTES_AFTER_HASH} bytes follow the hash in the coinbase transaction`)
  }
}

/** The three elements of a header that hold its proof. */
export type HeaderProof = Pick<Header, 'bitcoinHeader' | 'merkleProof' | 'coinbaseTransaction'>

/**
 * Checks that work of a difficulty was done for a merged-mining hash (32 bytes): parent-chain header, target,
 * commitment in the coinbase, merkle branch (docs/internals/protocol.md#21-coinbase, docs/internals/protocol.md#22-merkle-proof,
 * docs/internals/protocol.md#23-proof-of-work). Throws a NodeError `invalid-block` that names the rule broken first.
 */
export function checkWork(
  { bitcoinHeader, merkleProof, coinbaseTransaction }: HeaderProof,
  difficulty: bigint,
  hash: Uint8Array,
): void {
  if (bitcoinHeader.length !== PARENT_HEADER_BYTES) {
    throw broken(
      `The parent-chain header must have ${PARENT_HEADER_BYTES} bytes`,
      `${PARENT_HEADER_BYTES} bytes`,
      `${bitcoinHeader.length} bytes`,
    )
  }
  if (!meetsTarget(bitcoinHeader, difficulty)) {
    throw broken(
      'The hash of the parent-chain header does not meet the target',
      `at most ${wordText(targetOf(difficulty))}`,
      wordText(hashValue(doubleSha256(bitcoinHeader))),
    )
  }
  const compressed = parsed(() => splitCompressed(coinbaseTransaction))
  checkCommitment(compressed, hash)
  const root = parsed(() => rootOfBranch(coinbaseHash(compressed), merkleProof))
  const { merkleRoot } = decodeParentHeader(bitcoinHeader)
  if (!equal(root, merkleRoot)) {
    throw broken(
      'The merkle branch does not lead from the coinbase transaction to the merkle root',
      toHex(merkleRoot),
      toHex(root),
    )
  }
}

/** Checks the proof of work of a header, its own hash and difficulty given. Throws as `checkWork` does. */
export function checkProof(header: Header, config: ChainConfig): void {
  checkWork(header, header.difficulty, fromHex(hashForMergedMining(header, config)))
}
