/** The commands that add blocks: mining, imports, submitted work, reorganisations. */
import type { Block, ExecutedBlock } from '../chain/block.ts'
import { LATEST_TIMESTAMP } from '../chain/config.ts'
import { headerHash } from '../chain/header.ts'
import { counted } from '../counted.ts'
import type { Hex } from '../encoding/hex.ts'
import { invalidParams } from '../errors.ts'
import { afterDelays } from '../state/fork/demand.ts'
import type { BlockWithState } from './blockchain/blockchain.ts'
import type { Call } from './call.ts'
import type { SolvedWork } from './mining/solution.ts'
import type { ChainUpdate, Imported, MineRequest, ReorgRequest, WorkInsertion } from './model.ts'
import { type MinedBlock, NextBlock, withState } from './next-block.ts'
import type { EngineParts } from './parts.ts'
import { Progress } from './progress.ts'

/** Of more blocks only the last is handed back: a million of them would take gigabytes. */
const MOST_RETURNED = 10_000

/** Adds blocks to the chain of an engine. Calls must not overlap: each belongs to a job of the engine's queue. */
export class BlockCommands {
  readonly #parts: EngineParts
  readonly #next: NextBlock

  constructor(parts: EngineParts) {
    this.#parts = parts
    this.#next = new NextBlock(parts)
  }

  /** Mines one block on the head. Resolves when it is on disk and the listeners have run. */
  mineOne(): Promise<MinedBlock> {
    return this.#next.mine()
  }

  /** Mines some blocks. Result and errors are those of `Commands.mine`. */
  async mine(
    { blocks: count = 1, timestamp, interval, parent: parentHash, choose }: MineRequest,
    call: Call,
  ): Promise<ExecutedBlock[]> {
    const { blockchain, clock, logger } = this.#parts
    let tip = parentHash === undefined ? blockchain.head : this.#parentOf(parentHash)
    const above = tip.block.header.timestamp
    if (timestamp !== undefined && timestamp <= above) {
      const whose = parentHash === undefined ? "the head's" : "the parent's"
      throw invalidParams(`timestamp ${timestamp} must be greater than ${whose} ${above}`)
    }
    if (interval !== undefined && above + count * interval > LATEST_TIMESTAMP) {
      throw invalidParams(`interval ${interval}: the last block would pass the timestamp ${LATEST_TIMESTAMP}`)
    }
    let mined: ExecutedBlock[] = []
    const progress = new Progress('mining', call, logger)
    for (let i = 0; i < count; i++) {
      if (i > 0) progress.step(i, count, `${i} of ${count} blocks were mined`)
      if (interval !== undefined) clock.space(interval, tip.block.header.timestamp, i === 0)
      const parent = tip
      // A command that has mined a block cannot be repeated, so it keeps the queue while it waits for a fork's upstream.
      const { block } = await (i === 0
        ? this.#next.mine(timestamp, parent, undefined, choose)
        : afterDelays(() => this.#next.mine(undefined, parent, undefined, choose)))
      tip = block
      if (count > MOST_RETURNED) mined = [tip]
      else mined.push(tip)
    }
    return mined
  }

  /** Inserts a block completed with submitted work. */
  async insertSolved({ work: { built, clockState }, block }: SolvedWork): Promise<WorkInsertion> {
    const { blocks, chainWriter, clock, mining } = this.#parts
    const { hash } = block
    const height = block.block.header.number
    if (blocks.header(hash) !== undefined) return { outcome: 'known', hash, height }
    const { outcome } = await chainWriter.insert([withState(block, built)], built.errored)
    // Clock changes since the work was built apply to the block after it.
    if (outcome === 'best' && clock.save() === clockState) {
      clock.blockMined(block.block.header.timestamp)
      mining.discardPending()
    }
    return { outcome, hash, height }
  }

  /** Validates and inserts a block mined elsewhere. Throws `invalid-block`. */
  async importBlock(block: Block): Promise<Imported> {
    const { blocks, chainWriter, config, validateBlock } = this.#parts
    const hash = headerHash(block.header, config)
    if (blocks.header(hash) !== undefined) return { outcome: 'known', hash }
    const { outcome } = await chainWriter.insert([await validateBlock(block)])
    return { outcome, hash }
  }

  /** Replaces the last blocks by a heavier branch. Throws `invalid-params` with nothing changed. */
  async reorg({ depth, blocks: planned, uncles = false }: ReorgRequest, call: Call): Promise<ChainUpdate> {
    const { blockchain, mining, clock, logger } = this.#parts
    const height = blockchain.head.block.header.number
    const fork = blockchain.headerAt(height - depth)
    if (depth < 1) throw invalidParams('depth: expected at least one block to replace')
    if (fork === undefined) {
      throw invalidParams(
        `depth: a chain of height ${height} does not have ${counted(depth, 'block')} to replace`,
      )
    }
    const plan = planned ?? Array.from({ length: depth + 1 }, () => ({}))
    // The difficulty of a block's uncles counts as well, so the empty branch may have to be longer.
    const minimumDifficulty = planned === undefined ? blockchain.head.totalDifficulty : undefined
    const progress = new Progress('building a branch', call, logger)
    const before = clock.save()
    try {
      return await mining.buildBranch(
        this.#parentOf(fork.hash),
        plan,
        { uncles, minimumDifficulty, progress },
        (branch) => this.#insertHeavier(branch, depth),
      )
    } catch (error) {
      clock.restore(before)
      throw error
    }
  }

  async #insertHeavier(branch: readonly BlockWithState[], depth: number): Promise<ChainUpdate> {
    const { blockchain, chainWriter } = this.#parts
    const isHeavier = blockchain.planUpdate(branch.map(({ block }) => block)) !== undefined
    const { update } = isHeavier ? await chainWriter.insert(branch) : { update: undefined }
    if (update === undefined) {
      throw invalidParams(
        `blocks: this branch would not be heavier than the ${counted(depth, 'block')} that it replaces`,
      )
    }
    return update
  }

  /** The stored block with this hash. Throws `invalid-params` when there is none. */
  #parentOf(hash: Hex): ExecutedBlock {
    const block = this.#parts.blocks.get(hash)
    if (block === undefined) throw invalidParams(`parent: block ${hash} is unknown`)
    return block
  }
}
