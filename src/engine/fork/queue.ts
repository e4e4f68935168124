/** The queue of commands on a fork: a command that waits for a failing upstream lets later commands run first. */
import { afterDelays, type Demand } from '../../state/fork/demand.ts'
import type { Call } from '../call.ts'
import type { SerialQueue } from '../serial-queue.ts'

/**
 * Runs a job after those before it. While the upstream answers in time, a job that fetches from it keeps the queue. A job
 * that has to wait longer leaves the queue without effect, and is enqueued again when the upstream has answered. It rejects
 * when the upstream fails.
 */
export function enqueueOnFork<T>(
  queue: SerialQueue,
  demand: Demand,
  job: (call: Call) => Promise<T>,
  call: Call | undefined,
): Promise<T> {
  return afterDelays(() => queue.enqueue((its) => demand.restartQueued(() => job(its)), call))
}
