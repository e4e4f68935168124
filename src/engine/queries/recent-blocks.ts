/** Difficulties of the blocks of the last hour, summed up as blocks come and grow old, so that no question reads them all. */
import type { Header } from '../../chain/header.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'

/** The canonical blocks of a span of time up to now. */
export interface RecentBlocks {
  /** The sum of their difficulties, by beneficiary. Reads those that came and those that grew too old since the last call; all after a reorganisation. */
  upToNow(): ReadonlyMap<Hex, bigint>
}

interface Parts extends Pick<ChainAccess, 'blockchain' | 'blocks'> {
  /** Wall clock, Unix seconds. */
  readonly now: () => number
}

/** Makes the sums over the blocks of so many seconds; nothing is read until they are asked for. */
export function createRecentBlocks({ blockchain, blocks, now }: Parts, seconds: number): RecentBlocks {
  const difficulties = new Map<Hex, bigint>()
  /** Of the blocks that are summed up: the lowest height, and hash and height of the last. */
  let first = 0
  let last: { readonly hash: Hex; readonly height: number } | undefined
  let lastSince = 0

  const headerAt = (height: number): Header | undefined => blockchain.headerAt(height)?.header

  function add({ coinbase, difficulty }: Header, sign: 1n | -1n): void {
    const sum = (difficulties.get(coinbase) ?? 0n) + sign * difficulty
    if (sum === 0n) difficulties.delete(coinbase)
    else difficulties.set(coinbase, sum)
  }

  /** From the head down; timestamps ascend with the height. */
  function beginAnew(head: number, since: number): void {
    difficulties.clear()
    for (first = head + 1; first - 1 > blocks.first; first--) {
      const below = headerAt(first - 1)
      if (below === undefined || below.timestamp < since) break
      add(below, 1n)
    }
  }

  function goOn(from: number, head: number, since: number): void {
    for (let height = from; height <= head; height++) {
      const header = headerAt(height)
      if (header !== undefined) add(header, 1n)
    }
    for (; first <= head; first++) {
      const oldest = headerAt(first)
      if (oldest === undefined || oldest.timestamp >= since) break
      add(oldest, -1n)
    }
  }

  return {
    upToNow() {
      const since = now() - seconds
      const { hash, block } = blockchain.head
      const height = block.header.number
      const isContinued =
        last !== undefined && since >= lastSince && blockchain.isCanonical(last.hash) === true
      if (last !== undefined && isContinued) goOn(last.height + 1, height, since)
      else beginAnew(height, since)
      last = { hash, height }
      lastSince = since
      return difficulties
    },
  }
}
