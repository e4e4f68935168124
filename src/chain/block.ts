/** Blocks: a header, transactions in order (REMASC last), uncle headers; their RLP and roots. */
import { binaryTrieRoot, orchidListRoot } from '../encoding/binary-trie.ts'
import { keccakHex } from '../encoding/hash.ts'
import type { Hex } from '../encoding/hex.ts'
import { asList, decodeRlp, encodeRlp } from '../encoding/rlp.ts'
import {
  framedLength,
  frameList,
  frameString,
  itemEnd,
  payloadStart,
  stringLength,
} from '../encoding/rlp-frame.ts'
import { type Rules, UNIFIED } from './activations.ts'
import type { ChainConfig } from './config.ts'
import { decodeHeader, encodeHeader, type Header } from './header.ts'
import type { Receipt } from './receipt.ts'
import { attributedTransaction, decodeBlockTransaction, type Transaction } from './transaction.ts'
import { beginsTyped } from './transaction-types.ts'

/** A block. Immutable. */
export interface Block {
  readonly header: Header
  readonly transactions: readonly Transaction[]
  readonly uncles: readonly Header[]
}

/** A contract and the account that made it. */
export interface Creation {
  readonly contract: Hex
  readonly creator: Hex
}

/** The accounts that a transaction's inner calls touched, which neither the transaction nor its receipt shows. */
export interface TransactionInternals {
  /** Of the transaction in its block. */
  readonly index: number
  /** Accounts of calls, creations and self-destructs, those of failed ones included; each once. */
  readonly participants: readonly Hex[]
  /** Contracts that were created and not reverted, in order. */
  readonly creations: readonly Creation[]
}

/** A block with the results of its execution. Immutable. */
export interface ExecutedBlock {
  readonly hash: Hex
  readonly block: Block
  /** One per transaction, in order. */
  readonly receipts: readonly Receipt[]
  /** Difficulty summed from genesis, uncles included. */
  readonly totalDifficulty: bigint
  /**
   * Root of the state that the next block begins with; equals `header.stateRoot` except below RSKIP-126,
   * where the header has the root in the older format, and where the state was edited by hand after the block.
   */
  readonly postState: Hex
  /** Of transactions that have any. Present when the block was executed in this process; otherwise it is in the store. */
  readonly internals?: readonly TransactionInternals[]
}

/** `unclesHash` of a block without uncles: keccak-256 of 0xc0. */
export const EMPTY_UNCLES_HASH: Hex = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'

function fullHeader(header: Header, config: ChainConfig): Uint8Array {
  return encodeHeader(header, 'full', config.rulesAt(header.number))
}

/** A transaction as an item of its block's list: a typed one is a string (RSKIP-543). */
function blockItem({ raw }: Transaction): Uint8Array {
  return beginsTyped(raw) ? frameString(raw) : raw
}

/**
 * The whole block as it is stored and sent: `[header, [transactions], [uncle headers]]`, headers in full
 * (docs/internals/protocol.md#14-encodings).
 */
export function encodeBlock({ header, transactions, uncles }: Block, config: ChainConfig): Uint8Array {
  return frameList([
    fullHeader(header, config),
    frameList(transactions.map(blockItem)),
    frameList(uncles.map((uncle) => fullHeader(uncle, config))),
  ])
}

/** Length of `encodeBlock` in bytes (docs/internals/protocol.md#33-fork-choice), without writing it. */
export function blockSize({ header, transactions, uncles }: Block, config: ChainConfig): number {
  const transactionBytes = transactions.reduce(
    (sum, { raw }) => sum + (beginsTyped(raw) ? stringLength(raw) : raw.length),
    0,
  )
  const uncleBytes = uncles.reduce((sum, uncle) => sum + fullHeader(uncle, config).length, 0)
  const headerBytes = fullHeader(header, config).length
  return framedLength(headerBytes + framedLength(transactionBytes) + framedLength(uncleBytes))
}

/**
 * Reads what `encodeBlock` writes; recovers the senders. Throws a RangeError (or RLP's own Error) when the bytes are
 * malformed, and what `decodeTransaction` throws. It does not judge whether the block is valid. `senders`, one a
 * transaction, are used instead of recovering them from the signatures.
 */
export function decodeBlock(bytes: Uint8Array, config: ChainConfig, senders?: readonly Hex[]): Block {
  const list = asList(decodeRlp(bytes), 'block')
  if (list.length !== 3) throw new RangeError(`a block has 3 items, not ${list.length}`)
  const header = decodeHeader(asList(list[0], 'block header'), config)
  const { typedTransactions } = config.rulesAt(header.number)
  const transactions = asList(list[1], 'transactions').map((item) => {
    if (typedTransactions && item instanceof Uint8Array && beginsTyped(item)) return item
    return encodeRlp(asList(item, 'transaction'))
  })
  if (senders !== undefined && senders.length !== transactions.length) {
    throw new RangeError(`a block of ${transactions.length} transactions has ${senders.length} senders`)
  }
  return {
    header,
    transactions: transactions.map((raw, index) => {
      const sender = senders?.[index]
      return sender === undefined
        ? decodeBlockTransaction(raw, index === transactions.length - 1)
        : attributedTransaction(raw, sender)
    }),
    uncles: asList(list[2], 'uncles').map((item) => decodeHeader(asList(item, 'uncle header'), config)),
  }
}

/** The header at the beginning of what `encodeBlock` writes; the rest is not read. Throws as `decodeBlock` does. */
export function decodeBlockHeader(bytes: Uint8Array, config: ChainConfig): Header {
  const start = payloadStart(bytes, 0)
  const end = itemEnd(bytes, start)
  if (bytes.length === 0 || end > bytes.length) throw new RangeError('a block begins with its header')
  return decodeHeader(bytes.subarray(start, end), config)
}

/**
 * What a block adds to the total difficulty of its branch: its own difficulty and that of its uncles
 * (docs/internals/protocol.md#33-fork-choice).
 */
export function cumulativeDifficulty({ header, uncles }: Block): bigint {
  return uncles.reduce((sum, { difficulty }) => sum + difficulty, header.difficulty)
}

/**
 * Root of the transactions of a block, in order (docs/internals/protocol.md#55-receipts), in the format of the block's height
 * (RSKIP-126).
 */
export function transactionsRoot(
  transactions: readonly Transaction[],
  { unifiedTrie }: Pick<Rules, 'unifiedTrie'> = UNIFIED,
): Hex {
  const values = transactions.map(({ raw }) => raw)
  if (!unifiedTrie) return orchidListRoot(values)
  return binaryTrieRoot(
    values,
    transactions.map(({ hash }) => hash),
  )
}

/** `unclesHash` of a header: keccak-256 of the list of their full headers (docs/internals/protocol.md#12-fields). */
export function unclesHash(uncles: readonly Header[], config: ChainConfig): Hex {
  if (uncles.length === 0) return EMPTY_UNCLES_HASH
  return keccakHex(frameList(uncles.map((uncle) => fullHeader(uncle, config))))
}
