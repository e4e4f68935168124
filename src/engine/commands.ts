/** All changes to chain, pool and clock, one after another. */
import type { Block, ExecutedBlock } from '../chain/block.ts'
import { LATEST_TIMESTAMP } from '../chain/config.ts'
import type { Solution } from '../chain/merged-mining/proof.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { Hex } from '../encoding/hex.ts'
import { invalidParams } from '../errors.ts'
import { BlockCommands } from './block-commands.ts'
import type { NodeSnapshots, RevertOptions, SnapshotRequest } from './dev/node-snapshots.ts'
import type { Commands } from './engine.ts'
import {
  type ChainUpdate,
  type Imported,
  intervalOf,
  type MineRequest,
  type MiningMode,
  type MiningWork,
  minesAtOnce,
  modeOf,
  type ReorgRequest,
  type Submitted,
  type TransactionRequest,
  type WorkInsertion,
} from './model.ts'
import type { EngineParts } from './parts.ts'
import type { Enqueue } from './serial-queue.ts'
import type { Prepare } from './submission-groups.ts'
import { Submissions } from './submissions.ts'
import { createRequests, type Requests } from './wallet/transaction-requests.ts'

/** What the commands of all calls share. */
export interface CommandParts {
  readonly parts: EngineParts
  readonly blocks: BlockCommands
  readonly submissions: Submissions
  readonly requests: Requests
  readonly snapshots: NodeSnapshots
}

/** Makes what the commands of an engine share. */
export function createCommandParts(parts: EngineParts, snapshots: NodeSnapshots): CommandParts {
  const blocks = new BlockCommands(parts)
  const submissions = new Submissions(parts)
  return { parts, blocks, submissions, requests: createRequests(parts), snapshots }
}

/** The commands of a call, each one job of the queue that `enqueue` adds to. None calls another. */
export class EngineCommands implements Commands {
  readonly #shared: CommandParts
  readonly #enqueue: Enqueue
  readonly #submit: (prepare: Prepare) => Promise<Submitted>

  /** `submit` adds to the same queue as `enqueue`. */
  constructor(shared: CommandParts, enqueue: Enqueue, submit: (prepare: Prepare) => Promise<Submitted>) {
    this.#shared = shared
    this.#enqueue = enqueue
    this.#submit = submit
  }

  submit(transaction: Transaction): Promise<Submitted> {
    return this.#submit(() => transaction)
  }

  send(request: TransactionRequest): Promise<Submitted> {
    return this.#submit((requests) => requests.toSend(request))
  }

  sendUnsigned(request: TransactionRequest): Promise<Submitted> {
    return this.#submit((requests) => requests.toSendUnsigned(request))
  }

  sendWith(request: TransactionRequest, key: Uint8Array): Promise<Hex> {
    const { submissions, requests } = this.#shared
    return this.#enqueue(async () => (await submissions.submit(requests.sign(request, key), false)).hash)
  }

  sign(request: TransactionRequest): Promise<Transaction> {
    return this.#enqueue(async () => this.#shared.requests.sign(request))
  }

  mine(request: MineRequest = {}): Promise<readonly ExecutedBlock[]> {
    return this.#enqueue((call) => this.#shared.blocks.mine(request, call))
  }

  importBlock(block: Block): Promise<Imported> {
    return this.#enqueue(() => this.#shared.blocks.importBlock(block))
  }

  reorg(request: ReorgRequest): Promise<ChainUpdate> {
    return this.#enqueue((call) => this.#shared.blocks.reorg(request, call))
  }

  takeWork(): Promise<MiningWork & { readonly notify: boolean }> {
    return this.#shared.parts.mining.works.take()
  }

  submitWork(solution: Solution): Promise<WorkInsertion> {
    const { parts, blocks } = this.#shared
    return this.#enqueue(async () => blocks.insertSolved(parts.mining.solutions.verify(solution)))
  }

  submitNonce(workHash: Hex, nonce: number): Promise<WorkInsertion | undefined> {
    const { parts, blocks } = this.#shared
    return this.#enqueue(async () => {
      const solved = parts.mining.solutions.tryNonce(workHash, nonce)
      return solved && blocks.insertSolved(solved)
    })
  }

  reportHashrate(client: Hex, rate: bigint): void {
    this.#shared.parts.mining.hashrates.report(client, rate)
  }

  increaseTime(seconds: number): Promise<number> {
    const { clock, blockchain, mining } = this.#shared.parts
    return this.#enqueue(async () => {
      if (clock.save().offset + seconds > LATEST_TIMESTAMP) {
        throw invalidParams(`invalid number of seconds ${seconds}: the clock would pass ${LATEST_TIMESTAMP}`)
      }
      const total = clock.increase(seconds, blockchain.head.block.header.timestamp)
      mining.discardPending()
      return total
    })
  }

  setNextBlockTimestamp(timestamp: number): Promise<void> {
    const { clock, blockchain, mining } = this.#shared.parts
    return this.#enqueue(async () => {
      const head = blockchain.head.block.header.timestamp
      if (timestamp <= head) {
        throw invalidParams(`timestamp ${timestamp} must be greater than the head's ${head}`)
      }
      clock.setNext(timestamp)
      mining.discardPending()
    })
  }

  setAutomine(on: boolean, { poolWaits = false } = {}): Promise<void> {
    const { schedule } = this.#shared.parts.mining
    return this.#enqueue(async () => {
      const { mode } = schedule
      if (!on) {
        if (typeof mode !== 'number') schedule.setMode(modeOf(false, intervalOf(mode)))
        return
      }
      // Where the pool waits, a timer goes on beside automining, or nothing would mine what waits.
      if (!minesAtOnce(mode)) schedule.setMode(modeOf(true, poolWaits ? intervalOf(mode) : undefined))
      if (poolWaits) schedule.start()
      else await this.#startSchedule()
    })
  }

  setIntervalMining(milliseconds: number, { besideAutomine = false } = {}): Promise<void> {
    const { schedule } = this.#shared.parts.mining
    return this.#enqueue(async () => {
      const atOnce = besideAutomine && minesAtOnce(schedule.mode)
      schedule.setMode(modeOf(atOnce, milliseconds > 0 ? milliseconds : undefined))
      if (milliseconds > 0) schedule.start()
    })
  }

  startMining(): Promise<void> {
    return this.#enqueue(() => this.#startSchedule())
  }

  setMiningMode(mode: MiningMode): Promise<void> {
    return this.#enqueue(async () => {
      this.#shared.parts.mining.schedule.setMode(mode)
      if (mode !== 'manual') await this.#startSchedule()
    })
  }

  stopMining(): Promise<void> {
    return this.#enqueue(async () => this.#shared.parts.mining.schedule.stop())
  }

  snapshot(request: SnapshotRequest = {}): Promise<number> {
    return this.#enqueue(() => this.#shared.snapshots.snapshot(request))
  }

  revert(id: number, options: RevertOptions = {}): Promise<boolean> {
    return this.#enqueue(() => this.#shared.snapshots.revert(id, options))
  }

  reset(): Promise<void> {
    return this.#enqueue(() => this.#shared.snapshots.reset())
  }

  /** Starts the schedule; under automining it mines the executable transactions of the pool. */
  async #startSchedule(): Promise<void> {
    const { mining, pool } = this.#shared.parts
    mining.schedule.start()
    if (minesAtOnce(mining.schedule.mode) && pool.size.pending > 0) await this.#shared.blocks.mineOne()
  }
}
