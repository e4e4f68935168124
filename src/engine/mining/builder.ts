/** Builds a block: selects transactions, executes them, fills in the header. Without proof of work. */
import type { Block, ExecutedBlock } from '../../chain/block.ts'
import { transactionsRoot, unclesHash } from '../../chain/block.ts'
import { sublistLimits } from '../../chain/config.ts'
import type { Header } from '../../chain/header.ts'
import { nextDifficulty, nextGasLimit, nextMinimumGasPrice } from '../../chain/next-header.ts'
import { receiptsRoot } from '../../chain/receipt.ts'
import type { Transaction } from '../../chain/transaction.ts'
import { EMPTY } from '../../encoding/bytes.ts'
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

/** Makes the builder. It builds on any parent whose state can be read. */
export function createBuilder(parts: Parts): (request: BuildRequest) => Promise<BuiltBlock> {
  const { config, blockchain, blocks, vm, trie, logger } = parts
  const yieldIfDue = createEventLoopYield('chain')

  return async function build({ parent, timestamp, coinbase, extraData, candidates, ...rest }) {
    const above = parent.block.header
    const tip = { hash: parent.hash, header: above }
    const { branch = blocks, headerOverrides = {} } = rest
    const uncles = rest.uncles ?? uncleCandidates(tip, { config, blockchain, blocks: branch })
    const number = above.number + 1
    const rules = config.rulesAt(number)
    const draft: Header = {
      version: rules.headerVersion,
      parentHash: parent.hash,
      unclesHash: unclesHash(uncles, config),
      coinbase,
      stateRoot: parent.postState,
      transactionsRoot: parent.postState,
      receiptsRoot: parent.postState,
      logsBloom: EMPTY,
      difficulty: nextDifficulty(above, timestamp, uncles.length, config),
      number,
      gasLimit: headerOverrides.gasLimit ?? nextGasLimit(above, config),
      gasUsed: 0n,
      timestamp,
      extraData,
      paidFees: 0n,
      minimumGasPrice: headerOverrides.minimumGasPrice ?? nextMinimumGasPrice(above, config),
      uncleCount: uncles.length,
      ummRoot: rules.umm ? EMPTY : undefined,
      edges: rules.headerVersion === 0 ? undefined : [],
      baseEvent: rules.headerVersion === 2 ? EMPTY : undefined,
      bitcoinHeader: EMPTY,
      merkleProof: EMPTY,
      coinbaseTransaction: EMPTY,
    }
    await parts.fork?.preparePayout(number)
    const ancestry = ancestryOf(tip, blockchain, branch)
    const overlay = new Overlay(trie.reader(parent.postState))
    const execution = new BlockExecution({
      config,
      vm,
      state: overlay,
      env: environmentOf(draft, ancestry, (hash) => branch.get(hash)),
      sequentialGasLimit:
        headerOverrides.gasLimit ?? sublistLimits(config, draft.gasLimit, number).sequential,
    })

    await yieldIfDue()
    const errored: Transaction[] = []
    const rejected: { transaction: Transaction; reason: string }[] = []
    for (let transaction = candidates.next(); transaction !== undefined; transaction = candidates.next()) {
      try {
        await yieldIfDue()
        await execution.add(transaction)
      } catch (error) {
        if (error instanceof UpstreamMiss) throw error
        // A transaction that does not fit stays for a later block, and so do the sender's later ones.
        candidates.skipSender(transaction.from)
        if (error instanceof TransactionRejected) {
          rejected.push({ transaction, reason: error.message })
          continue
        }
        logger.error('a pooled transaction could not be run and is dropped', {
          hash: transaction.hash,
          error,
        })
        errored.push(transaction)
      }
    }
    const result = execution.finish()
    const state = trie.commit(parent.postState, overlay.changes())
    const header: Header = {
      ...draft,
      stateRoot: rules.unifiedTrie ? state.root : trie.orchidRoot(state),
      transactionsRoot: transactionsRoot(result.transactions, rules),
      receiptsRoot: receiptsRoot(result.receipts, rules),
      logsBloom: result.logsBloom,
      gasUsed: result.gasUsed,
      paidFees: result.paidFees,
    }
    return {
      block: { header, transactions: result.transactions, uncles },
      result,
      parent,
      overlay,
      state,
      errored,
      rejected,
    }
  }
}
