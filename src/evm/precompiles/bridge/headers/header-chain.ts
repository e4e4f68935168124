/** The parent chain's headers as the Bridge knows them; the best chain has most work. */
import type { IsActive } from '../../../../chain/activations.ts'
import { decodeParentHeader, hashValue } from '../../../../chain/merged-mining/parent-header.ts'
import { fromBigIntFixed } from '../../../../encoding/bytes.ts'
import { doubleSha256 } from '../../../../encoding/hash.ts'
import { asBigInt, decodeRlp } from '../../../../encoding/rlp.ts'
import { frameString } from '../../../../encoding/rlp-frame.ts'
import { CELL } from '../../../../state/bridge-cells.ts'
import {
  decodeStored,
  encodeStored,
  heightSlot,
  previousHash,
  readBestHeader,
  type StoredHeader,
} from '../../../../state/bridge-headers.ts'
import type { PrecompileStorage } from '../../precompile.ts'
import { type BridgeNetwork, GENESIS_FEDERATION_BLOCK } from '../constants/network.ts'
import type { Federations } from '../federation/federations.ts'
import type { BridgeStore } from '../storage/store.ts'
import { decodeTarget, hasRightDifficulty, type ParentRules, parentRules, workOf } from './parent-chain.ts'

/** The outcome of `add`: stored, known already, without a known parent, or not valid. */
export type Reception = 'added' | 'known' | 'orphan' | 'invalid'

/** What the headers are kept in and judged by. */
export interface HeaderChainParts {
  readonly storage: PrecompileStorage
  readonly store: BridgeStore
  readonly network: BridgeNetwork
  readonly isActive: IsActive
  readonly federations: Federations
  /** Of the executing block. */
  readonly number: number
}

/**
 * The headers in the Bridge's storage. Headers and the best one are written at once, also by a call that then fails; the
 * index by height is written with the other cells when the call succeeds.
 */
export class HeaderChain {
  readonly #parts: HeaderChainParts
  readonly #rules: ParentRules
  #isOpen = false

  constructor(parts: HeaderChainParts) {
    this.#parts = parts
    this.#rules = parentRules(parts.network.parent)
  }

