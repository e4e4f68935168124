/** How much a filter or a subscription counts towards the limits of a caller: a large one as several. */
import type { LogCriteria } from '../../engine/queries/logs.ts'

/** So many addresses and topics, or so many kept logs, count as one more filter. */
const ITEMS = 50
const LOGS = 100

/** One, and more for long lists and for logs that are kept. */
export function weightOf({ addresses, topics }: LogCriteria, keptLogs = 0): number {
  const items = topics.reduce((sum, wanted) => sum + (wanted?.length ?? 0), addresses.length)
  return 1 + Math.floor(items / ITEMS) + Math.floor(keptLogs / LOGS)
}
