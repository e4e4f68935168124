/**
 * The proof search of a local miner: a parent-chain block with nothing but its coinbase
 * (docs/internals/protocol.md#24-local-miners).
 */
import { concat, EMPTY } from '../../encoding/bytes.ts'
import { fromHex } from '../../encoding/hex.ts'
import type { ChainConfig } from '../config.ts'
import { type Header, hashForMergedMining } from '../header.ts'
import { COMMITMENT_BYTES, type CompressedCoinbase, coinbaseHash, joinCompressed, TAG } from './commitment.ts'
import {
  encodeParentHeader,
  hashValue,
  PARENT_HEADER_BYTES,
  PARENT_HEADER_OFFSET,
  targetOf,
  writeInteger,
} from './parent-header.ts'
import {
  BLOCK_BYTES,
  compress,
  INITIAL_STATE,
  type Midstate,
  midstateOf,
  padTail,
  stateBytes,
} from './sha256-midstate.ts'

/** What a proof search takes beside the header. */
export interface ProofSearchOptions {
  /** The 12 bytes of RSKIP-110, where the rules ask for them. */
  readonly forkDetectionData?: Uint8Array | undefined
  /** Unix seconds, the time in the parent-chain header. */
  readonly time: number
  /** First nonce tried; 0 when left out. */
  readonly startNonce?: number
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
const INITIAL_BYTES = stateBytes(INITIAL_STATE)
const TAIL_START = BEFORE_HASH.subarray(CONSTANT_BYTES)

/** A time modulo 2^32: the header's field has 4 bytes. */
function seconds(time: number): number {
  return time >>> 0
}

/**
 * The search for a proof of a header, which its caller runs in time slices, so that other work can run between them. The
 * same header, time and nonce lead to the same proof. Nonces count up; after the last one the time moves on by a second.
 */
export class ProofSearch {
  readonly #header: Header
  readonly #coinbase: CompressedCoinbase
  readonly #target: bigint
  /** The highest 32 bits of the target, which nearly always decide. */
  readonly #targetTop: number
  readonly #parentHeader: Uint8Array
  /** SHA-256 after the first 64 bytes of the parent-chain header, and the padded rest with time and nonce. */
  readonly #firstBlock: Uint8Array
  readonly #lastBlock: Uint8Array<ArrayBuffer>
  readonly #lastView: DataView
  /** The padded first hash, input of the second. */
  readonly #inner = padTail(0, new Uint8Array(32))
  readonly #innerView = new DataView(this.#inner.buffer)
  /** What is hashed so far; in the end the hash. */
  readonly #hashed = new Uint8Array(32)
  readonly #state: Midstate = new DataView(this.#hashed.buffer)
  #time: number
  #nonce: number

  /** `header` is complete but for the proof. */
  constructor(header: Header, config: ChainConfig, options: ProofSearchOptions) {
    const commitment = fromHex(hashForMergedMining(header, config, options.forkDetectionData ?? EMPTY))
    this.#header = header
    this.#coinbase = {
      count: CONSTANT_BYTES,
      state: CONSTANT_STATE,
      tail: concat(TAIL_START, commitment, LOCK_TIME),
    }
    this.#target = targetOf(header.difficulty)
    this.#targetTop = Number(this.#target >> 224n)
    this.#time = seconds(options.time)
    this.#nonce = options.startNonce ?? 0
    this.#parentHeader = encodeParentHeader({
      version: PARENT_VERSION,
      previousHash: new Uint8Array(32),
      merkleRoot: coinbaseHash(this.#coinbase),
      time: this.#time,
      bits: PARENT_BITS,
      nonce: this.#nonce,
    })
    this.#firstBlock = stateBytes(midstateOf(this.#parentHeader, BLOCK_BYTES))
    this.#lastBlock = padTail(BLOCK_BYTES, this.#parentHeader.subarray(BLOCK_BYTES))
    this.#lastView = new DataView(this.#lastBlock.buffer)
  }

  /** Tries up to `attempts` nonces; the proven header, or `undefined` when none of them met the target. */
  advance(attempts: number): Header | undefined {
    for (let i = 0; i < attempts; i++, this.#step()) {
      this.#hash()
      if (this.#meetsTarget()) return this.#proven()
    }
    return undefined
  }

  /** Double SHA-256 of the header with the current nonce, left in `#hashed`. */
  #hash(): void {
    writeInteger(this.#lastBlock, PARENT_HEADER_OFFSET.nonce - BLOCK_BYTES, this.#nonce)
    this.#hashed.set(this.#firstBlock)
    compress(this.#state, this.#lastView, 0)
    this.#inner.set(this.#hashed)
    this.#hashed.set(INITIAL_BYTES)
    compress(this.#state, this.#innerView, 0)
  }

  #meetsTarget(): boolean {
    const top = this.#state.getUint32(28, true)
    if (top !== this.#targetTop) return top < this.#targetTop
    return hashValue(this.#hashed) <= this.#target
  }

  #step(): void {
    if (this.#nonce < MAX_NONCE) {
      this.#nonce++
      return
    }
    this.#nonce = 0
    this.#time = seconds(this.#time + 1)
    writeInteger(this.#lastBlock, PARENT_HEADER_OFFSET.time - BLOCK_BYTES, this.#time)
  }

  #proven(): Header {
    const bitcoinHeader = this.#parentHeader.slice()
    bitcoinHeader.set(this.#lastBlock.subarray(0, PARENT_HEADER_BYTES - BLOCK_BYTES), BLOCK_BYTES)
    return {
      ...this.#header,
      bitcoinHeader,
      merkleProof: EMPTY,
      coinbaseTransaction: joinCompressed(this.#coinbase),
    }
  }
}
