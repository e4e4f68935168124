/** Every change to chain, pool or clock, on one page, one after another. */

import type { Block, ExecutedBlock } from '../chain/block.ts'
import type { ChainConfig } from '../chain/config.ts'
import { headerHash } from '../chain/header.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import { invalidParams, NodeError } from '../errors.ts'
import type { Failure } from '../evm/failure-message.ts'
import type { StateReader } from '../state/model.ts'
import type { BlockStore } from '../store/block-store.ts'
import type { Store } from '../store/level.ts'
import type { Blockchain, BlockWithState } from './blockchain/blockchain.ts'
import type { ChainWriter } from './blockchain/chain-writer.ts'
import { type Clock, LATEST_TIMESTAMP } from './clock.ts'
import type { BlockOverrides } from './dev/block-overrides.ts'
import type { Impersonation } from './dev/impersonation.ts'
import type { Instance } from './dev/instance.ts'
import { createRevert } from './dev/revert.ts'
import type { Snapshots } from './dev/snapshots.ts'
import type { Commands, Imported, MineRequest, ReorgRequest, Submitted, WorkInsertion } from './engine.ts'
import type { ErrorNames } from './error-names.ts'
import type { ChainUpdate, Emitter, EngineEvents } from './events.ts'
import type { BranchBuilder } from './mining/branch-builder.ts'
import type { BuiltBlock } from './mining/builder.ts'
import type { Hashrates } from './mining/hashrates.ts'
import type { Schedule } from './mining/schedule.ts'
import type { Solutions, SolvedWork } from './mining/solution.ts'
import type { Works } from './mining/work.ts'
import type { KeptPool } from './pool/kept-pool.ts'
import type { Pool } from './pool/pool.ts'
import { receiptAt } from './queries/lookup.ts'
import type { Pending } from './queries/pending.ts'
import type { InTurn } from './serial-queue.ts'
import type { Accounts } from './wallet/accounts.ts'
import { createRequests } from './wallet/transaction-requests.ts'

interface Parts {
  readonly config: ChainConfig
  readonly inTurn: InTurn
  readonly store: Store
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
  readonly schedule: Schedule
  readonly accounts: Accounts
  readonly events: Emitter<EngineEvents>
  readonly named: ErrorNames
  readonly headState: () => StateReader
  readonly build: (parent: ExecutedBlock, timestamp: number) => Promise<BuiltBlock>
  readonly mine: (built: BuiltBlock) => Promise<ExecutedBlock>
  readonly works: Works
  readonly solutions: Solutions
  readonly hashrates: Hashrates
  readonly check: (block: Block) => Promise<BlockWithState>
  readonly buildBranch: BranchBuilder
}

