/** Work for external miners: block templates, built on demand and cached until their proof is submitted or outdated. */
import { hashForMergedMining } from '../../chain/header.ts'
import { targetOf } from '../../chain/merged-mining/parent-header.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import type { Clock, ClockState } from '../clock.ts'
import type { MiningWork } from '../model.ts'
import type { BuiltBlock } from './builder.ts'
import { forkDetectionOf } from './miner.ts'

/** Number of cached works; proofs of older ones are refused (docs/internals/protocol.md#25-mining-work). */
const CACHED_WORKS = 20

/**
 * Work is rebuilt after this many seconds even when nothing changed, so that its timestamp stays near the
 * clock (docs/internals/protocol.md#24-local-miners).
 */
const REFRESH_SECONDS = 60

/**
 * Miners are notified again when the fees exceed this percentage of those last notified
 * (docs/internals/protocol.md#25-mining-work).
 */
const NOTIFY_FEES_PERCENT = 110n

/** A cached work with its executed block and what else its proof needs. */
export interface CachedWork extends MiningWork {
  readonly built: BuiltBlock
  readonly forkDetectionData: Uint8Array | undefined
  /** The clock state that its timestamp was computed from. */
  readonly clockState: ClockState
}

/** The works of a node. */
export interface Works {
  /** Work on the head with the pool's transactions, built at most once between changes. */
  current(): Promise<CachedWork>
  /** The same, for a miner: `notify` is whether it should switch to it, true only the first time. */
  take(): Promise<MiningWork & { readonly notify: boolean }>
  /** One of the cached works, by the hash that the parent chain's coinbase commits to. */
  find(hash: Hex): CachedWork | undefined
  /** Called when head, pool or clock changed: the next call of `current` builds another work. Cached ones stay valid. */
  discard(): void
}

interface Parts extends ChainAccess {
  /** Builds the block that would be mined now. */
  readonly build: () => Promise<BuiltBlock>
  readonly clock: Clock
  /** Wall clock, Unix seconds. */
  readonly now: () => number
}

/** The works of a node, cached by hash. */
export class CachedWorks implements Works {
  readonly #parts: Parts
  readonly #cached = new Map<Hex, CachedWork>()
  #latest: { readonly work: Promise<CachedWork>; readonly since: number } | undefined
  /** The work of which miners were last notified. */
  #notified: MiningWork | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  current(): Promise<CachedWork> {
    const { now } = this.#parts
    if (this.#latest !== undefined && now() - this.#latest.since < REFRESH_SECONDS) return this.#latest.work
    const entry = { work: this.#build(), since: now() }
    this.#latest = entry
    entry.work.catch(() => {
      if (this.#latest === entry) this.#latest = undefined
    })
    return entry.work
  }

  async take(): Promise<MiningWork & { readonly notify: boolean }> {
    const { hash, target, paidFees, parentHash } = await this.current()
    const work = { hash, target, paidFees, parentHash }
    const last = this.#notified
    const notify = last?.parentHash !== parentHash || paidFees > (last.paidFees * NOTIFY_FEES_PERCENT) / 100n
    if (notify) this.#notified = work
    return { ...work, notify }
  }

  find(hash: Hex): CachedWork | undefined {
    return this.#cached.get(hash)
  }

  discard(): void {
    this.#latest = undefined
  }

  async #build(): Promise<CachedWork> {
    const { clock, config } = this.#parts
    const clockState = clock.save()
    const built = await this.#parts.build()
    const { header } = built.block
    const forkDetectionData = forkDetectionOf(built, this.#parts)
    const work: CachedWork = {
      hash: hashForMergedMining(header, config, forkDetectionData ?? EMPTY),
      target: targetOf(header.difficulty),
      paidFees: header.paidFees,
      parentHash: header.parentHash,
      built,
      forkDetectionData,
      clockState,
    }
    this.#cached.delete(work.hash)
    this.#cached.set(work.hash, work)
    for (const oldest of this.#cached.keys()) {
      if (this.#cached.size <= CACHED_WORKS) break
      this.#cached.delete(oldest)
    }
    return work
  }
}
