/** All changes to chain, pool and clock, one after another. */
import type { Block, ExecutedBlock } from '../chain/block.ts'
import { headerHash } from '../chain/header.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import { invalidParams, NodeError } from '../errors.ts'
import type { Failure } from '../evm/failure-message.ts'
import { afterDelays } from '../state/fork/demand.ts'
import type { BlockWithState } from './blockchain/blockchain.ts'
import type { Call } from './call.ts'
import { LATEST_TIMESTAMP } from './clock.ts'
import type { SnapshotCommands } from './dev/snapshot-commands.ts'
import type { Commands } from './engine.ts'
import type { BuiltBlock } from './mining/builder.ts'
import type { SolvedWork } from './mining/solution.ts'
import {
  type ChainUpdate,
  type Imported,
  intervalOf,
  type MineRequest,
  minesAtOnce,
  type ReorgRequest,
  type Submitted,
  type WorkInsertion,
} from './model.ts'
import type { EngineParts } from './parts.ts'
import { Progress } from './progress.ts'
import { receiptAt } from './queries/lookup.ts'
import type { Enqueue } from './serial-queue.ts'
import { createRequests } from './wallet/transaction-requests.ts'

/**
 * Makes the commands, those on snapshots apart, for the calls whose jobs `enqueue` runs. None calls another; each is one
 * job of the queue.
 */