/** Makes the commands. None calls another; each is one job of the queue. */
export function createCommands(parts: Parts): Commands {
  const { config, inTurn, store, blocks, blockchain, chainWriter, pool, kept, pending } = parts
  const { clock, schedule, events } = parts
  const requests = createRequests(parts)

  function committedOf(block: ExecutedBlock, { state, result }: BuiltBlock): BlockWithState {
    return { block, state, outcomes: result.outcomes }
  }

  /** Mines one block. Resolves when it is on disk and everybody has heard of it. */
  async function mineOne(
    timestamp?: number,
    parent = blockchain.head,
  ): Promise<{ block: ExecutedBlock; built: BuiltBlock }> {
    const built = await parts.build(parent, timestamp ?? clock.nextTimestamp(parent.block.header.timestamp))
    const block = await parts.mine(built)
    await chainWriter.insert([committedOf(block, built)], built.broken)
    clock.taken()
    return { block, built }
  }

  /** Takes in a block that was proven elsewhere. */
  async function land({ work: { built, clockState }, block }: SolvedWork): Promise<WorkInsertion> {
    const { hash } = block
    const height = block.block.header.number
    if (blocks.header(hash) !== undefined) return { outcome: 'known', hash, height }
    const { outcome } = await chainWriter.insert([committedOf(block, built)], built.broken)
    // What was asked of the clock since the work was made is for the block after it.
    if (outcome === 'best' && clock.save() === clockState) {
      clock.taken()
      pending.forget()
    }
    return { outcome, hash, height }
  }

  /** The block of this hash. Throws `invalid-params` when there is none. */
  function parentOf(hash: Hex): ExecutedBlock {
    const block = blocks.get(hash)
    if (block === undefined) throw invalidParams(`parent: block ${hash} is unknown`)
    return block
  }

  async function mine({
    blocks: count = 1,
    timestamp,
    interval,
    parent,
  }: MineRequest): Promise<ExecutedBlock[]> {
    let tip = parent === undefined ? blockchain.head : parentOf(parent)
    const above = tip.block.header.timestamp
    if (timestamp !== undefined && timestamp <= above) {
      const whose = parent === undefined ? "the head's" : "the parent's"
      throw invalidParams(`timestamp ${timestamp} must be greater than ${whose} ${above}`)
    }
    const mined: ExecutedBlock[] = []
    for (let i = 0; i < count; i++) {
      if (i > 0 && interval !== undefined) clock.setNext(tip.block.header.timestamp + Math.max(1, interval))
      tip = (await mineOne(i === 0 ? timestamp : undefined, tip)).block
      mined.push(tip)
    }
    return mined
  }

  async function importBlock(block: Block): Promise<Imported> {
    const hash = headerHash(block.header, config)
    if (blocks.header(hash) !== undefined) return { outcome: 'known', hash }
    const { outcome } = await chainWriter.insert([await parts.check(block)])
    return { outcome, hash }
  }

  async function reorg({ depth, blocks: planned, uncles = false }: ReorgRequest): Promise<ChainUpdate> {
    const height = blockchain.head.block.header.number
    const fork = blockchain.headerAt(height - depth)
    if (depth < 1 || fork === undefined) {
      throw invalidParams(`depth: ${depth} blocks cannot leave a chain of height ${height}`)
    }
    const plan = planned ?? Array.from({ length: depth + 1 }, () => ({}))
    // Blocks that name uncles weigh as much as several.
    const outweighs = planned === undefined ? blockchain.head.totalDifficulty : undefined
    const before = clock.save()
    try {
      return await parts.buildBranch(parentOf(fork.hash), plan, { uncles, outweighs }, async (branch) => {
        const { update } =
          blockchain.moveTo(branch.map(({ block }) => block)) === undefined
            ? { update: undefined }
            : await chainWriter.insert(branch)
        if (update === undefined) {
          throw invalidParams(
            `blocks: this branch would not be heavier than the ${depth} that it is to replace`,
          )
        }
        return update
      })
    } catch (error) {
      clock.restore(before)
      throw error
    }
  }

  function admit(transaction: Transaction): 'pending' | 'queued' {
    const { status, promoted } = pool.add(transaction, blockchain.head, parts.headState())
    pending.forget()
    if (promoted.length > 0) events.emit('pool', { added: promoted })
    return status
  }

  async function submit(transaction: Transaction, minesNow = schedule.mode === 'auto'): Promise<Submitted> {
    const status = admit(transaction)
    const { hash } = transaction
    if (minesNow && status === 'pending') {
      for (;;) {
        const { block, built } = await mineOne().catch((error) => {
          pool.drop(hash)
          pending.forget()
          throw error
        })
        const index = block.block.transactions.findIndex((other) => other.hash === hash)
        if (index >= 0) return { hash, mined: minedAt(block, index, built.result.outcomes[index]?.failure) }
        // A block that took nothing will not take this one the next time either.
        if (block.block.transactions.length === 1 || pool.get(hash) === undefined) break
      }
      pool.drop(hash)
      pending.forget()
      throw new NodeError('not-mined', "Unknown error when sending transaction: transaction wasn't mined")
    }
    try {
      await store.batch([...kept.put([transaction]), ...kept.drop(pool.takeForgotten())])
    } catch (error) {
      pool.drop(hash)
      pending.forget()
      throw error
    }
    return { hash }
  }

  function minedAt(
    block: ExecutedBlock,
    index: number,
    failure: Failure | undefined,
  ): NonNullable<Submitted['mined']> {
    const view = receiptAt(block, index)
    if (view === undefined) throw new Error(`block ${block.hash} has no transaction ${index}`)
    return failure === undefined ? { view } : { view, failure: parts.named(failure, view.transaction.to) }
  }

  return {
    submit: (transaction) => inTurn(() => submit(transaction)),

    send: (request) => inTurn(() => submit(requests.toSend(request))),

    sendWith: (request, key) => inTurn(async () => (await submit(requests.sign(request, key), false)).hash),

    sign: (request) => inTurn(async () => requests.sign(request)),

    mine: (request = {}) => inTurn(() => mine(request)),

    importBlock: (block) => inTurn(() => importBlock(block)),

    reorg: (request) => inTurn(() => reorg(request)),

    takeWork: () => parts.works.take(),

    submitWork: (solution) => inTurn(async () => land(parts.solutions.judge(solution))),

    submitNonce: (workHash, nonce) =>
      inTurn(async () => {
        const solved = parts.solutions.tryNonce(workHash, nonce)
        return solved && land(solved)
      }),

    reportHashrate: (client, rate) => parts.hashrates.report(client, rate),

    ...createRevert(parts),

    increaseTime: (seconds) =>
      inTurn(async () => {
        if (clock.save().offset + seconds > LATEST_TIMESTAMP) {
          throw invalidParams(
            `invalid number of seconds ${seconds}: the clock would pass ${LATEST_TIMESTAMP}`,
          )
        }
        const total = clock.increase(seconds)
        pending.forget()
        return total
      }),

    setNextBlockTimestamp: (timestamp) =>
      inTurn(async () => {
        const head = blockchain.head.block.header.timestamp
        if (timestamp <= head)
          throw invalidParams(`timestamp ${timestamp} must be greater than the head's ${head}`)
        clock.setNext(timestamp)
        pending.forget()
      }),

    setAutomine: (on) =>
      inTurn(async () => {
        if (on || typeof schedule.mode !== 'number') schedule.setMode(on ? 'auto' : 'manual')
        if (on) {
          schedule.start()
          if (pool.size.pending > 0) await mineOne()
        }
      }),

    setIntervalMining: (milliseconds) =>
      inTurn(async () => {
        schedule.setMode(milliseconds > 0 ? milliseconds : 'manual')
        if (milliseconds > 0) schedule.start()
      }),

    startMining: () =>
      inTurn(async () => {
        schedule.start()
        if (schedule.mode === 'auto' && pool.size.pending > 0) await mineOne()
      }),

    stopMining: () => inTurn(async () => schedule.stop()),
  }
}
