/** From a reference to a block, a state, a transaction, a receipt. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { StateReader } from '../../state/model.ts'
import type { StateTrie } from '../../state/state-trie.ts'
import type { ChainAccess } from '../blockchain/ancestry.ts'
import type { BlockReference, BlockView, LogView, ReceiptView, TransactionView } from '../engine.ts'
import type { Pool } from '../pool/pool.ts'
import type { Pending } from './pending.ts'

/** States kept open: a reader remembers what it has read, so the head's should live as long as the head. */
const OPEN_STATES = 8

/** Reads of the chain and the pool. */
export interface Lookup {
  block(reference: BlockReference): Promise<BlockView | undefined>
  blocksAt(height: number): readonly ExecutedBlock[]
  state(reference: BlockReference): Promise<StateReader | undefined>
  /** The state after a block that stands. */
  stateAfter(block: ExecutedBlock): StateReader
  transaction(hash: Hex): TransactionView | undefined
  receipt(hash: Hex): ReceiptView | undefined
}

interface Parts extends ChainAccess {
  readonly trie: StateTrie
  readonly pool: Pool
  readonly pending: Pending
}

/** Makes the reads. */
export function createLookup({ blockchain, blocks, trie, pool, pending }: Parts): Lookup {
  const open = new Map<Hex, StateReader>()

  function stateAfter({ postState }: ExecutedBlock): StateReader {
    const known = open.get(postState)
    const reader = known ?? trie.reader(postState)
    open.delete(postState)
    open.set(postState, reader)
    if (open.size > OPEN_STATES) {
      for (const oldest of open.keys()) {
        open.delete(oldest)
        break
      }
    }
    return reader
  }

  function standing(reference: Exclude<BlockReference, { tag: 'pending' }>): ExecutedBlock | undefined {
    if ('tag' in reference) return reference.tag === 'earliest' ? blockchain.genesis : blockchain.head
    if ('number' in reference) {
      const hash = blockchain.headerAt(reference.number)?.hash
      return hash === undefined ? undefined : blocks.get(hash)
    }
    if (reference.requireCanonical && !blockchain.isCanonical(reference.hash)) return undefined
    return blocks.get(reference.hash)
  }

  async function block(reference: BlockReference): Promise<BlockView | undefined> {
    if ('tag' in reference && reference.tag === 'pending') {
      return { executed: (await pending.current()).executed, pending: true }
    }
    const executed = standing(reference)
    return executed && { executed, pending: false }
  }

  function mined(hash: Hex): { block: ExecutedBlock; index: number } | undefined {
    const at = blocks.transactionLocation(hash)
    const found = at === undefined ? undefined : blocks.get(at.blockHash)
    return at !== undefined && found !== undefined ? { block: found, index: at.index } : undefined
  }

  return {
    block,
    blocksAt: (height) => blocks.hashesAt(height).flatMap((hash) => blocks.get(hash) ?? []),
    stateAfter,
    async state(reference) {
      if ('tag' in reference && reference.tag === 'pending') return (await pending.current()).state
      const executed = standing(reference)
      return executed && stateAfter(executed)
    },
    transaction(hash) {
      const at = mined(hash)
      const transaction = at?.block.block.transactions[at.index]
      if (at !== undefined && transaction !== undefined) return { transaction, ...at }
      const pooled = pool.get(hash)
      return pooled && { transaction: pooled }
    },
    receipt(hash) {
      const at = mined(hash)
      return at && receiptAt(at.block, at.index)
    },
  }
}

/** The receipt at an index of a block; `undefined` beyond the end. */
export function receiptAt(block: ExecutedBlock, index: number): ReceiptView | undefined {
  const transaction = block.block.transactions[index]
  const receipt = block.receipts[index]
  if (transaction === undefined || receipt === undefined) return undefined
  let firstLogIndex = 0
  for (let i = 0; i < index; i++) firstLogIndex += block.receipts[i]?.logs.length ?? 0
  return { transaction, receipt, block, index, firstLogIndex }
}

/** All logs of a block in order, each with its place. */
export function* logsOf(block: ExecutedBlock, removed: boolean): Generator<LogView> {
  let logIndex = 0
  for (const [transactionIndex, receipt] of block.receipts.entries()) {
    const transaction = block.block.transactions[transactionIndex]
    if (transaction === undefined) throw new Error(`block ${block.hash} has more receipts than transactions`)
    for (const log of receipt.logs) {
      yield { log, block, transaction, transactionIndex, logIndex: logIndex++, removed }
    }
  }
}
