/** Work for miners elsewhere: blocks that lack only a proof, made on demand and kept while their proof may still come. */
import { hashForMergedMining } from '../../chain/header.ts'
import { targetOf } from '../../chain/merged-mining/parent-header.ts'
import { EMPTY } from '../../encoding/bytes.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import type { Insertion } from '../blockchain/blockchain.ts'
import type { Clock, ClockState } from '../clock.ts'
import type { BuiltBlock } from './builder.ts'
import { forkDetectionOf } from './miner.ts'

/** How many works are kept; proofs of older ones are refused (docs/protocol.md#25-mining-work). */
const KEPT_WORKS = 20

/**
 * Work is made anew after this many seconds even when nothing moved, so that its timestamp stays near the
 * clock (docs/protocol.md#24-local-miners).
 */
const REFRESH_SECONDS = 60

/**
 * Miners are told again when fees have grown beyond this percentage of what they were told last
 * (docs/protocol.md#25-mining-work).
 */
const NOTIFY_FEES_PERCENT = 110n

/** A block that waits for a proof of work, as a miner sees it. */
export interface MiningWork {
  /** What the parent chain's coinbase must carry behind the tag (docs/protocol.md#15-hashes). */
  readonly hash: Hex
  /** The largest hash, read as an integer, that proves it. */
  readonly target: bigint
  /** Fees of its transactions, wei. */
  readonly paidFees: bigint
  readonly parentHash: Hex
}

/** What became of a proven block, and where it stands. */
export interface WorkInsertion {
  readonly outcome: Insertion['outcome']
  readonly hash: Hex
  readonly height: number
}

/** A kept work: the executed block behind it, and what else its proof needs. */
export interface KeptWork extends MiningWork {
  readonly built: BuiltBlock
  readonly forkDetectionData: Uint8Array | undefined
  /** The clock's moves that its timestamp has used. */
  readonly clockState: ClockState
}

/** The works of a node. */
export interface Works {
  /** Work on the head with what the pool has now; made at most once between changes. */
  current(): Promise<KeptWork>
  /** The same, for a miner: `notify` says whether it is worth changing to, and a work is news only once. */
  take(): Promise<MiningWork & { readonly notify: boolean }>
  /** One of the last works, by what the coinbase commits to. */
  find(hash: Hex): KeptWork | undefined
  /** Head, pool or clock moved: the next work is made anew. Kept ones stay. */
  forget(): void
}

interface Parts extends ChainAccess {
  /** Makes the block that would be mined at this moment. */
  readonly build: () => Promise<BuiltBlock>
  readonly clock: Clock
  /** Wall clock, Unix seconds. */
  readonly now: () => number
}

/** Makes the book of works. */
export function createWorks({ build, clock, now, ...chain }: Parts): Works {
  const { config } = chain
  const kept = new Map<Hex, KeptWork>()
  let latest: { readonly made: Promise<KeptWork>; readonly since: number } | undefined
  let told: MiningWork | undefined

  async function make(): Promise<KeptWork> {
    const clockState = clock.save()
    const built = await build()
    const { header } = built.block
    const forkDetectionData = forkDetectionOf(built, chain)
    const work: KeptWork = {
      hash: hashForMergedMining(header, config, forkDetectionData ?? EMPTY),
      target: targetOf(header.difficulty),
      paidFees: header.paidFees,
      parentHash: header.parentHash,
      built,
      forkDetectionData,
      clockState,
    }
    kept.delete(work.hash)
    kept.set(work.hash, work)
    for (const oldest of kept.keys()) {
      if (kept.size <= KEPT_WORKS) break
      kept.delete(oldest)
    }
    return work
  }

  function current(): Promise<KeptWork> {
    if (latest !== undefined && now() - latest.since < REFRESH_SECONDS) return latest.made
    const entry = { made: make(), since: now() }
    latest = entry
    entry.made.catch(() => {
      if (latest === entry) latest = undefined
    })
    return entry.made
  }

  return {
    current,
    async take() {
      const { hash, target, paidFees, parentHash } = await current()
      const work = { hash, target, paidFees, parentHash }
      const notify =
        told?.parentHash !== parentHash || paidFees > (told.paidFees * NOTIFY_FEES_PERCENT) / 100n
      if (notify) told = work
      return { ...work, notify }
    },
    find: (hash) => kept.get(hash),
    forget() {
      latest = undefined
    },
  }
}
