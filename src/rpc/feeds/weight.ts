/** The weight of a filter or subscription in the limits of a caller: a large one counts as several. */
import type { LogCriteria } from '../../engine/queries/logs.ts'

/** This many addresses and topics, or kept logs, count as one more filter. */
const ITEMS = 50
const LOGS = 100

/** One, and more for long lists and for logs that are kept. */
export function weightOf({ addresses, topics }: LogCriteria, keptLogs = 0): number {
  const items = topics.reduce((sum, wanted) => sum + (wanted?.length ?? 0), addresses.length)
  return 1 + Math.floor(items / ITEMS) + Math.floor(keptLogs / LOGS)
}

/** The total weight of what each caller holds. */
export class Weights<Caller> {
  readonly #totals = new Map<Caller, number>()

  of(caller: Caller): number {
    return this.#totals.get(caller) ?? 0
  }

  /** Adds to what a caller holds, or takes from it. */
  add(caller: Caller, weight: number): void {
    const total = this.of(caller) + weight
    if (total === 0) this.#totals.delete(caller)
    else this.#totals.set(caller, total)
  }
}
