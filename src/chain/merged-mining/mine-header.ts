/**
 * The proof search of a local miner: a parent-chain block with nothing but its coinbase
 * (docs/internals/protocol.md#24-local-miners).
 */
import { concat, EMPTY } from '../../encoding/bytes.ts'
import { fromHex } from '../../encoding/hex.ts'
import type { ChainConfig } from '../config.ts'
import { type Header, hashForMergedMining } from '../header.ts'
import { COMMITMENT_BYTES, coinbaseHash, joinCompressed, TAG } from './commitment.ts'
import {
  encodeParentHeader,
  hashValue,
  PARENT_HEADER_BYTES,
  PARENT_HEADER_OFFSET,
  targetOf,
  writeInteger,
} from './parent-header.ts'
import { BLOCK_BYTES, compress, INITIAL_STATE, midstateOf, padTail, stateBytes } from './sha256-midstate.ts'

/** The parts of a proof that do not follow from the header. */
export interface ProofSearchOptions {
  /** The 12 bytes of RSKIP-110, where the rules ask for them. */
  readonly forkDetectionData?: Uint8Array | undefined
  /** Unix seconds, the time in the parent-chain header. */
  readonly time: number
  /** First nonce tried; 0 when left out. */
  readonly startNonce?: number
}

/** A proof search that its caller runs in time slices, so that other work can run between them. */
export interface ProofSearch {
  /** Tries up to `attempts` nonces; the proven header, or `undefined` when none of them met the target. */
  advance(attempts: number): Header | undefined
}

const PARENT_VERSION = 70_001
/** Compact form of a target that any hash meets, as real local blocks have it. */
const PARENT_BITS = 0x217fffff
const MAX_NONCE = 0xffff_ffff

/** The key that the coinbase pays: the curve's generator point. A fixed key keeps blocks reproducible. */
const COINBASE_KEY = fromHex('0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798')
const PUSH_33 = 0x21
const CHECK_SIGNATURE = 0xac
/** 50 coins in the parent chain's smallest unit, 8 bytes little-endian. */
const REWARD = Uint8Array.of(0x00, 0xf2, 0x05, 0x2a, 0x01, 0, 0, 0)

/** The coinbase up to the hash: version, one input without source, the reward, a worthless output that begins with the tag. */
const BEFORE_HASH = concat(
  Uint8Array.of(1, 0, 0, 0),
  Uint8Array.of(1),
  new Uint8Array(32),
  Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0xff, 0xff),
  Uint8Array.of(2),
  REWARD,
  Uint8Array.of(COINBASE_KEY.length + 2, PUSH_33),
  COINBASE_KEY,
  Uint8Array.of(CHECK_SIGNATURE),
  new Uint8Array(8),
  Uint8Array.of(TAG.length + COMMITMENT_BYTES),
  TAG,
)
const LOCK_TIME = new Uint8Array(4)

/** Everything before the block in which the tag begins never changes, so it is compressed once. */
const CONSTANT_BYTES = Math.floor((BEFORE_HASH.length - TAG.length) / BLOCK_BYTES) * BLOCK_BYTES
const CONSTANT_STATE = midstateOf(BEFORE_HASH, CONSTANT_BYTES)
const TAIL_START = BEFORE_HASH.subarray(CONSTANT_BYTES)

/** A time as the header's 4-byte field can hold it. */
function seconds(time: number): number {
  return time >>> 0
}

/**
 * Starts the search for a proof of `header`, which must be complete but for the proof; the same header, time and nonce
 * lead to the same proof. Nonces count up; when all are spent the time moves on by a second.
 */
export function createProofSearch(
  header: Header,
  config: ChainConfig,
  options: ProofSearchOptions,
): ProofSearch {
  const commitment = fromHex(hashForMergedMining(header, config, options.forkDetectionData ?? EMPTY))
  const coinbase = {
    count: CONSTANT_BYTES,
    state: CONSTANT_STATE,
    tail: concat(TAIL_START, commitment, LOCK_TIME),
  }
  const target = targetOf(header.difficulty)
  // The bytes of a hash that weigh most, which nearly always decide.
  const targetTop = Number(target >> 224n)

  let time = seconds(options.time)
  let nonce = options.startNonce ?? 0
  const bytes = encodeParentHeader({
    version: PARENT_VERSION,
    previousHash: new Uint8Array(32),
    merkleRoot: coinbaseHash(coinbase),
    time,
    bits: PARENT_BITS,
    nonce,
  })
  const firstBlock = midstateOf(bytes, BLOCK_BYTES)
  const lastBlock = padTail(BLOCK_BYTES, bytes.subarray(BLOCK_BYTES))
  const inner = padTail(0, new Uint8Array(32))
  const state = INITIAL_STATE.slice()

  /** Double SHA-256 of the header with the current nonce, left in `state`. */
  function hash(): void {
    writeInteger(lastBlock, PARENT_HEADER_OFFSET.nonce - BLOCK_BYTES, nonce)
    state.set(firstBlock)
    compress(state, lastBlock, 0)
    inner.set(stateBytes(state))
    state.set(INITIAL_STATE)
    compress(state, inner, 0)
  }

  function meets(): boolean {
    const word = state[7] as number
    const top = ((word & 0xff) << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)
    return top >>> 0 < targetTop || (top >>> 0 === targetTop && hashValue(stateBytes(state)) <= target)
  }

  function step(): void {
    if (nonce < MAX_NONCE) {
      nonce++
      return
    }
    nonce = 0
    time = seconds(time + 1)
    writeInteger(lastBlock, PARENT_HEADER_OFFSET.time - BLOCK_BYTES, time)
  }

  return {
    advance(attempts) {
      for (let i = 0; i < attempts; i++, step()) {
        hash()
        if (!meets()) continue
        bytes.set(lastBlock.subarray(0, PARENT_HEADER_BYTES - BLOCK_BYTES), BLOCK_BYTES)
        return {
          ...header,
          bitcoinHeader: bytes.slice(),
          merkleProof: EMPTY,
          coinbaseTransaction: joinCompressed(coinbase),
        }
      }
      return undefined
    },
  }
}
