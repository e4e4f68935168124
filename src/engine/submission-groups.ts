/**
 * Submissions that waited while another command was written share one write: each transaction runs by itself, as it would
 * alone, on what those before it have left, and all are acknowledged when the batch of their changes is on disk and, in a
 * cluster, in the log. A submission behind which none waits is not delayed.
 */
import type { Transaction } from '../chain/transaction.ts'
import type { Submitted } from './model.ts'
import type { EngineParts } from './parts.ts'
import type { RunTogether, SharedJob } from './serial-queue.ts'
import { StagedChain } from './staged-chain.ts'
import { Submissions } from './submissions.ts'
import { createRequests, type Requests } from './wallet/transaction-requests.ts'

/** Makes the transaction that is submitted, by requests for the chain that it is submitted to. */
export type Prepare = (requests: Requests) => Transaction

/** Most submissions of a group, and the time after which none is added, milliseconds. */
const MOST_TOGETHER = 64
const LONGEST_MS = 50
/** Most transactions of a pool that is copied for a group. */
const MOST_POOLED = 4_096

interface Parts {
  readonly parts: EngineParts
  readonly submissions: Submissions
  readonly requests: Requests
}

/** Settles a job with what it came to. */
type Settle = () => void

/** Runs the submissions of an engine. */
export class SubmissionGroups {
  readonly #own: Parts

  constructor(own: Parts) {
    this.#own = own
  }

  readonly run: RunTogether<Prepare, Submitted> = async (first, next) => {
    const second = this.#isPossible() ? next() : undefined
    if (second !== undefined) return this.#runGroup([first, second], next)
    const { submissions, requests } = this.#own
    const settle = await settled(first, () => submissions.submit(first.item(requests)))
    settle()
  }

  /** A parent chain, an upstream, and a mining handler are told of blocks before these are written. */
  #isPossible(): boolean {
    const { fork, collector, parentChain, mining, pool } = this.#own.parts
    const { pending, queued } = pool.size
    return (
      fork === undefined &&
      collector === undefined &&
      parentChain === undefined &&
      mining.schedule.handler === undefined &&
      pending + queued <= MOST_POOLED
    )
  }

  async #runGroup(
    jobs: SharedJob<Prepare, Submitted>[],
    next: () => SharedJob<Prepare, Submitted> | undefined,
  ): Promise<void> {
    const until = performance.now() + LONGEST_MS
    const { parts } = this.#own
    const staged = new StagedChain(parts)
    const submissions = new Submissions(staged)
    const requests = createRequests({ ...parts, pool: staged.pool, headState: staged.headState })
    const outcomes: Settle[] = []
    for (const job of jobs) {
      outcomes.push(await settled(job, () => submissions.submit(job.item(requests))))
      const hasRoom = jobs.length < MOST_TOGETHER && performance.now() < until
      const more = hasRoom && outcomes.length === jobs.length ? next() : undefined
      if (more !== undefined) jobs.push(more)
    }
    try {
      await staged.commit()
    } catch (error) {
      // What a refusal was based on may not have been written either.
      for (const { reject } of jobs) reject(error)
      return
    }
    for (const settle of outcomes) settle()
  }
}

/** Runs a submission; the result settles its job, later. */
async function settled(
  { resolve, reject }: SharedJob<Prepare, Submitted>,
  submit: () => Promise<Submitted>,
): Promise<Settle> {
  try {
    const submitted = await submit()
    return () => resolve(submitted)
  } catch (error) {
    return () => reject(error)
  }
}
