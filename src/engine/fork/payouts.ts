/** The payouts of a fork's blocks look at blocks far below, of the upstream: fetched in time, or the payout is left out. */

import type { ChainConfig } from '../../chain/config.ts'
import { messageOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { type Demand, UpstreamDelay } from '../../state/fork/demand.ts'
import type { RemoteChain } from '../../state/remote/model.ts'
import type { BlockHistory } from '../../store/block-store.ts'

/** A payout looks at the block that matures and as many above it (docs/internals/protocol.md#54-remasc-payout). */
const ABOVE = 7
/** Blocks of which headers are fetched ahead: about as many calls as one request to the reference node may have. */
const AHEAD = 48

/** What the payouts of a fork's blocks need. */
interface Parts {
  readonly remote: RemoteChain
  readonly history: BlockHistory
  readonly demand: Demand
  readonly config: ChainConfig
  readonly logger: Logger
  /** Heights of blocks without a payout: this adds to them. */
  readonly unpaid: Set<number>
}

/** Makes sure that the payout of the block at a height can be made, or that it is left out. Throws `UpstreamDelay`. */
export type PreparePayout = (height: number) => Promise<void>

/** Makes the preparation. A payout that is left out is logged once for each reason. */
export function createPayouts({ remote, history, demand, config, logger, unpaid }: Parts): PreparePayout {
  const { point, upstream } = remote
  const logged = new Set<string>()
  /** Headers up to this height are in memory. */
  let loaded = -1

  function leaveOut(height: number, reason: string): void {
    unpaid.add(height)
    if (logged.has(reason)) return
    logged.add(reason)
    logger.warn(`block ${height} pays no collected fees out: ${reason}`)
  }

  async function load(from: number, to: number): Promise<void> {
    await demand.runQueued(() => {
      for (let height = from; height <= to; height++) {
        const hash = history.hashAt(height)
        const header = hash === undefined ? undefined : history.header(hash)
        if (hash !== undefined && header !== undefined && header.uncleCount > 0) history.block(hash)
      }
    })
  }

  return async function prepare(height) {
    const first = Math.max(1, height - config.reward.maturity)
    if (height <= config.reward.maturity || first >= point.number || unpaid.has(height)) return
    if (!upstream.isSameFamily) {
      leaveOut(height, 'the upstream of the fork is of another family, and its blocks collect no fees')
      return
    }
    const last = Math.min(first + ABOVE, point.number - 1)
    if (last <= loaded) return
    const end = Math.min(last + AHEAD, point.number - 1)
    const loading = load(Math.max(first, loaded + 1), end).then(() => {
      loaded = end
    })
    const failed = (error: unknown) =>
      leaveOut(height, `a block that it needs cannot be fetched: ${messageOf(error)}`)
    if (remote.waitLimit() === 0) {
      loading.catch(() => {})
      leaveOut(height, `the upstream ${upstream.origin} fails, and a block that it needs is not here`)
      return
    }
    try {
      await loading
    } catch (error) {
      if (!(error instanceof UpstreamDelay)) return failed(error)
      // The block is built when it is known whether they come.
      throw new UpstreamDelay(error.fetched.catch(failed))
    }
  }
}
