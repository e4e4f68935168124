/** Going back: to a save point, or to the very beginning. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { BlockStore } from '../../store/block-store.ts'
import type { Blockchain } from '../blockchain/blockchain.ts'
import type { ChainWriter } from '../blockchain/chain-writer.ts'
import type { Clock } from '../clock.ts'
import type { Commands } from '../engine.ts'
import type { KeptPool } from '../pool/kept-pool.ts'
import type { Pool } from '../pool/pool.ts'
import type { Pending } from '../queries/pending.ts'
import type { InTurn } from '../serial-queue.ts'
import type { BlockOverrides } from './block-overrides.ts'
import type { Impersonation } from './impersonation.ts'
import type { Instance } from './instance.ts'
import type { Snapshots } from './snapshots.ts'

interface Parts {
  readonly inTurn: InTurn
  readonly blocks: BlockStore
  readonly blockchain: Blockchain
  readonly chainWriter: ChainWriter
  readonly pool: Pool
  readonly kept: KeptPool
  readonly pending: Pending
  readonly clock: Clock
  readonly blockOverrides: BlockOverrides
  readonly impersonation: Impersonation
  readonly instance: Instance
  readonly snapshots: Snapshots
}

/** Makes the commands that take save points and go back. */
export function createRevert(parts: Parts): Pick<Commands, 'snapshot' | 'revert' | 'reset'> {
  const { inTurn, blocks, blockchain, chainWriter, pool, kept, pending, clock, blockOverrides, snapshots } =
    parts

  async function rewind(target: ExecutedBlock): Promise<void> {
    const update = await blockchain.rewind(target, kept.clear())
    // As the node does: going back empties the pool, and what was mined above is not offered again.
    pool.clear()
    chainWriter.announce(update, [])
  }

  return {
    snapshot: () =>
      inTurn(async () => {
        const { hash, postState, block } = blockchain.head
        const height = block.header.number
        return snapshots.take({
          head: hash,
          height,
          postState,
          clock: clock.save(),
          blockOverrides: blockOverrides.save(),
        })
      }),

    revert: (id) =>
      inTurn(async () => {
        const saved = snapshots.rewindTo(id, (hash) => blockchain.isCanonical(hash) === true)
        if (saved === undefined) return false
        const block = blocks.get(saved.head)
        if (block === undefined)
          throw new Error(`block ${saved.head} of a snapshot is missing from the store`)
        const { hash, postState } = blockchain.head
        const target = { ...block, postState: saved.postState }
        if (saved.head !== hash) await rewind(target)
        else if (saved.postState !== postState) await blockchain.rewind(target)
        const stays =
          saved.head === hash &&
          (saved.postState !== postState || saved.blockOverrides !== blockOverrides.save())
        blockOverrides.restore(saved.blockOverrides)
        clock.restore(saved.clock)
        pending.forget()
        if (stays) await chainWriter.rejudge()
        return true
      }),

    reset: () =>
      inTurn(async () => {
        snapshots.clear()
        clock.reset()
        blockOverrides.reset()
        parts.impersonation.clear()
        parts.instance.renew()
        await rewind(blockchain.pristineGenesis)
      }),
  }
}
