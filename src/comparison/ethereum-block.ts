/** A block of this chain under Ethereum's rules, with the two roots that Ethereum's header would hold. */
import { MerklePatriciaTrie } from '@ethereumjs/trie'
import type { Transaction } from '../chain/transaction.ts'
import { EMPTY, fromBigInt } from '../encoding/bytes.ts'
import { type Hex, toHex } from '../encoding/hex.ts'
import { encodeRlp } from '../encoding/rlp.ts'
import type { BlockEnvironment } from '../evm/message.ts'
import { TransactionRejected } from '../execution/apply-transaction.ts'
import { applyChanges } from '../state/apply-changes.ts'
import type { StateReader } from '../state/model.ts'
import { Overlay } from '../state/overlay.ts'
import type { EthereumFork } from './ethereum-forks.ts'
import { executeByEthereumRules, forkRules } from './ethereum-rules.ts'
import type { EthereumBlock, RejectedTransaction } from './report.ts'

/** The block to run. */
export interface EthereumBlockParts {
  /** In order, without the REMASC transaction. */
  readonly transactions: readonly Transaction[]
  /** The state of the block's parent; only read. */
  readonly state: StateReader
  readonly env: BlockEnvironment
  /** The result of CHAINID. */
  readonly chainId: number
  readonly fork: EthereumFork
  /** Milliseconds of wall clock for all transactions together; `limit-exceeded` beyond. Absent: no limit. */
  readonly deadlineMs?: number
}

/**
 * Runs the transactions of a block one after another by a fork of Ethereum, each on the state that Ethereum's rules left.
 * A transaction that Ethereum rejects is left out. Throws `limit-exceeded` at the deadline.
 */
export async function executeBlockByEthereumRules(parts: EthereumBlockParts): Promise<EthereumBlock> {
  const { transactions, env, chainId, fork, deadlineMs } = parts
  const began = performance.now()
  const state = new Overlay(parts.state)
  const included: Uint8Array[] = []
  const receipts: Uint8Array[] = []
  const rejected: RejectedTransaction[] = []
  let gasUsed = 0n
  for (const transaction of transactions) {
    try {
      if (transaction.gasLimit > env.gasLimit - gasUsed)
        throw new TransactionRejected('block gas limit reached')
      const outcome = await executeByEthereumRules({
        transaction,
        state,
        env,
        chainId,
        hardfork: fork,
        blockGasUsed: gasUsed,
        ...(deadlineMs !== undefined && { deadlineMs: began + deadlineMs - performance.now() }),
      })
      applyChanges(state, outcome.changes)
      gasUsed += outcome.gasUsed
      included.push(transaction.raw)
      receipts.push(outcome.receipt)
    } catch (error) {
      if (!(error instanceof TransactionRejected)) throw error
      rejected.push({ hash: transaction.hash, reason: error.message })
    }
  }
  const common = forkRules(chainId, fork)
  const [transactionsRoot, receiptsRoot] = await Promise.all(
    [included, receipts].map((values) => listRoot(values, common)),
  )
  if (transactionsRoot === undefined || receiptsRoot === undefined) throw new Error('a root is missing')
  return { included: included.length, rejected, gasUsed, transactionsRoot, receiptsRoot }
}

/** Root of the trie that holds each value under the RLP of its index (Yellow Paper 4.4). */
async function listRoot(values: readonly Uint8Array[], common: ReturnType<typeof forkRules>): Promise<Hex> {
  const trie = new MerklePatriciaTrie({ common })
  for (const [index, value] of values.entries()) {
    await trie.put(encodeRlp(index === 0 ? EMPTY : fromBigInt(BigInt(index))), value)
  }
  return toHex(trie.root())
}
