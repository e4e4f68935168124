/**
 * Logs in order, found by their index as far as the consumer takes them: blocks without a match are not read, and no block
 * beyond the range of blocks that the consumer has come to.
 */
import type { Hex } from '../../encoding/hex.ts'
import { NodeError } from '../../errors.ts'
import type { LogQuery, LogView } from '../model.ts'

/** Blocks of the first range; each next range is twice as long, up to the most. */
const FIRST_BLOCKS = 1024
const MOST_BLOCKS = 16_384
/** Logs of one range; a range with more is halved. */
const MOST_LOGS = 20_000

/** Selects logs in an order. */
export interface LogWalk {
  /** Any of; empty matches all. */
  readonly addresses: readonly Hex[]
  /** Topics of the logs: those of one of the filters. */
  readonly filters: readonly LogQuery['topics'][]
  /** Heights, both included. */
  readonly from: number
  readonly to: number
  /** The newest first. */
  readonly isDescending: boolean
}

/** Logs that are read as far as the consumer takes them. */
export interface LogWalks {
  /** `from` is the first local block unless given, `to` the head, and the newest come first. */
  walkLogs(walk: Pick<LogWalk, 'addresses' | 'filters'> & Partial<LogWalk>): AsyncGenerator<LogView>
}

/** What finds logs. */
export type FindLogs = (query: LogQuery) => Promise<readonly LogView[]>

/** The height of a log. */
export function heightOf({ block }: LogView): number {
  return block.block.header.number
}

/** The order of logs on the chain. */
function compareLogs(a: LogView, b: LogView): number {
  return heightOf(a) - heightOf(b) || a.logIndex - b.logIndex
}

/** The matching logs of a range, in order, each once. Throws `log-limit`. */
async function logsIn(
  find: FindLogs,
  { addresses, filters }: LogWalk,
  range: { readonly from: number; readonly to: number },
): Promise<LogView[]> {
  const found = new Map<string, LogView>()
  const maxLogs = range.from === range.to ? 0 : MOST_LOGS
  for (const topics of filters) {
    for (const view of await find({ range, addresses, topics, maxBlocks: 0, maxLogs })) {
      found.set(`${heightOf(view)} ${view.logIndex}`, view)
    }
  }
  return [...found.values()].sort(compareLogs)
}

/** The logs of a walk in its order; further blocks are searched when the consumer goes on. */
export async function* walkLogs(find: FindLogs, walk: LogWalk): AsyncGenerator<LogView> {
  const { isDescending } = walk
  let [lowest, highest] = [walk.from, walk.to]
  let blocks = FIRST_BLOCKS
  while (lowest <= highest) {
    const from = isDescending ? Math.max(lowest, highest - blocks + 1) : lowest
    const to = isDescending ? highest : Math.min(highest, lowest + blocks - 1)
    let views: LogView[]
    try {
      views = await logsIn(find, walk, { from, to })
    } catch (error) {
      if (!(error instanceof NodeError) || error.kind !== 'log-limit' || from === to) throw error
      blocks = Math.ceil((to - from + 1) / 2)
      continue
    }
    yield* isDescending ? views.reverse() : views
    if (isDescending) highest = from - 1
    else lowest = to + 1
    blocks = Math.min(MOST_BLOCKS, blocks * 2)
  }
}
