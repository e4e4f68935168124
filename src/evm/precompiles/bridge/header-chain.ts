/** The parent chain's headers as the bridge knows them, kept in words of its storage; the best chain has most work. */
import {
  decodeParentHeader,
  hashValue,
  PARENT_HEADER_BYTES,
} from '../../../chain/merged-mining/parent-header.ts'
import { concat, fromBigIntFixed, toBigInt, toNumber } from '../../../encoding/bytes.ts'
import { doubleSha256, keccak256 } from '../../../encoding/hash.ts'
import { fromHex } from '../../../encoding/hex.ts'
import type { PrecompileStorage } from '../precompile.ts'
import { HEIGHT_INDEX_START, MAX_SEARCH_DEPTH } from './constants.ts'

/** The largest hash on the parent chain's local network, and its compact form; there it never changes. */
const TARGET = 0x7fffffn << 232n
const COMPACT_TARGET = 0x207fffff
const WORK_PER_HEADER = 2n ** 256n / (TARGET + 1n)

/** A header that the bridge has accepted. */
export interface StoredHeader {
  /** As displayed, read as an integer. */
  readonly hash: bigint
  /** 80 bytes. */
  readonly bytes: Uint8Array
  readonly height: number
  /** Work of the chain up to and with it. */
  readonly work: bigint
}

const GENESIS_BYTES = fromHex(
  `0x01000000${'00'.repeat(32)}3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4adae5494dffff7f2002000000`,
)

/** The first header of the parent chain's local network; the bridge knows it without having kept it. */
export const PARENT_GENESIS: StoredHeader = {
  hash: hashValue(doubleSha256(GENESIS_BYTES)),
  bytes: GENESIS_BYTES,
  height: 0,
  work: WORK_PER_HEADER,
}

function textSlot(text: string): bigint {
  return toBigInt(keccak256(new TextEncoder().encode(text)))
}

/** Hash of the best header; 0 while that is the genesis. */
const BEST_SLOT = textSlot('blockStoreChainHead')

/** Hash of the best chain's header at a height. */
function heightSlot(height: number): bigint {
  return textSlot(`btcBlockHeight-${height}`)
}

const WORD = 32
/** A header's words from the slot of its hash on: work, then height and the 80 bytes. */
const BODY_WORDS = Math.ceil((4 + PARENT_HEADER_BYTES) / WORD)

/** What became of a header: kept, there already, without a known parent, or without the work that it must show. */
export type Reception = 'added' | 'known' | 'orphan' | 'invalid'

/** The headers in one contract's storage. */
export class HeaderChain {
  readonly #storage: PrecompileStorage

  constructor(storage: PrecompileStorage) {
    this.#storage = storage
  }

  /** The header of that hash (as displayed, read as an integer), of whatever branch. */
  get(hash: bigint): StoredHeader | undefined {
    if (hash === PARENT_GENESIS.hash) return PARENT_GENESIS
    const work = this.#storage.get(hash)
    if (work === 0n) return undefined
    const words = Array.from({ length: BODY_WORDS }, (_, i) =>
      fromBigIntFixed(this.#storage.get(hash + 1n + BigInt(i)), WORD),
    )
    const body = concat(...words)
    return {
      hash,
      work,
      height: toNumber(body.subarray(0, 4)),
      bytes: body.slice(4, 4 + PARENT_HEADER_BYTES),
    }
  }

  /** The header before this one; `undefined` before the first. */
  parentOf(header: StoredHeader): StoredHeader | undefined {
    return this.get(previousHash(header.bytes))
  }

  best(): StoredHeader {
    const hash = this.#storage.get(BEST_SLOT)
    return (hash === 0n ? undefined : this.get(hash)) ?? PARENT_GENESIS
  }

  /** The best chain's header at a height up to the best one's; `undefined` below the first. */
  atHeight(height: number): StoredHeader | undefined {
    if (height === 0) return PARENT_GENESIS
    const hash = this.#storage.get(heightSlot(height))
    return hash === 0n ? undefined : this.get(hash)
  }

  /** `atHeight` within the reach that contracts have (RSKIP-199); throws a RangeError outside it. */
  withinReach(height: number): StoredHeader | undefined {
    const best = this.best().height
    const lowest = best - HEIGHT_INDEX_START > MAX_SEARCH_DEPTH ? HEIGHT_INDEX_START : best - MAX_SEARCH_DEPTH
    if (height < lowest || height > best) throw new RangeError('height out of reach')
    return this.atHeight(height)
  }

  /** Checks 80 bytes and keeps them; a chain of more work becomes the best. */
  add(bytes: Uint8Array): Reception {
    const hash = hashValue(doubleSha256(bytes))
    if (this.get(hash) !== undefined) return 'known'
    if (decodeParentHeader(bytes).bits !== COMPACT_TARGET || hash > TARGET) return 'invalid'
    const parent = this.get(previousHash(bytes))
    if (parent === undefined) return 'orphan'
    const header = { hash, bytes, height: parent.height + 1, work: parent.work + WORK_PER_HEADER }
    const isBest = header.work > this.best().work
    this.#put(header)
    if (isBest) this.#lead(header)
    return 'added'
  }

  #put({ hash, bytes, height, work }: StoredHeader): void {
    const body = new Uint8Array(BODY_WORDS * WORD)
    new DataView(body.buffer).setUint32(0, height)
    body.set(bytes, 4)
    this.#storage.set(hash, work)
    for (let i = 0; i < BODY_WORDS; i++) {
      this.#storage.set(hash + 1n + BigInt(i), toBigInt(body.subarray(i * WORD, (i + 1) * WORD)))
    }
  }

  /** Makes a kept header the best, and renames the heights down to where its branch leaves the former best chain. */
  #lead(best: StoredHeader): void {
    this.#storage.set(BEST_SLOT, best.hash)
    let header: StoredHeader | undefined = best
    while (header !== undefined && header.height > 0) {
      const slot = heightSlot(header.height)
      if (this.#storage.get(slot) === header.hash) return
      this.#storage.set(slot, header.hash)
      header = this.parentOf(header)
    }
  }
}

function previousHash(bytes: Uint8Array): bigint {
  return hashValue(decodeParentHeader(bytes).previousHash)
}
