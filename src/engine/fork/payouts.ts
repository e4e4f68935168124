/** Payouts of collected fees on a fork read blocks of the upstream, far below: these are fetched in time, or the payout is left out. */

import type { ChainConfig } from '../../chain/config.ts'
import { UNCLE_GENERATIONS } from '../../chain/validation.ts'
import { messageOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { type Demand, UpstreamDelay } from '../../state/fork/demand.ts'
import type { RemoteChain } from '../../state/remote/model.ts'
import type { BlockHistory } from '../../store/block-store.ts'

/** Number of headers that are fetched ahead: about as many as one request to the reference node may have calls. */
const AHEAD = 48

/** What the payouts of a fork's blocks need. */
interface Parts {
  readonly remote: RemoteChain
  readonly history: BlockHistory
  readonly demand: Demand
  readonly config: ChainConfig
  readonly logger: Logger
  /** Heights of blocks without a payout; `prepare` adds to them. */
  readonly unpaid: Set<number>
}

/** Prepares the payouts of a fork's blocks. */
export class ForkPayouts {
  readonly #parts: Parts
  /** Reasons that were logged. */
  readonly #logged = new Set<string>()
  /** Headers up to this height are in memory. */
  #loaded = -1

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Fetches what the payout of the block at a height reads, or leaves that payout out, which is logged once for each
   * reason. Throws `UpstreamDelay`.
   */
  async prepare(height: number): Promise<void> {
    const { remote, config, unpaid } = this.#parts
    const { point, upstream } = remote
    const first = Math.max(1, height - config.reward.maturity)
    if (height <= config.reward.maturity || first >= point.number || unpaid.has(height)) return
    if (!upstream.isSameFamily) {
      this.#leaveOut(height, 'the upstream of the fork is of another family, and its blocks collect no fees')
      return
    }
    const last = Math.min(first + UNCLE_GENERATIONS, point.number - 1)
    if (last <= this.#loaded) return
    const loading = this.#load(first, Math.min(last + AHEAD, point.number - 1))
    if (remote.waitLimit() === 0) {
      loading.catch(() => {})
      this.#leaveOut(height, `the upstream ${upstream.origin} fails, and a block that it needs is not here`)
      return
    }
    const failed = (error: unknown) =>
      this.#leaveOut(height, `a block that it needs cannot be fetched: ${messageOf(error)}`)
    try {
      await loading
    } catch (error) {
      if (!(error instanceof UpstreamDelay)) return failed(error)
      // The block is built once it is known whether the headers arrive.
      throw new UpstreamDelay(error.fetched.catch(failed))
    }
  }

  async #load(first: number, to: number): Promise<void> {
    const { demand, history } = this.#parts
    const from = Math.max(first, this.#loaded + 1)
    await demand.runQueued(() => {
      for (let height = from; height <= to; height++) {
        const hash = history.hashAt(height)
        const header = hash === undefined ? undefined : history.header(hash)
        if (hash !== undefined && header !== undefined && header.uncleCount > 0) history.block(hash)
      }
    })
    this.#loaded = to
  }

  #leaveOut(height: number, reason: string): void {
    const { unpaid, logger } = this.#parts
    unpaid.add(height)
    if (this.#logged.has(reason)) return
    this.#logged.add(reason)
    logger.warn(`block ${height} pays out no collected fees: ${reason}`)
  }
}
