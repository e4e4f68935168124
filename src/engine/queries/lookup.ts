/** Looks up blocks, states, transactions and receipts. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import type { StateReader } from '../../state/model.ts'
import type { Chain } from '../blockchain/chain.ts'
import type { Pending } from '../mining/pending.ts'
import type { BlockReference, BlockView, ReceiptView, TransactionView } from '../model.ts'
import type { Pool } from '../pool/pool.ts'

/** Reads of the chain and the pool. */
export interface Lookup {
  block(reference: BlockReference): MaybePromise<BlockView | undefined>
  blocksAt(height: number): readonly ExecutedBlock[]
  state(reference: BlockReference): MaybePromise<StateReader | undefined>
  /** The state after a stored block. */
  stateAfter(block: ExecutedBlock): StateReader
  transaction(hash: Hex): TransactionView | undefined
  receipt(hash: Hex): ReceiptView | undefined
}

interface Parts extends Pick<Chain, 'blockchain' | 'blocks' | 'stateAfter'> {
  readonly pool: Pool
  readonly pending: Pick<Pending, 'current'>
}

/** Makes the lookup of a node. */
export function createLookup({ blockchain, blocks, stateAfter, pool, pending }: Parts): Lookup {
  function storedBlock(reference: Exclude<BlockReference, { tag: 'pending' }>): ExecutedBlock | undefined {
    if ('tag' in reference) {
      if (reference.tag === 'latest') return blockchain.head
      return blocks.lowest === blocks.first ? blockchain.genesis : storedBlock({ number: 0 })
    }
    if ('number' in reference) {
      const hash = blockchain.headerAt(reference.number)?.hash
      return hash === undefined ? undefined : blocks.get(hash)
    }
    if (reference.requireCanonical && !blockchain.isCanonical(reference.hash)) return undefined
    return blocks.get(reference.hash)
  }

  function block(reference: BlockReference): MaybePromise<BlockView | undefined> {
    if ('tag' in reference && reference.tag === 'pending') {
      return pending.current().then(({ executed }) => ({ executed, pending: true }))
    }
    const executed = storedBlock(reference)
    return executed && { executed, pending: false }
  }

  function mined(hash: Hex): { block: ExecutedBlock; index: number } | undefined {
    const at = blocks.transactionLocation(hash)
    const found = at === undefined ? undefined : blocks.get(at.blockHash)
    return at !== undefined && found !== undefined ? { block: found, index: at.index } : undefined
  }

  return {
    block,
    blocksAt(height) {
      const canonical = height < blocks.first ? blockchain.hashAt(height) : undefined
      const hashes = canonical === undefined ? blocks.hashesAt(height) : [canonical]
      return hashes.flatMap((hash) => blocks.get(hash) ?? [])
    },
    stateAfter,
    state(reference) {
      if ('tag' in reference && reference.tag === 'pending')
        return pending.current().then(({ state }) => state)
      const executed = storedBlock(reference)
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

/** The receipt of the transaction at an index of a block; `undefined` beyond the end. */
export function receiptAt(block: ExecutedBlock, index: number): ReceiptView | undefined {
  const transaction = block.block.transactions[index]
  const receipt = block.receipts[index]
  if (transaction === undefined || receipt === undefined) return undefined
  let firstLogIndex = 0
  for (let i = 0; i < index; i++) firstLogIndex += block.receipts[i]?.logs.length ?? 0
  return { transaction, receipt, block, index, firstLogIndex }
}