export function createCommands(
  parts: EngineParts,
): (enqueue: Enqueue) => Omit<Commands, keyof SnapshotCommands> {
  const { config, logger, store, blocks, blockchain, chainWriter, pool, persistedPool, mining, clock } = parts
  const { schedule } = mining
  const requests = createRequests(parts)

  function committedOf(block: ExecutedBlock, { state, result }: BuiltBlock): BlockWithState {
    return { block, state, outcomes: result.outcomes }
  }

  /** Mines one block. Resolves when it is on disk and the listeners have run. `onBuilt` runs before its first effect. */
  async function mineOne(
    timestamp?: number,
    parent = blockchain.head,
    onBuilt = () => {},
  ): Promise<{ block: ExecutedBlock; built: BuiltBlock }> {
    const built = await mining.build(parent, timestamp ?? clock.nextTimestamp(parent.block.header.timestamp))
    onBuilt()
    const block = await mining.mine(built)
    await chainWriter.insert([committedOf(block, built)], built.errored)
    clock.taken()
    return { block, built }
  }

  /** Inserts a block completed with submitted work. */
  async function insertSolved({ work: { built, clockState }, block }: SolvedWork): Promise<WorkInsertion> {
    const { hash } = block
    const height = block.block.header.number
    if (blocks.header(hash) !== undefined) return { outcome: 'known', hash, height }
    const { outcome } = await chainWriter.insert([committedOf(block, built)], built.errored)
    // Clock changes since the work was built apply to the block after it.
    if (outcome === 'best' && clock.save() === clockState) {
      clock.taken()
      mining.discardPending()
    }
    return { outcome, hash, height }
  }

  /** The stored block with this hash. Throws `invalid-params` when there is none. */
  function parentOf(hash: Hex): ExecutedBlock {
    const block = blocks.get(hash)
    if (block === undefined) throw invalidParams(`parent: block ${hash} is unknown`)
    return block
  }

  async function mine(
    { blocks: count = 1, timestamp, interval, parent }: MineRequest,
    call: Call,
  ): Promise<ExecutedBlock[]> {
    let tip = parent === undefined ? blockchain.head : parentOf(parent)
    const above = tip.block.header.timestamp
    if (timestamp !== undefined && timestamp <= above) {
      const whose = parent === undefined ? "the head's" : "the parent's"
      throw invalidParams(`timestamp ${timestamp} must be greater than ${whose} ${above}`)
    }
    const mined: ExecutedBlock[] = []
    const progress = new Progress('mining', call, logger)
    for (let i = 0; i < count; i++) {
      if (i > 0) progress.step(i, count, `${i} of ${count} blocks were mined`)
      if (i > 0 && interval !== undefined) clock.setNext(tip.block.header.timestamp + Math.max(1, interval))
      const parent = tip
      // A command that has mined blocks cannot begin anew, so it holds the queue for the state of the others.
      const { block } = await (i === 0
        ? mineOne(timestamp, parent)
        : afterDelays(() => mineOne(undefined, parent)))
      tip = block
      mined.push(tip)
    }
    return mined
  }

  async function importBlock(block: Block): Promise<Imported> {
    const hash = headerHash(block.header, config)
    if (blocks.header(hash) !== undefined) return { outcome: 'known', hash }
    const { outcome } = await chainWriter.insert([await parts.validateBlock(block)])
    return { outcome, hash }
  }

  async function reorg(
    { depth, blocks: planned, uncles = false }: ReorgRequest,
    call: Call,
  ): Promise<ChainUpdate> {
    const height = blockchain.head.block.header.number
    const fork = blockchain.headerAt(height - depth)
    if (depth < 1 || fork === undefined) {
      throw invalidParams(`depth: ${depth} blocks cannot leave a chain of height ${height}`)
    }
    const plan = planned ?? Array.from({ length: depth + 1 }, () => ({}))
    // The difficulty of a block's uncles counts as well, so the empty branch may have to be longer.
    const minimumDifficulty = planned === undefined ? blockchain.head.totalDifficulty : undefined
    const before = clock.save()
    try {
      return await mining.buildBranch(
        parentOf(fork.hash),
        plan,
        { uncles, minimumDifficulty, progress: new Progress('building a branch', call, logger) },
        async (branch) => {
          const { update } =
            blockchain.planUpdate(branch.map(({ block }) => block)) === undefined
              ? { update: undefined }
              : await chainWriter.insert(branch)
          if (update === undefined) {
            throw invalidParams(
              `blocks: this branch would not be heavier than the ${depth} that it is to replace`,
            )
          }
          return update
        },
      )
    } catch (error) {
      clock.restore(before)
      throw error
    }
  }

  /** `announce` reports to the listeners what became executable, once. */
  function addToPool(transaction: Transaction): { status: 'pending' | 'queued'; announce: () => void } {
    const { status, promoted } = pool.add(transaction, blockchain.head, parts.headState())
    mining.discardPending()
    let isDue = promoted.length > 0
    return {
      status,
      announce() {
        if (isDue) parts.events.emit('pool', { added: promoted })
        isDue = false
      },
    }
  }

  async function submit(transaction: Transaction, minesNow = minesAtOnce(schedule.mode)): Promise<Submitted> {
    const { status, announce } = addToPool(transaction)
    const { hash } = transaction
    if (minesNow && status === 'pending') {
      for (let isFirst = true; ; isFirst = false) {
        const mineNext = () => mineOne(undefined, blockchain.head, announce)
        const { block, built } = await (isFirst ? mineNext() : afterDelays(mineNext)).catch((error) => {
          pool.drop(hash)
          mining.discardPending()
          throw error
        })
        const index = block.block.transactions.findIndex((other) => other.hash === hash)
        if (index >= 0) return { hash, mined: minedAt(block, index, built.result.outcomes[index]?.failure) }
        // A block without any pooled transaction: the next one would not include this transaction either.
        if (block.block.transactions.length === 1 || pool.get(hash) === undefined) break
      }
      pool.drop(hash)
      mining.discardPending()
      throw new NodeError('not-mined', "Unknown error when sending transaction: transaction wasn't mined")
    }
    announce()
    try {
      await store.batch([...persistedPool.put([transaction]), ...persistedPool.drop(pool.takeEvicted())])
    } catch (error) {
      pool.drop(hash)
      mining.discardPending()
      throw error
    }
    return { hash }
  }

  /** Starts the schedule; waiting transactions are mined where each gets a block. */
  async function start(): Promise<void> {
    schedule.start()
    if (minesAtOnce(schedule.mode) && pool.size.pending > 0) await mineOne()
  }

  function minedAt(
    block: ExecutedBlock,
    index: number,
    failure: Failure | undefined,
  ): NonNullable<Submitted['mined']> {
    const view = receiptAt(block, index)
    if (view === undefined) throw new Error(`block ${block.hash} has no transaction ${index}`)
    return failure === undefined
      ? { view }
      : { view, failure: parts.nameFailure(failure, view.transaction.to) }
  }

  return (enqueue) => ({
    submit: (transaction) => enqueue(() => submit(transaction)),

    send: (request) => enqueue(() => submit(requests.toSend(request))),

    sendUnsigned: (request) => enqueue(() => submit(requests.toSendUnsigned(request))),

    sendWith: (request, key) => enqueue(async () => (await submit(requests.sign(request, key), false)).hash),

    sign: (request) => enqueue(async () => requests.sign(request)),

    mine: (request = {}) => enqueue((call) => mine(request, call)),

    importBlock: (block) => enqueue(() => importBlock(block)),

    reorg: (request) => enqueue((call) => reorg(request, call)),

    takeWork: () => mining.works.take(),

    submitWork: (solution) => enqueue(async () => insertSolved(mining.solutions.verify(solution))),

    submitNonce: (workHash, nonce) =>
      enqueue(async () => {
        const solved = mining.solutions.tryNonce(workHash, nonce)
        return solved && insertSolved(solved)
      }),

    reportHashrate: (client, rate) => mining.hashrates.report(client, rate),

    increaseTime: (seconds) =>
      enqueue(async () => {
        if (clock.save().offset + seconds > LATEST_TIMESTAMP) {
          throw invalidParams(
            `invalid number of seconds ${seconds}: the clock would pass ${LATEST_TIMESTAMP}`,
          )
        }
        const total = clock.increase(seconds, blockchain.head.block.header.timestamp)
        mining.discardPending()
        return total
      }),

    setNextBlockTimestamp: (timestamp) =>
      enqueue(async () => {
        const head = blockchain.head.block.header.timestamp
        if (timestamp <= head)
          throw invalidParams(`timestamp ${timestamp} must be greater than the head's ${head}`)
        clock.setNext(timestamp)
        mining.discardPending()
      }),

    setAutomine: (on) =>
      enqueue(async () => {
        const { mode } = schedule
        if (!on && typeof mode !== 'number') schedule.setMode(intervalOf(mode) ?? 'manual')
        if (on && !minesAtOnce(mode)) schedule.setMode('auto')
        if (on) await start()
      }),

    setIntervalMining: (milliseconds) =>
      enqueue(async () => {
        schedule.setMode(milliseconds > 0 ? milliseconds : 'manual')
        if (milliseconds > 0) schedule.start()
      }),

    startMining: () => enqueue(start),

    setMiningMode: (mode) =>
      enqueue(async () => {
        schedule.setMode(mode)
        if (mode !== 'manual') await start()
      }),

    stopMining: () => enqueue(async () => schedule.stop()),
  })
}
