/** One poll of a filter on logs: the matches since the last one, limited by the size of the reply and by time. */
import type { ExecutedBlock } from '../../chain/block.ts'
import { bloomMightMatch } from '../../chain/log-filter.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import type { CurrentEngine } from '../../engine/engine-holder.ts'
import { createEventLoopYield } from '../../engine/event-loop.ts'
import type { LogView } from '../../engine/model.ts'
import { matchingLogs } from '../../engine/queries/logs.ts'
import { fixedHeight } from '../log-range.ts'
import type { LogFilter } from '../wire/log-filter.ts'
import type { Backlog } from './backlog.ts'

/** Bytes of a log in a reply without its data, an upper estimate. */
const LOG_BYTES = 800

/** A block that joined the canonical chain or left it; the block itself is read from the store again. */
export interface BlockStep {
  readonly hash: Hex
  readonly number: number
  readonly logsBloom: Uint8Array
  readonly removed: boolean
  /** The head after the whole change. */
  readonly head: Hex
  /** Of a block that left the canonical chain. */
  readonly block?: ExecutedBlock
}

/** Where a filter on logs stands; a poll moves it on. */
export interface LogCursor {
  readonly filter: LogFilter
  /** Found already, and not yet returned. */
  waiting: readonly LogView[]
}

interface Parts {
  readonly node: Pick<CurrentEngine, 'engine'>
  /** Milliseconds from any start. */
  readonly elapsed: () => number
  /** The changes of the chain; a new backlog after all filters were removed, or another chain was put in place. */
  readonly steps: () => Backlog<BlockStep>
  /** Leave out the logs of REMASC transactions. */
  readonly hideRemasc: boolean
}

/** Limits of a poll. */
interface PollLimits {
  /** Bytes of the reply, roughly. */
  readonly bytes: number
  /** When to stop with what was found, as `elapsed` counts. */
  readonly until: number
}

/** Continues from `at.cursor`, which advances with each step that is read. */
export type LogPoll = (at: { cursor: number }, of: LogCursor, limits: PollLimits) => Promise<LogView[]>

/** Can a block of this step hold logs of the filter, by its height, hash and bloom? */
function canMatch({ blockHash, fromBlock, toBlock, addresses, topics }: LogFilter, step: BlockStep): boolean {
  if (blockHash !== undefined && step.hash !== blockHash) return false
  const from = fixedHeight(fromBlock)
  const to = from === undefined ? undefined : fixedHeight(toBlock)
  if (step.number < (from ?? 0) || step.number > (to ?? step.number)) return false
  return bloomMightMatch(step.logsBloom, addresses, topics)
}

/** The logs of one poll. */
class Reply {
  readonly found: LogView[] = []
  readonly #limit: number
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get isFull(): boolean {
    return this.#bytes >= this.#limit
  }

  /** Takes as many of the waiting logs as fit, and at least one. */
  take(of: LogCursor): void {
    let taken = 0
    for (const view of of.waiting) {
      this.#bytes += LOG_BYTES + 2 * view.log.data.length
      if (this.#bytes > this.#limit && this.found.length > 0) break
      this.found.push(view)
      taken++
    }
    of.waiting = of.waiting.slice(taken)
  }
}

/** Makes the polls of one node's filters. */
export function createLogPoll({ node, elapsed, steps, hideRemasc }: Parts): LogPoll {
  /** A block that joined the chain; one that is no longer in the store has left the chain since. */
  async function blockOf({ queries }: Engine, hash: Hex, position: number): Promise<ExecutedBlock> {
    const stored = await queries.block({ hash })
    const found =
      stored?.executed ??
      steps()
        .since(position)
        .find((step) => step.removed && step.hash === hash)?.block
    if (found === undefined) throw new Error(`block ${hash} is missing and was not removed`)
    return found
  }

  return async (at, of, limits) => {
    const reply = new Reply(limits.bytes)
    reply.take(of)
    const backlog = steps()
    const { end } = backlog
    const { engine } = node
    const yieldIfDue = createEventLoopYield('query')
    while (at.cursor < end && of.waiting.length === 0 && !reply.isFull) {
      const step = steps().at(at.cursor++)
      if (step === undefined || !canMatch(of.filter, step)) continue
      const pause = yieldIfDue()
      if (pause !== undefined) await pause
      const executed = step.block ?? (await blockOf(engine, step.hash, at.cursor))
      const logs = matchingLogs(executed, { ...of.filter, hideRemasc }, step.removed)
      // A reset has put another chain in place, or the filter was removed: this poll ends with what it has read.
      if (steps() !== backlog) return [...reply.found, ...logs]
      // Another poll of the same filter may have left some meanwhile.
      of.waiting = [...of.waiting, ...logs]
      reply.take(of)
      if (elapsed() >= limits.until) break
    }
    return reply.found
  }
}
