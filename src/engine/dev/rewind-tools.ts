/** Removes the last blocks of the chain, and replaces them by as many others, whatever their difficulty. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import { invalidParams } from '../../errors.ts'
import type { Call } from '../call.ts'
import type { TransactionRequest } from '../model.ts'
import type { EngineParts } from '../parts.ts'
import { Progress } from '../progress.ts'
import { createRequests, type Requests } from '../wallet/transaction-requests.ts'

/** A transaction of a replacing block: signed, or to be signed with the next nonce of its sender. */
export interface PlacedTransaction {
  readonly transaction: Transaction | { readonly request: TransactionRequest }
  /** Index of its block among the replacing ones. */
  readonly block: number
}

/** The tools; each runs in the engine's queue of commands. */
export interface RewindTools {
  /**
   * Removes the last blocks. Their transactions do not return to the pool, and pooled ones stay where they are still
   * valid. Throws `invalid-params` for more blocks than the chain has.
   */
  rollback(depth: number): Promise<void>
  /**
   * Replaces the last blocks by as many others, with exactly the given transactions. Throws `invalid-params`
   * with nothing changed when a transaction is invalid in its block.
   */
  replaceBlocks(depth: number, transactions: readonly PlacedTransaction[]): Promise<void>
}

/** Rewinds the chain of a node. Calls must not overlap: each belongs to a job of the engine's queue. */
export class ChainRewinder {
  readonly #parts: EngineParts
  readonly #requests: Requests

  constructor(parts: EngineParts) {
    this.#parts = parts
    this.#requests = createRequests(parts)
  }

  /** See `RewindTools.rollback`. */
  async rollback(depth: number): Promise<void> {
    await this.#rewind(this.#ancestor(depth))
    await this.#parts.chainWriter.revalidatePool()
  }

  /** See `RewindTools.replaceBlocks`; `call` may end it before anything is changed. */
  async replaceBlocks(depth: number, transactions: readonly PlacedTransaction[], call: Call): Promise<void> {
    const { mining, clock, chainWriter, logger } = this.#parts
    const fork = this.#ancestor(depth)
    const plan = this.#planOf(fork, depth, transactions).map((each) => ({ transactions: each }))
    const before = clock.save()
    try {
      const progress = new Progress('building a branch', call, logger)
      await mining.buildBranch(fork, plan, { uncles: false, progress }, async (branch) => {
        await this.#rewind(fork)
        if (branch.length > 0) await chainWriter.insert(branch)
      })
    } catch (error) {
      clock.restore(before)
      throw error
    }
    await chainWriter.revalidatePool()
  }

  #ancestor(depth: number): ExecutedBlock {
    const { blocks, blockchain } = this.#parts
    const height = blockchain.head.block.header.number
    const hash = blockchain.hashAt(height - depth)
    const block = hash === undefined ? undefined : blocks.get(hash)
    if (block === undefined) {
      throw invalidParams(`depth: must not exceed the chain's height: height ${height}, depth ${depth}`)
    }
    return block
  }

  async #rewind(target: ExecutedBlock): Promise<void> {
    const { blockchain, chainWriter } = this.#parts
    if (target.hash === blockchain.head.hash) return
    chainWriter.publish(await blockchain.rewind(target), [])
  }

  /** The transactions of each block; those to sign get the nonces that follow the state after `fork`. */
  #planOf(fork: ExecutedBlock, depth: number, placed: readonly PlacedTransaction[]): Transaction[][] {
    const state = this.#parts.stateAfter(fork)
    const nonces = new Map<Hex, bigint>()
    const plan: Transaction[][] = Array.from({ length: depth }, () => [])
    for (const { transaction, block } of [...placed].sort((a, b) => a.block - b.block)) {
      const into = plan[block]
      if (into === undefined) {
        throw invalidParams(`transactions: block ${block} is not among the ${depth} that replace others`)
      }
      if (!('request' in transaction)) {
        into.push(transaction)
        continue
      }
      const { request } = transaction
      const nonce = nonces.get(request.from) ?? state.account(request.from)?.nonce ?? 0n
      nonces.set(request.from, nonce + 1n)
      into.push(this.#requests.toSend({ ...request, nonce }))
    }
    return plan
  }
}
