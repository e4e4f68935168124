/** Every change to chain, pool or clock, on one page, one after another. */
import type { ExecutedBlock } from '../chain/block.ts'
import type { ChainConfig } from '../chain/config.ts'
import { signTransaction, type Transaction } from '../chain/transaction.ts'
import { EMPTY } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import { invalidParams, NodeError } from '../errors.ts'
import type { StateReader } from '../execution/state.ts'
import type { BlockStore } from '../store/block-store.ts'
import type { Store } from '../store/level.ts'
import type { Write } from '../store/table.ts'
import type { Accounts } from './accounts.ts'
import type { Blockchain } from './blockchain.ts'
import type { Clock } from './clock.ts'
import type { Commands, Failure, Submitted, TransactionRequest } from './engine.ts'
import type { ChainUpdate, Emitter, EngineEvents } from './events.ts'
import type { UnsealedBlock } from './mining/builder.ts'
import type { Schedule } from './mining/schedule.ts'
import type { Pool } from './pool/pool.ts'
import { receiptAt } from './queries/lookup.ts'
import type { Pending } from './queries/pending.ts'
import type { InTurn } from './serial-queue.ts'
import type { Snapshots } from './snapshots.ts'

/** Gas of a transaction to send that names none (rpc-methods 7.5). */
const DEFAULT_SEND_GAS = 90_000n

interface Parts {
  readonly config: ChainConfig
  readonly inTurn: InTurn
  readonly store: Store
  readonly blocks: BlockStore
  readonly blockchain: Blockchain
  readonly pool: Pool
  readonly pending: Pending
  readonly clock: Clock
  readonly snapshots: Snapshots
  readonly schedule: Schedule
  readonly accounts: Accounts
  readonly events: Emitter<EngineEvents>
  readonly headState: () => StateReader
  readonly build: (timestamp: number) => Promise<UnsealedBlock>
  readonly seal: (unsealed: UnsealedBlock) => Promise<ExecutedBlock>
}

/** Makes the commands. None calls another; each is one job of the queue. */
export function createCommands(parts: Parts): Commands {
  const { config, inTurn, store, blocks, blockchain, pool, pending, clock, snapshots, schedule, events } =
    parts

  /** Pooled transactions that are on disk already, so that only those are deleted there. */
  const stored = new Set<Hex>(blocks.poolEntries().map(({ hash }) => hash))

  function dropStored(hashes: Iterable<Hex>): Write[] {
    const writes: Write[] = []
    for (const hash of hashes) if (stored.delete(hash)) writes.push(blocks.dropPool(hash))
    return writes
  }

  /** The head has moved on disk, and the pool with it: everybody else hears of it. */
  function moved(update: ChainUpdate, runnable: readonly Transaction[]): void {
    pending.forget()
    events.emit('chain', update)
    if (runnable.length > 0) events.emit('pool', { added: runnable })
  }

  /** Mines one block on the head. Resolves when it is on disk and everybody has heard of it. */
  async function mineOne(timestamp?: number): Promise<{ block: ExecutedBlock; unsealed: UnsealedBlock }> {
    const unsealed = await parts.build(
      timestamp ?? clock.nextTimestamp(blockchain.head.block.header.timestamp),
    )
    const block = await parts.seal(unsealed)
    const gone = [...unsealed.block.transactions, ...unsealed.broken].map(({ hash }) => hash)
    const forgotten = dropStored([...gone, ...pool.takeForgotten()])
    const { update } = await blockchain.insert(block, unsealed.state, forgotten)
    if (update === undefined) throw new Error(`block ${block.hash} is no child of the head`)
    for (const { hash } of unsealed.broken) pool.drop(hash)
    clock.taken()
    moved(update, pool.apply(update, blockchain.head, parts.headState()))
    return { block, unsealed }
  }

  function admit(transaction: Transaction): 'pending' | 'queued' {
    const { status, promoted } = pool.add(transaction, blockchain.head, parts.headState())
    pending.forget()
    if (promoted.length > 0) events.emit('pool', { added: promoted })
    return status
  }

  async function submit(transaction: Transaction): Promise<Submitted> {
    const status = admit(transaction)
    const { hash } = transaction
    if (schedule.mode === 'auto' && status === 'pending') {
      for (;;) {
        const { block, unsealed } = await mineOne().catch((error) => {
          pool.drop(hash)
          pending.forget()
          throw error
        })
        const index = block.block.transactions.findIndex((other) => other.hash === hash)
        if (index >= 0)
          return { hash, mined: minedAt(block, index, unsealed.result.outcomes[index]?.failure) }
        // A block that took nothing will not take this one the next time either.
        if (block.block.transactions.length === 1 || pool.get(hash) === undefined) break
      }
      pool.drop(hash)
      pending.forget()
      throw new NodeError('not-mined', "Unknown error when sending transaction: transaction wasn't mined")
    }
    stored.add(hash)
    try {
      await store.batch([blocks.putPool(transaction), ...dropStored(pool.takeForgotten())])
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
    return failure === undefined ? { view } : { view, failure }
  }

  function sign(request: TransactionRequest): Transaction {
    const key = parts.accounts.key(request.from)
    if (key === undefined) throw invalidParams(`Could not find account for address: ${request.from}`)
    return signTransaction(
      {
        nonce: request.nonce ?? pool.nextNonce(request.from, parts.headState()),
        gasPrice: request.gasPrice ?? 0n,
        gasLimit: request.gas ?? DEFAULT_SEND_GAS,
        to: request.to ?? null,
        value: request.value ?? 0n,
        data: request.data ?? EMPTY,
        chainId: config.chainId,
      },
      key,
    )
  }

  async function rewind(target: ExecutedBlock): Promise<void> {
    const update = await blockchain.rewind(target, dropStored([...stored]))
    // As the node does: going back empties the pool, and what was mined above is not offered again.
    pool.clear()
    moved(update, [])
  }

  return {
    submit: (transaction) => inTurn(() => submit(transaction)),

    send: (request) => inTurn(() => submit(sign(request))),

    mine: ({ blocks: count = 1, timestamp } = {}) =>
      inTurn(async () => {
        if (timestamp !== undefined && timestamp <= blockchain.head.block.header.timestamp) {
          throw invalidParams(
            `timestamp ${timestamp} must be greater than the head's ${blockchain.head.block.header.timestamp}`,
          )
        }
        const mined: ExecutedBlock[] = []
        for (let i = 0; i < count; i++) mined.push((await mineOne(i === 0 ? timestamp : undefined)).block)
        return mined
      }),

    snapshot: () => inTurn(async () => snapshots.take(blockchain.head.hash, clock.save())),

    revert: (id) =>
      inTurn(async () => {
        const saved = snapshots.rewindTo(id, (hash) => blockchain.isCanonical(hash) === true)
        if (saved === undefined) return false
        if (saved.head !== blockchain.head.hash) {
          const target = blocks.get(saved.head)
          if (target === undefined)
            throw new Error(`block ${saved.head} of a snapshot is missing from the store`)
          await rewind(target)
        }
        clock.restore(saved.clock)
        pending.forget()
        return true
      }),

    reset: () =>
      inTurn(async () => {
        snapshots.clear()
        await rewind(blockchain.genesis)
        clock.reset()
      }),

    increaseTime: (seconds) =>
      inTurn(async () => {
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
        schedule.setMode(on ? 'auto' : 'manual')
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