  /**
   * Stores the parent chain's genesis when nothing is stored yet, and then the header from which a public network counts.
   * Every other method does so first.
   */
  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    const { genesis, checkpoint } = this.#rules
    if (readBestHeader(this.#parts.storage) === undefined) this.#begin(genesis)
    if (checkpoint === undefined || this.best().hash !== genesis.hash) return
    if (this.#parts.federations.active().creationTime > 0) this.#begin(checkpoint.first)
  }

  #begin(header: StoredHeader): void {
    this.#put(header)
    this.#setHead(header)
  }

  /** The header of that hash (as displayed, read as an integer), of any branch. */
  get(hash: bigint): StoredHeader | undefined {
    this.open()
    return decodeStored(this.#parts.storage.bytes(hash))
  }

  /** The header of a hash whose confirmations are counted; one block of the test network knows another one. */
  confirmed(hash: bigint): StoredHeader | undefined {
    const { cached } = this.#rules
    const isCached = cached?.number === this.#parts.number && cached.header.hash === hash
    return isCached ? cached.header : this.get(hash)
  }

  /**
   * The header before this one; `undefined` before the first. Cells that were not written by the Bridge could name each
   * other in a circle: a header of another height is none.
   */
  parentOf({ bytes, height }: StoredHeader): StoredHeader | undefined {
    const parent = this.get(previousHash(bytes))
    return parent?.height === height - 1 ? parent : undefined
  }

  best(): StoredHeader {
    this.open()
    return readBestHeader(this.#parts.storage) ?? this.#rules.genesis
  }

  /** Height of the first header that the Bridge counts from. */
  initialHeight(): number {
    const { genesis, checkpoint } = this.#rules
    if (checkpoint === undefined) return genesis.height
    const isFirst = this.#parts.federations.active().creationBlock === GENESIS_FEDERATION_BLOCK
    return isFirst ? checkpoint.first.height : checkpoint.newestHeight
  }

  /** The best chain's header so many blocks below the best one; `undefined` below the first. */
  atDepth(depth: number): StoredHeader | undefined {
    let header: StoredHeader | undefined = this.best()
    for (let i = 0; i < depth && header !== undefined; i++) header = this.parentOf(header)
    return header
  }

  /**
   * The best chain's header at a height; `undefined` where a header on the way to it is not stored. Throws a RangeError
   * above the best one, and since RSKIP-199 outside the reach of the index by height.
   */
  atHeight(height: number): StoredHeader | undefined {
    const { height: best } = this.best()
    if (height > best || height < this.#lowest(best)) throw new RangeError('height out of reach')
    return this.#indexed(height) ?? this.atDepth(best - height)
  }

  #lowest(best: number): number {
    const { heightIndexStart, searchDepth } = this.#parts.network
    if (!this.#parts.isActive('rskip199')) return Number.NEGATIVE_INFINITY
    return best - heightIndexStart > searchDepth ? heightIndexStart : best - searchDepth
  }

  #indexed(height: number): StoredHeader | undefined {
    const { store, isActive } = this.#parts
    if (!isActive('rskip199')) return undefined
    const hash = store.readStored(heightSlot(height))
    return hash.length === 0 ? undefined : this.get(asBigInt(decodeRlp(hash), 'header hash'))
  }

  /** Checks 80 bytes and stores them; a chain of more work becomes the best. */
  add(bytes: Uint8Array): Reception {
    const hash = hashValue(doubleSha256(bytes))
    if (this.get(hash) !== undefined) return 'known'
    const header = decodeParentHeader(bytes)
    const target = decodeTarget(header.bits)
    if (target <= 0n || target > this.#rules.limit || hash > target) return 'invalid'
    const parent = this.get(previousHash(bytes))
    if (parent === undefined) return 'orphan'
    const made = { hash, bytes, height: parent.height + 1, work: parent.work + workOf(target) }
    try {
      if (!this.#isAcceptable(made, parent)) return 'invalid'
      this.#connect(made, parent)
      return 'added'
    } catch (error) {
      if (error instanceof RangeError) return 'invalid'
      throw error
    }
  }

  #isAcceptable({ hash, bytes, height }: StoredHeader, parent: StoredHeader): boolean {
    const fixed = this.#rules.fixed.get(height)
    if (fixed !== undefined && fixed !== hash) return false
    return hasRightDifficulty(this.#parts.network.parent, decodeParentHeader(bytes), parent, (header) =>
      this.parentOf(header),
    )
  }

  #connect(header: StoredHeader, parent: StoredHeader): void {
    const best = this.best()
    const isBest = parent.hash === best.hash
    const hasMoreWork = header.work > best.work
    const branch = isBest ? [] : this.#branchOf(parent, best)
    this.#put(header)
    if (!isBest && !hasMoreWork) return
    for (const member of branch) this.#index(member)
    this.#setHead(header)
  }

  /** The headers from `tip` down to where its branch leaves the best chain. Throws a RangeError when it never does. */
  #branchOf(tip: StoredHeader, best: StoredHeader): readonly StoredHeader[] {
    const branch: StoredHeader[] = []
    const down = (header: StoredHeader): StoredHeader => {
      const parent = this.parentOf(header)
      if (parent === undefined) throw new RangeError('a chain without a common header')
      return parent
    }
    let own = tip
    let main = best
    while (own.hash !== main.hash) {
      if (main.height > own.height) main = down(main)
      else {
        branch.push(own)
        own = down(own)
      }
    }
    return branch
  }

  #encode(header: StoredHeader): Uint8Array {
    return encodeStored(header, !this.#parts.isActive('rskip454'))
  }

  #put(header: StoredHeader): void {
    this.#parts.storage.setBytes(header.hash, this.#encode(header))
  }

  #setHead(best: StoredHeader): void {
    this.#parts.storage.setBytes(CELL.chainHead, this.#encode(best))
    this.#index(best)
  }

  #index({ height, hash }: StoredHeader): void {
    const { store, isActive } = this.#parts
    if (isActive('rskip199')) store.write(heightSlot(height), frameString(fromBigIntFixed(hash, 32)))
  }
}
