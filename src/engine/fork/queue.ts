/** The queue of commands on a fork: one that has to wait for an upstream at fault lets those behind it go first. */
import { afterDelays, type Demand } from '../../state/fork/demand.ts'
import type { Call } from '../call.ts'
import type { SerialQueue } from '../serial-queue.ts'

/**
 * Runs a job after those before it. While the upstream answers as it should, a job that needs something of it holds the
 * queue until that is there. One that has to wait longer leaves the queue, before it had any effect, and is enqueued again
 * when the upstream has answered; it is refused where that fails.
 */
export function enqueueOnFork<T>(
  queue: SerialQueue,
  demand: Demand,
  job: (call: Call) => Promise<T>,
  call: Call | undefined,
): Promise<T> {
  return afterDelays(() => queue.enqueue((its) => demand.restartQueued(() => job(its)), call))
}
