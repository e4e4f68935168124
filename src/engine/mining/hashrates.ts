/** What miners say of their own speed, as long as they go on saying it. */
import type { Hex } from '../../encoding/hex.ts'

/** A rate counts for this many seconds; miners repeat it every few. */
const LIFETIME_SECONDS = 60

/** Miners whose rates are remembered; beyond that the one that was silent longest is forgotten. */
const MAX_CLIENTS = 1_000

/** The book of rates, hashes per second. */
export interface Hashrates {
  /** `client` is an id that the miner has chosen; its last rate counts. */
  report(client: Hex, rate: bigint): void
  /** Sum of the rates that still count. */
  total(): bigint
}

/** Makes an empty book. `now` gives Unix seconds. */
export function createHashrates(now: () => number): Hashrates {
  /** In order of the last report, so that the oldest are found at once. */
  const rates = new Map<Hex, { readonly rate: bigint; readonly time: number }>()

  function dropOld(): void {
    const oldest = now() - LIFETIME_SECONDS
    for (const [client, { time }] of rates) {
      if (time > oldest && rates.size <= MAX_CLIENTS) return
      rates.delete(client)
    }
  }

  return {
    report(client, rate) {
      rates.delete(client)
      rates.set(client, { rate, time: now() })
      dropOld()
    },
    total() {
      dropOld()
      let sum = 0n
      for (const { rate } of rates.values()) sum += rate
      return sum
    },
  }
}
