/** Blocks of the Bitcoin chain that prove blocks of this chain. */
import type { Block } from '../bitcoin/chain/block.ts'
import { decodeHeader, encodeHeader, targetOf } from '../bitcoin/chain/header.ts'
import { OP, push } from '../bitcoin/script.ts'
import { uint32 } from '../bitcoin/serialization.ts'
import { encodeStripped, type Output, type Transaction, txid } from '../bitcoin/transaction.ts'
import { TAG } from '../chain/merged-mining/commitment.ts'
import { branchFromHashes } from '../chain/merged-mining/merkle-branch.ts'
import { concat, EMPTY } from '../encoding/bytes.ts'
import type { Hex } from '../encoding/hex.ts'
import type { ParentTemplate, ProvenBlock } from '../engine/parent-chain.ts'
import { FAUCET_SCRIPT } from './faucet.ts'

/** Found blocks that are kept until the blocks that they prove are inserted: those of a long branch. */
const MOST_FOUND = 10_000

/** What the coinbase of such a block has. */
export interface ProvingCoinbase {
  readonly script: Uint8Array
  readonly tag: Uint8Array
  readonly outputs: readonly Output[]
}

/** The coinbase that commits to a hash of a block of this chain; those of other attempts differ. */
export function provingCoinbase(hash: Uint8Array, attempt: number): ProvingCoinbase {
  const commitment = { value: 0n, script: concat(Uint8Array.of(OP.RETURN), push(concat(TAG, hash))) }
  const tag = attempt === 0 ? EMPTY : push(uint32(attempt))
  return { script: FAUCET_SCRIPT, tag, outputs: [commitment] }
}

/** The blocks that were found, until those that they prove are inserted. */
export class FoundBlocks {
  /** How many blocks of this chain there are for each one that is added to the Bitcoin chain; 0 adds none. */
  readonly #blocksPer: number
  /** By the hashes of the blocks that they prove. */
  readonly #found = new Map<Hex, Block>()

  constructor(blocksPer: number) {
    this.#blocksPer = blocksPer
  }

  /** The template of a block with such a coinbase, which is kept once it is found. */
  templateOf(block: Block): ParentTemplate {
    return {
      header: encodeHeader({ ...block.header, nonce: 0 }),
      coinbase: encodeStripped(block.transactions[0] as Transaction),
      merkleBranch: branchFromHashes(block.transactions.map(txid)),
      target: targetOf(block.header.bits),
      found: (header, proven) => {
        if (this.#found.size >= MOST_FOUND) this.#found.clear()
        this.#found.set(proven, { ...block, header: decodeHeader(header) })
      },
    }
  }

  /** Those that prove these blocks, and belong into the Bitcoin chain. */
  take(blocks: readonly ProvenBlock[]): readonly Block[] {
    return blocks.flatMap(({ hash, number }) => {
      const block = this.#found.get(hash)
      this.#found.delete(hash)
      const isAdded = block !== undefined && this.#blocksPer > 0 && number % this.#blocksPer === 0
      return isAdded ? [block] : []
    })
  }
}
