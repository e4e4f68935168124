/** One poll of a filter on logs: what its blocks hold since the last one, as much as fits a reply and is found in time. */
import type { ExecutedBlock } from '../../chain/block.ts'
import { bloomMightMatch } from '../../chain/log-filter.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Queries } from '../../engine/engine.ts'
import { createEventLoopYield } from '../../engine/event-loop.ts'
import type { LogView } from '../../engine/model.ts'
import { matchingLogs } from '../../engine/queries/logs.ts'
import { fixedHeight } from '../log-range.ts'
import type { LogFilter } from '../wire/log-filter.ts'
import type { Backlog } from './backlog.ts'

/** Bytes of a log in a reply beside its data, roughly and not too few. */
const LOG_BYTES = 800

/** A block that joined the chain or left it, in little room: the store finds it again, unless it has been forgotten there. */
export interface BlockStep {
  readonly hash: Hex
  readonly number: number
  readonly logsBloom: Uint8Array
  readonly removed: boolean
  /** Where the chain's head stood when all of this move was done. */
  readonly head: Hex
  /** Of a block that left. */
  readonly block?: ExecutedBlock
}

/** Where a filter on logs stands; a poll moves it on. */
export interface LogCursor {
  readonly filter: LogFilter
  /** Found already, and not yet told. */
  waiting: readonly LogView[]
}

interface Parts {
  readonly block: Queries['block']
  /** Milliseconds from any start. */
  readonly elapsed: () => number
  /** What happened to the chain; another backlog once nobody listens any more. */
  readonly steps: () => Backlog<BlockStep>
}

/** What a poll may take. */
interface Room {
  /** Bytes of the reply, roughly. */
  readonly bytes: number
  /** When it is to stop with what it has, as `elapsed` counts. */
  readonly until: number
}

/** Reads on from `at.cursor`, which moves with each step that is read. */
export type LogPoll = (at: { cursor: number }, of: LogCursor, room: Room) => Promise<LogView[]>

/** Makes the polls of one node's filters. */
export function createLogPoll({ block, elapsed, steps }: Parts): LogPoll {
  /** A block that joined the chain; one that the store forgot has left the chain since. */
  async function blockOf(hash: Hex, position: number): Promise<ExecutedBlock> {
    const stored = await block({ hash })
    const found =
      stored?.executed ??
      steps()
        .since(position)
        .find((step) => step.removed && step.hash === hash)?.block
    if (found === undefined) throw new Error(`block ${hash} is gone without having been removed`)
    return found
  }

  return async (at, of, room) => {
    const found: LogView[] = []
    let bytes = 0
    /** Takes what fits, and one log however large it is. */
    const takeWaiting = () => {
      let taken = 0
      for (const view of of.waiting) {
        bytes += LOG_BYTES + 2 * view.log.data.length
        if (bytes > room.bytes && found.length > 0) break
        found.push(view)
        taken++
      }
      of.waiting = of.waiting.slice(taken)
    }
    takeWaiting()
    const { blockHash, fromBlock, toBlock, addresses, topics } = of.filter
    const from = fixedHeight(fromBlock)
    const to = from === undefined ? undefined : fixedHeight(toBlock)
    const { end } = steps()
    const breathe = createEventLoopYield('query')
    while (at.cursor < end && of.waiting.length === 0 && bytes < room.bytes) {
      const step = steps().at(at.cursor++)
      if (step === undefined || (blockHash !== undefined && step.hash !== blockHash)) continue
      if (step.number < (from ?? 0) || step.number > (to ?? step.number)) continue
      if (!bloomMightMatch(step.logsBloom, addresses, topics)) continue
      const pause = breathe()
      if (pause !== undefined) await pause
      const executed = step.block ?? (await blockOf(step.hash, at.cursor))
      // Another poll of the same filter may have left some meanwhile.
      of.waiting = [...of.waiting, ...matchingLogs(executed, of.filter, step.removed)]
      takeWaiting()
      if (elapsed() >= room.until) break
    }
    return found
  }
}
