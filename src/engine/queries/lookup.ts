/** Looks up blocks, states, transactions and receipts. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import type { StateReader } from '../../state/model.ts'
import type { Chain } from '../blockchain/chain.ts'
import type { Pending } from '../mining/pending.ts'
import type { BlockReference, BlockView, MinedTransaction, ReceiptView, TransactionView } from '../model.ts'
import type { Pool } from '../pool/pool.ts'

/** Reads of the chain and the pool. */
export interface Lookup {
  block(reference: BlockReference): MaybePromise<BlockView | undefined>
  /** Height of the block of a reference, without decoding it; `undefined` for an unknown hash. */
  heightOf(reference: BlockReference): number | undefined
  blocksAt(height: number): readonly ExecutedBlock[]
  state(reference: BlockReference): MaybePromise<StateReader | undefined>
  /** The state after a stored block. */
  stateAfter(block: ExecutedBlock): StateReader
  transaction(hash: Hex): TransactionView | undefined
  /** A mined transaction, without decoding the rest of its block. */
  minedTransaction(hash: Hex): MinedTransaction | undefined
  receipt(hash: Hex): ReceiptView | undefined
}

interface Parts extends Pick<Chain, 'blockchain' | 'blocks' | 'stateAfter'> {
  readonly pool: Pool
  readonly pending: Pick<Pending, 'current'>
}

/** The lookup of a node. */
export class ChainLookup implements Lookup {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  block(reference: BlockReference): MaybePromise<BlockView | undefined> {
    if ('tag' in reference && reference.tag === 'pending') {
      return this.#parts.pending.current().then(({ executed }) => ({ executed, pending: true }))
    }
    const executed = this.#storedBlock(reference)
    return executed && { executed, pending: false }
  }

  heightOf(reference: BlockReference): number | undefined {
    const { blockchain, blocks } = this.#parts
    if ('number' in reference) return reference.number
    if ('hash' in reference) return blocks.header(reference.hash)?.number
    const { number } = blockchain.head.block.header
    if (reference.tag !== 'earliest') return reference.tag === 'pending' ? number + 1 : number
    return blocks.lowest === blocks.first ? blocks.first : 0
  }

  blocksAt(height: number): readonly ExecutedBlock[] {
    const { blockchain, blocks } = this.#parts
    const canonical = height < blocks.first ? blockchain.hashAt(height) : undefined
    const hashes = canonical === undefined ? blocks.hashesAt(height) : [canonical]
    return hashes.flatMap((hash) => blocks.get(hash) ?? [])
  }

  stateAfter(block: ExecutedBlock): StateReader {
    return this.#parts.stateAfter(block)
  }

  state(reference: BlockReference): MaybePromise<StateReader | undefined> {
    if ('tag' in reference && reference.tag === 'pending') {
      return this.#parts.pending.current().then(({ state }) => state)
    }
    if ('tag' in reference) {
      const executed = this.#storedBlock(reference)
      return executed && this.stateAfter(executed)
    }
    const hash = this.#hashOf(reference)
    const postState = hash === undefined ? undefined : this.#parts.blocks.stateRoot(hash)
    return postState === undefined ? undefined : this.#parts.stateAfter({ postState })
  }

  transaction(hash: Hex): TransactionView | undefined {
    const at = this.#mined(hash)
    const transaction = at?.block.block.transactions[at.index]
    if (at !== undefined && transaction !== undefined) return { transaction, ...at }
    const pooled = this.#parts.pool.get(hash)
    return pooled && { transaction: pooled }
  }

  minedTransaction(hash: Hex): MinedTransaction | undefined {
    const { blocks } = this.#parts
    const at = blocks.transactionLocation(hash)
    if (at === undefined) return undefined
    const { blockHash, index } = at
    const transaction = blocks.transaction(blockHash, index)
    const header = blocks.header(blockHash)
    if (transaction === undefined || header === undefined) return undefined
    return { transaction, place: { hash: blockHash, number: header.number, index } }
  }

  receipt(hash: Hex): ReceiptView | undefined {
    const at = this.#mined(hash)
    return at && receiptAt(at.block, at.index)
  }

  #storedBlock(reference: Exclude<BlockReference, { tag: 'pending' }>): ExecutedBlock | undefined {
    const { blockchain, blocks } = this.#parts
    if ('tag' in reference) {
      if (reference.tag === 'latest') return blockchain.head
      return blocks.lowest === blocks.first ? blockchain.genesis : this.#storedBlock({ number: 0 })
    }
    const hash = this.#hashOf(reference)
    return hash === undefined ? undefined : blocks.get(hash)
  }

  #hashOf(reference: Exclude<BlockReference, { tag: unknown }>): Hex | undefined {
    const { blockchain } = this.#parts
    if ('number' in reference) return blockchain.hashAt(reference.number)
    return reference.requireCanonical && !blockchain.isCanonical(reference.hash) ? undefined : reference.hash
  }

  #mined(hash: Hex): { block: ExecutedBlock; index: number } | undefined {
    const { blocks } = this.#parts
    const at = blocks.transactionLocation(hash)
    const found = at === undefined ? undefined : blocks.get(at.blockHash)
    return at !== undefined && found !== undefined ? { block: found, index: at.index } : undefined
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
