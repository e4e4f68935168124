/** The parent chain's headers as the Bridge knows them; the best chain has most work. */
import { decodeParentHeader, hashValue } from '../../../chain/merged-mining/parent-header.ts'
import { equal, fromBigIntFixed } from '../../../encoding/bytes.ts'
import { doubleSha256 } from '../../../encoding/hash.ts'
import { asBigInt, decodeRlp } from '../../../encoding/rlp.ts'
import { frameString } from '../../../encoding/rlp-frame.ts'
import { CELL } from '../../../state/bridge-cells.ts'
import {
  COMPACT_TARGET,
  decodeStored,
  encodeStored,
  heightSlot,
  PARENT_GENESIS,
  previousHash,
  readBestHeader,
  type StoredHeader,
  TARGET,
  WORK_PER_HEADER,
} from '../../../state/bridge-headers.ts'
import type { PrecompileStorage } from '../precompile.ts'
import { HEIGHT_INDEX_START, MAX_SEARCH_DEPTH } from './constants.ts'
import type { BridgeStore } from './store.ts'

/** The outcome of `add`: stored, known already, without a known parent, or without the required work. */
export type Reception = 'added' | 'known' | 'orphan' | 'invalid'

/**
 * The headers in the Bridge's storage. Headers and the best one are written at once, also by a call that then fails; the
 * index by height is written with the other cells when the call succeeds.
 */
export class HeaderChain {
  readonly #storage: PrecompileStorage
  readonly #store: BridgeStore
  #isOpen = false

  constructor(storage: PrecompileStorage, store: BridgeStore) {
    this.#storage = storage
    this.#store = store
  }

  /** Stores the parent chain's genesis when nothing is stored yet. Every other method does so first. */
  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    if (this.#storage.bytes(CELL.chainHead).length > 0) return
    this.#put(PARENT_GENESIS)
    this.#setHead(PARENT_GENESIS)
  }

  /** The header of that hash (as displayed, read as an integer), of any branch. */
  get(hash: bigint): StoredHeader | undefined {
    this.open()
    return decodeStored(this.#storage.bytes(hash))
  }

  /** The header before this one; `undefined` before the first. */
  parentOf(header: StoredHeader): StoredHeader | undefined {
    return this.get(previousHash(header.bytes))
  }

  best(): StoredHeader {
    this.open()
    return readBestHeader(this.#storage)
  }

  /** The best chain's header at a height up to the best one's; `undefined` below the first. */
  atHeight(height: number): StoredHeader | undefined {
    this.open()
    if (height === 0) return PARENT_GENESIS
    const hash = this.#store.read(heightSlot(height))
    return hash.length === 0 ? undefined : this.get(asBigInt(decodeRlp(hash), 'header hash'))
  }

  /** `atHeight` within the range that contracts can read (RSKIP-199); throws a RangeError outside it. */
  withinReach(height: number): StoredHeader | undefined {
    const best = this.best().height
    const lowest = best - HEIGHT_INDEX_START > MAX_SEARCH_DEPTH ? HEIGHT_INDEX_START : best - MAX_SEARCH_DEPTH
    if (height < lowest || height > best) throw new RangeError('height out of reach')
    return this.atHeight(height)
  }

  /** Checks 80 bytes and stores them; a chain of more work becomes the best. */
  add(bytes: Uint8Array): Reception {
    const hash = hashValue(doubleSha256(bytes))
    if (this.get(hash) !== undefined) return 'known'
    if (decodeParentHeader(bytes).bits !== COMPACT_TARGET || hash > TARGET) return 'invalid'
    const parent = this.get(previousHash(bytes))
    if (parent === undefined) return 'orphan'
    const header = { hash, bytes, height: parent.height + 1, work: parent.work + WORK_PER_HEADER }
    const isBest = header.work > this.best().work
    this.#put(header)
    if (isBest) this.#setHead(header)
    return 'added'
  }

  #put(header: StoredHeader): void {
    this.#storage.setBytes(header.hash, encodeStored(header))
  }

  /** Makes a stored header the best, and indexes the heights down to where its branch leaves the former best chain. */
  #setHead(best: StoredHeader): void {
    this.#storage.setBytes(CELL.chainHead, encodeStored(best))
    let header: StoredHeader | undefined = best
    while (header !== undefined) {
      const slot = heightSlot(header.height)
      const indexed = frameString(fromBigIntFixed(header.hash, 32))
      if (equal(this.#store.read(slot), indexed)) return
      this.#store.write(slot, indexed)
      header = header.height > 1 ? this.parentOf(header) : undefined
    }
  }
}
