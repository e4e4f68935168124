/** Hash rates that external miners report. */
import type { Hex } from '../../encoding/hex.ts'

/** A reported rate expires after this many seconds; miners repeat their reports every few seconds. */
const LIFETIME_SECONDS = 60

/** Number of miners whose rates are kept; beyond it the oldest report is dropped. */
const MAX_CLIENTS = 1_000

/** Reported rates, hashes per second. */
export interface Hashrates {
  /** Stores a miner's rate in place of its earlier one; `client` is an id that the miner chose. */
  report(client: Hex, rate: bigint): void
  /** Sum of the rates that have not expired. */
  total(): bigint
}

/** Makes an empty record. `now` is in Unix seconds. */
export function createHashrates(now: () => number): Hashrates {
  /** In order of the last report, so that the oldest come first. */
  const rates = new Map<Hex, { readonly rate: bigint; readonly time: number }>()

  function dropExpired(): void {
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
      dropExpired()
    },
    total() {
      dropExpired()
      let sum = 0n
      for (const { rate } of rates.values()) sum += rate
      return sum
    },
  }
}
