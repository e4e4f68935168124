/**
 * Checks the merged mining of a raw header without a node, step by step, so that it can be done in any language.
 * Keccak is keccak-256 and ‖ joins byte strings.
 */
import { concat, equal, toBigInt } from '../../encoding/bytes.ts'
import { keccak256 } from '../../encoding/hash.ts'
import { type Hex, toHex } from '../../encoding/hex.ts'
import { asBytes, asList, decodeRlp, encodeRlp } from '../../encoding/rlp.ts'
import { NodeError } from '../../errors.ts'
import type { ChainName } from '../activations.ts'
import { CHAINS } from '../config.ts'
import { FORK_DATA_PREFIX, forkDataIn } from './commitment.ts'
import { checkWork } from './proof.ts'

/** What a raw header leaves out of its proof; both are members of the block that `eth_getBlockByHash` answers. */
export interface MergedMiningProof {
  /**
   * `bitcoinMergedMiningMerkleProof`: 32-byte siblings bottom up, in display order
   * (docs/internals/protocol.md#22-merkle-proof).
   */
  readonly merkleProof: Uint8Array
  /** `bitcoinMergedMiningCoinbaseTransaction`: the shortened coinbase (docs/internals/protocol.md#21-coinbase). */
  readonly coinbaseTransaction: Uint8Array
}

/** What is known of a block once its header is checked. */
export interface VerifiedHeader {
  /** The block's hash: compare it with the one that was expected. */
  readonly hash: Hex
  /** What parent-chain miners committed to. */
  readonly hashForMergedMining: Hex
  readonly parentHash: Hex
  readonly receiptsRoot: Hex
  readonly number: number
  /** The work that was proven. The header does not show whether the chain required as much. */
  readonly difficulty: bigint
}

/** Positions in the list (docs/internals/protocol.md#12-fields). */
const PARENT_HASH = 0
const RECEIPTS_ROOT = 5
const LOGS_BLOOM = 6
const DIFFICULTY = 7
const NUMBER = 8
const UMM_ROOT = 16
const VERSION = 17
const EDGES = 18
const BASE_EVENT = 19

/** The layouts of a raw header that ends with its parent-chain header, by the length of the list. */
const LAYOUTS: Readonly<Record<number, { readonly version: 0 | 1 | 2; readonly hasUmmRoot: boolean }>> = {
  17: { version: 0, hasUmmRoot: false },
  18: { version: 0, hasUmmRoot: true },
  20: { version: 1, hasUmmRoot: true },
  21: { version: 2, hasUmmRoot: true },
}

function broken(rule: string): NodeError {
  return new NodeError('invalid-block', rule)
}

function elementsOf(rawHeader: Uint8Array): Uint8Array[] {
  try {
    return asList(decodeRlp(rawHeader), 'header').map((item) => asBytes(item, 'header element'))
  } catch {
    throw broken('A raw header is one RLP list of byte strings')
  }
}

/**
 * Checks that the work which a header asks for was done for it, and for no other.
 * Takes the answer of `ext_getRawBlockHeaderByHash` or `…ByNumber` as bytes, for any block from RSKIP-92 on (on the main
 * network height 729,000). Throws a NodeError `invalid-block` whose message names what is wrong.
 */
export function verifyMergedMining(
  rawHeader: Uint8Array,
  { merkleProof, coinbaseTransaction }: MergedMiningProof,
  chain: ChainName,
): VerifiedHeader {
  // 1. Take the list apart. Its length determines the version; from version 1 on an element repeats it
  // (docs/internals/protocol.md#12-fields, docs/internals/protocol.md#14-encodings).
  const elements = elementsOf(rawHeader)
  const element = (position: number): Uint8Array => elements[position] as Uint8Array
  const layout = LAYOUTS[elements.length]
  if (layout === undefined) throw broken(`A raw header with proof cannot have ${elements.length} elements`)
  const { version, hasUmmRoot } = layout
  if (version > 0 && !equal(element(VERSION), Uint8Array.of(version))) {
    throw broken(`A raw header of ${elements.length} elements must have version ${version}`)
  }
  const bitcoinHeader = element(elements.length - 1)
  const number = Number(toBigInt(element(NUMBER)))
  const difficulty = toBigInt(element(DIFFICULTY))

  // 2. The hashed form. From version 1 on the extension hash stands for bloom, base event and edges
  // (docs/internals/protocol.md#13-extension).
  const hashed = elements.slice(0, hasUmmRoot ? UMM_ROOT + 1 : UMM_ROOT)
  if (version > 0) {
    const extension = [keccak256(element(LOGS_BLOOM))]
    if (version === 2) extension.push(element(BASE_EVENT))
    extension.push(element(EDGES))
    hashed[LOGS_BLOOM] = encodeRlp([Uint8Array.of(version), keccak256(encodeRlp(extension))])
  }

  // 3. The block's hash covers the parent-chain header; what miners commit to cannot (docs/internals/protocol.md#15-hashes).
  const hash = keccak256(encodeRlp([...hashed, bitcoinHeader]))
  let commitment = keccak256(encodeRlp(hashed))
  const ummRoot = hasUmmRoot ? element(UMM_ROOT) : new Uint8Array(0)
  if (ummRoot.length > 0) commitment = keccak256(concat(commitment.subarray(0, FORK_DATA_PREFIX), ummRoot))

  // 4. From RSKIP-110 on the last 12 of its 32 bytes are fork detection data: the coinbase holds them
  // (docs/internals/protocol.md#15-hashes).
  if (CHAINS[chain].rulesAt(number).forkDetection) {
    const prefix = commitment.subarray(0, FORK_DATA_PREFIX)
    const forkData = forkDataIn(coinbaseTransaction, prefix)
    if (forkData === undefined) throw broken('The coinbase transaction does not commit to this block')
    commitment = concat(prefix, forkData)
  }

  // 5. The parent-chain header meets the target, its coinbase holds the commitment, and the branch binds the two.
  checkWork({ bitcoinHeader, merkleProof, coinbaseTransaction }, difficulty, commitment)

  return {
    hash: toHex(hash),
    hashForMergedMining: toHex(commitment),
    parentHash: toHex(element(PARENT_HASH)),
    receiptsRoot: toHex(element(RECEIPTS_ROOT)),
    number,
    difficulty,
  }
}
