/** Finds canonical blocks by height, and keeps the headers of the last ones and the hashes of those that were read. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Header } from '../../chain/header.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { ChainUpdate } from '../model.ts'

/** Heights whose headers are kept, for BLOCKHASH (256) and fork detection (449). */
const RECENT_HEIGHTS = 512
/** Number of lower heights whose hashes are kept once they were read: queries for logs read the same ranges again. */
const KNOWN_HASHES = 8_192

/** A canonical block's header and hash. */
export interface HeaderAt {
  readonly hash: Hex
  readonly header: Header
}

/** The heights of one chain. `head` is the height of its head, above which nothing is found. */
export class CanonicalHeights {
  readonly #blocks: Pick<BlockStore, 'canonicalHash' | 'header'>
  readonly #recent = new Map<number, HeaderAt>()
  /** Hashes by height; those of `#recent` need not be here. */
  readonly #hashes = new Map<number, Hex>()

  constructor(blocks: Pick<BlockStore, 'canonicalHash' | 'header'>) {
    this.#blocks = blocks
  }

  headerAt(height: number, head: number): HeaderAt | undefined {
    if (height > head || height < 0) return undefined
    const known = this.#recent.get(height)
    if (known !== undefined) return known
    const hash = this.#blocks.canonicalHash(height)
    const header = hash === undefined ? undefined : this.#blocks.header(hash)
    if (hash === undefined || header === undefined) return undefined
    const entry = { hash, header }
    if (height > head - RECENT_HEIGHTS) this.#recent.set(height, entry)
    return entry
  }

  hashAt(height: number, head: number): Hex | undefined {
    if (height > head || height < 0) return undefined
    const known = this.#recent.get(height)?.hash ?? this.#hashes.get(height)
    if (known !== undefined) return known
    const hash = this.#blocks.canonicalHash(height)
    if (hash === undefined) return undefined
    if (this.#hashes.size === KNOWN_HASHES) this.#hashes.clear()
    this.#hashes.set(height, hash)
    return hash
  }

  /** Follows a move of the head. */
  update({ removed, added }: ChainUpdate): void {
    for (const block of removed) this.#forget(block)
    for (const block of added) this.#forget(block)
    for (const block of added.slice(-RECENT_HEIGHTS)) this.remember(block)
  }

  /** Keeps the header of the head. */
  remember({ hash, block: { header } }: ExecutedBlock): void {
    this.#recent.set(header.number, { hash, header })
    this.#recent.delete(header.number - RECENT_HEIGHTS)
  }

  /** Forgets all, since any block may be another now. */
  clear(): void {
    this.#recent.clear()
    this.#hashes.clear()
  }

  #forget({ block: { header } }: ExecutedBlock): void {
    this.#recent.delete(header.number)
    this.#hashes.delete(header.number)
  }
}
