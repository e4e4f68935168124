/** The queue in which the commands of an engine run, one after another. */
import { NodeError } from '../errors.ts'
import type { StateCollector } from './blockchain/state-collector.ts'
import { type Call, cancelled } from './call.ts'
import type { Fork } from './fork/fork.ts'
import { enqueueOnFork } from './fork/queue.ts'
import { createSerialQueue, type Enqueue, type EnqueueShared, type RunTogether } from './serial-queue.ts'

interface Parts {
  readonly fork: Pick<Fork, 'demand'> | undefined
  readonly collector: Pick<StateCollector, 'step'> | undefined
  /** Runs before each command and throws where it must not run. */
  readonly admitCommand: (() => void) | undefined
}

/** The queue of one engine. */
export class CommandQueue {
  readonly #parts: Parts
  readonly #queue = createSerialQueue()
  #isRetired = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The function that enqueues the commands of a call, or of the node itself. */
  enqueueFor(call?: Call): Enqueue {
    return (job) => {
      const run = (its: Call) => this.#run(() => job(its))
      const { fork } = this.#parts
      return fork === undefined
        ? this.#queue.enqueue(run, call)
        : enqueueOnFork(this.#queue, fork.demand, run, call)
    }
  }

  /** Makes a kind of commands, of which those that wait one directly behind the other may run together. */
  share<A, T>(together: RunTogether<A, T>): EnqueueShared<A, T> {
    return this.#queue.share((first, next) => this.#run(() => together(first, next)))
  }

  /** Runs a job that is no command: the nodes of a cluster that do not lead have such jobs too. */
  enqueueInternal<T>(job: (call: Call) => Promise<T>): Promise<T> {
    return this.#queue.enqueue(job)
  }

  /** Runs `replace` after the waiting commands; unless it throws, commands are refused from then on. */
  retire(replace: () => void): Promise<void> {
    return this.#queue.enqueue(async () => {
      replace()
      this.#isRetired = true
    })
  }

  /** Resolves when the commands enqueued so far have settled. On a fork, those that wait for the upstream are refused. */
  async close(): Promise<void> {
    // A command that waits for the upstream is enqueued again when that has answered.
    if (this.#parts.fork !== undefined)
      this.#queue.end(() => new NodeError('upstream', 'The fork was closed.'))
    await this.#queue.idle()
  }

  async #run<T>(job: () => Promise<T>): Promise<T> {
    if (this.#isRetired) {
      throw cancelled('a reset has put another chain in place, and it was not carried out')
    }
    this.#parts.admitCommand?.()
    try {
      return await job()
    } finally {
      this.#parts.collector?.step()
    }
  }
}
