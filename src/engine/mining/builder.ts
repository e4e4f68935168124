/** Builds a block: selects transactions, executes them, fills in the header. Without proof of work. */
import { type Block, type ExecutedBlock, transactionsRoot, unclesHash } from '../../chain/block.ts'
import { sublistLimits } from '../../chain/config.ts'
import type { Header } from '../../chain/header.ts'
import { emptyHeader, nextDifficulty, nextGasLimit, nextMinimumGasPrice } from '../../chain/next-header.ts'
import { receiptsRoot } from '../../chain/receipt.ts'
import type { Transaction } from '../../chain/transaction.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Vm } from '../../evm/rules.ts'
import { BlockExecution, type BlockResult } from '../../execution/apply-block.ts'
import { TransactionRejected } from '../../execution/apply-transaction.ts'
import type { Logger } from '../../logger.ts'
import { UpstreamMiss } from '../../state/fork/demand.ts'
import type { CommittedState } from '../../state/model.ts'
import { Overlay } from '../../state/overlay.ts'
import type { StateTrie } from '../../state/state-trie.ts'
import { ancestryOf, type BlockReader, type ChainAccess, environmentOf } from '../blockchain/ancestry.ts'
import { headerRootOf } from '../blockchain/block-result.ts'
import { uncleCandidates } from '../blockchain/uncles.ts'
import { createEventLoopYield } from '../event-loop.ts'
import type { Fork } from '../fork/fork.ts'
import type { HeaderOverrides } from '../model.ts'
import type { Candidates } from '../pool/order.ts'

/** What a new block is made of. */
export interface BuildRequest {
  readonly parent: ExecutedBlock
  /** Unix seconds. */
  readonly timestamp: number
  readonly coinbase: Hex
  readonly extraData: Uint8Array
  /** Transactions that the block may include, best first. */
  readonly candidates: Candidates
  /** Headers to include as uncles; all known ones that the rules allow unless given. */
  readonly uncles?: readonly Header[]
  /** Reads the parent's branch; the store unless given. */
  readonly branch?: BlockReader
  /** Fixed header fields. A fixed gas limit is also that of the sequential sublist (RSKIP-144). */
  readonly headerOverrides?: HeaderOverrides
}

/** An executed block without proof of work. */
export interface BuiltBlock {
  readonly block: Block
  readonly result: BlockResult
  readonly parent: ExecutedBlock
  /** The state after the block, readable before it is written. */
  readonly overlay: Overlay
  readonly state: CommittedState
  /** Candidates whose execution threw an unexpected error; they must leave the pool. */
  readonly errored: readonly Transaction[]
  /** Candidates that are invalid in this block, and why. */
  readonly rejected: readonly { readonly transaction: Transaction; readonly reason: string }[]
}

interface Parts extends ChainAccess {
  readonly vm: Vm
  readonly trie: StateTrie
  readonly logger: Logger
  readonly fork: Fork | undefined
}

/** What the candidates of a block became. */
interface Selection {
  readonly errored: Transaction[]
  readonly rejected: { transaction: Transaction; reason: string }[]
}

/** Builds blocks on any parent whose state can be read. */
export class BlockBuilder {
  readonly #parts: Parts
  readonly #yieldIfDue = createEventLoopYield('chain')

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Builds a block. Throws what reads of a fork's state throw. */
  async build(request: BuildRequest): Promise<BuiltBlock> {
    const { blockchain, blocks, config, fork, trie, vm } = this.#parts
    const { parent, candidates, branch = blocks, headerOverrides = {} } = request
    const tip = { hash: parent.hash, header: parent.block.header }
    const uncles = request.uncles ?? uncleCandidates(tip, { config, blockchain, blocks: branch })
    const draft = this.#draftOf(request, uncles)
    await fork?.preparePayout(draft.number)
    const overlay = new Overlay(trie.reader(parent.postState))
    const execution = new BlockExecution({
      config,
      vm,
      state: overlay,
      env: environmentOf(draft, ancestryOf(tip, blockchain, branch), (hash) => branch.get(hash)),
      recordsCalls: vm.tracesByAnotherEvm !== true,
      sequentialGasLimit:
        headerOverrides.gasLimit ?? sublistLimits(config, draft.gasLimit, draft.number).sequential,
    })
    await this.#yieldIfDue()
    const { errored, rejected } = await this.#addCandidates(execution, candidates)
    const result = execution.finish()
    const state = trie.commit(parent.postState, overlay.changes())
    const header = this.#completed(draft, result, state)
    const block = { header, transactions: result.transactions, uncles }
    return { block, result, parent, overlay, state, errored, rejected }
  }

  /** The header with all fields that do not follow from the execution. */
  #draftOf(request: BuildRequest, uncles: readonly Header[]): Header {
    const { config } = this.#parts
    const { parent, timestamp, coinbase, extraData, headerOverrides = {} } = request
    const above = parent.block.header
    return {
      ...emptyHeader(above.number + 1, config),
      parentHash: parent.hash,
      unclesHash: unclesHash(uncles, config),
      coinbase,
      stateRoot: parent.postState,
      difficulty: nextDifficulty(above, timestamp, uncles.length, config),
      gasLimit: headerOverrides.gasLimit ?? nextGasLimit(above, config),
      timestamp,
      extraData,
      minimumGasPrice: headerOverrides.minimumGasPrice ?? nextMinimumGasPrice(above, config),
      uncleCount: uncles.length,
    }
  }

  /** Executes the candidates that fit, best first. */
  async #addCandidates(execution: BlockExecution, candidates: Candidates): Promise<Selection> {
    const errored: Transaction[] = []
    const rejected: { transaction: Transaction; reason: string }[] = []
    for (let transaction = candidates.next(); transaction !== undefined; transaction = candidates.next()) {
      try {
        await this.#yieldIfDue()
        await execution.add(transaction)
      } catch (error) {
        if (error instanceof UpstreamMiss) throw error
        // A transaction that does not fit stays for a later block, and so do the sender's later ones.
        candidates.skipSender(transaction.from)
        if (error instanceof TransactionRejected) {
          rejected.push({ transaction, reason: error.message })
          continue
        }
        const { hash } = transaction
        this.#parts.logger.error('a pooled transaction could not be run and is dropped', { hash, error })
        errored.push(transaction)
      }
    }
    return { errored, rejected }
  }

  #completed(draft: Header, result: BlockResult, state: CommittedState): Header {
    const { config, trie } = this.#parts
    const rules = config.rulesAt(draft.number)
    return {
      ...draft,
      stateRoot: headerRootOf(state, trie, rules),
      transactionsRoot: transactionsRoot(result.transactions, rules),
      receiptsRoot: receiptsRoot(result.receipts, rules),
      logsBloom: result.logsBloom,
      gasUsed: result.gasUsed,
      paidFees: result.paidFees,
    }
  }
}
