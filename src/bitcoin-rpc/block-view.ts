/** Blocks as Bitcoin Core's JSON shows them. */
import { spentByPosition } from '../bitcoin/chain/connection.ts'
import { blockAt, type ChainState, isActive, medianTime, type StoredBlock } from '../bitcoin/chain/state.ts'
import { digitsOf, displayed } from '../bitcoin/displayed-hash.ts'
import { encodeTransaction, type Transaction } from '../bitcoin/transaction.ts'
import { Amount } from './amount.ts'
import { confirmationsOf, feeOf, viewOfTransaction } from './transaction-view.ts'

/** How much harder than the easiest target of the main network. */
export function difficultyOf(bits: number): number {
  const difficulty = 0xffff / (bits & 0xffffff)
  // Bitcoin Core writes 16 digits.
  return Number((difficulty * 256 ** (29 - (bits >>> 24))).toPrecision(16))
}

/** 64 hex digits. */
export function workText(work: bigint): string {
  return work.toString(16).padStart(64, '0')
}

/** Eight hex digits. */
export function word(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0')
}

/** A block as `getblockheader` shows it. */
export function viewOfHeader(state: ChainState, stored: StoredBlock): object {
  const { header } = stored.block
  const next = isActive(state, stored) ? blockAt(state, stored.height + 1) : undefined
  return {
    hash: stored.hash,
    confirmations: confirmationsOf(state, stored),
    height: stored.height,
    version: header.version,
    versionHex: word(header.version),
    merkleroot: displayed(header.merkleRoot),
    time: header.time,
    mediantime: medianTime(state, stored),
    nonce: header.nonce,
    bits: word(header.bits),
    difficulty: difficultyOf(header.bits),
    chainwork: workText(stored.work),
    nTx: stored.block.transactions.length,
    previousblockhash: stored.parent === '' ? undefined : stored.parent,
    nextblockhash: next?.hash,
  }
}

function viewOfIncluded(
  transaction: Transaction,
  stored: StoredBlock,
  position: number,
  isWithCoins: boolean,
): object {
  const spent = stored.wasConnected ? spentByPosition(stored)[position] : undefined
  return {
    ...viewOfTransaction(transaction, isWithCoins ? spent : undefined),
    fee: spent === undefined || position === 0 ? undefined : new Amount(feeOf(transaction, spent)),
    hex: digitsOf(encodeTransaction(transaction)),
  }
}

/** A block as `getblock` shows it: with ids (1), transactions (2), or those with the coins that they spend (3). */
export function viewOfBlock(state: ChainState, stored: StoredBlock, verbosity: number): object {
  const { sizes, block, ids } = stored
  return {
    ...viewOfHeader(state, stored),
    strippedsize: sizes.stripped,
    size: sizes.size,
    weight: sizes.weight,
    tx:
      verbosity === 1
        ? ids
        : block.transactions.map((transaction, i) => viewOfIncluded(transaction, stored, i, verbosity > 2)),
  }
}
