/** Blocks and uncles on the wire (docs/internals/rpc-reference.md#61-block). */
import { z } from 'zod'
import { EMPTY_TRIE_ROOT } from '../../chain/account.ts'
import { type Block, blockSize, type ExecutedBlock } from '../../chain/block.ts'
import type { ChainConfig } from '../../chain/config.ts'
import { type Header, hashForMergedMining, headerHash } from '../../chain/header.ts'
import type { Transaction } from '../../chain/transaction.ts'
import { type Hex, toHex, toQuantity } from '../../encoding/hex.ts'
import type { BlockView, Imported } from '../../engine/model.ts'
import { MOST_AS_OBJECTS, type WrittenJson, writtenArray, writtenObject } from '../raw-json.ts'
import { AddressText, BloomText, DataText, HashText, QuantityText } from './scalars.ts'
import { TransactionObject, toRpcTransaction, transactionText } from './transaction.ts'

/** How an imported block is reported: the new head, a side block, or already known (docs/internals/protocol.md#8-reorganisation). */
export const IMPORT_RESULTS = {
  best: 'IMPORTED_BEST',
  side: 'IMPORTED_NOT_BEST',
  known: 'EXIST',
} as const satisfies Record<Imported['outcome'], string>

/** Key order is that of the reference node; members that a pending block does not have yet are null. */
export const BlockObject = z.lazy(() =>
  z
    .strictObject({
      number: QuantityText.nullable(),
      hash: HashText.nullable(),
      parentHash: HashText,
      mixHash: HashText,
      nonce: DataText.nullable(),
      sha3Uncles: HashText,
      logsBloom: BloomText.nullable(),
      transactionsRoot: HashText,
      stateRoot: HashText,
      receiptsRoot: HashText,
      miner: AddressText.nullable(),
      difficulty: QuantityText,
      totalDifficulty: QuantityText,
      extraData: DataText,
      size: QuantityText,
      gasLimit: QuantityText,
      gasUsed: QuantityText,
      timestamp: QuantityText,
      transactions: z.array(z.union([HashText, TransactionObject])),
      uncles: z.array(HashText),
      minimumGasPrice: QuantityText,
      baseFeePerGas: z.literal('0x0').optional().describe('after RSKIP-546: the chain burns no fees'),
      bitcoinMergedMiningHeader: DataText,
      bitcoinMergedMiningCoinbaseTransaction: DataText,
      bitcoinMergedMiningMerkleProof: DataText,
      hashForMergedMining: HashText,
      paidFees: QuantityText,
      cumulativeDifficulty: QuantityText,
      rskPteEdges: z.array(z.int()).nullable(),
      baseEvent: DataText.nullable(),
      syntheticStateRoot: z
        .literal(true)
        .optional()
        .describe('on a fork, in its own blocks: `stateRoot` identifies the state, and is no root of it'),
      hiddenTransactions: z
        .array(HashText)
        .optional()
        .describe('under --hide-remasc: what `transactions` leaves out'),
    })
    .meta({ id: 'Block' }),
)

/** A block object. */
export type RpcBlock = z.infer<typeof BlockObject>

/** The members of a block that its header determines. */
export const HeaderObject = z.lazy(() =>
  BlockObject.unwrap()
    .omit({ transactions: true, uncles: true, hiddenTransactions: true })
    .meta({ id: 'Header' }),
)

// Blocks are proved by another chain's work: these two members exist only because Ethereum's clients require them.
const ZERO_MIX_HASH: Hex = `0x${'00'.repeat(32)}`
const ZERO_NONCE: Hex = '0x0000000000000000'

/** All members of a mined block except its transactions. */
function describeBlock(block: Block, hash: Hex, totalDifficulty: bigint, config: ChainConfig): RpcBlock {
  const { header, uncles } = block
  const cumulativeDifficulty = uncles.reduce((sum, uncle) => sum + uncle.difficulty, header.difficulty)
  const baseEvent = header.baseEvent
  return {
    number: toQuantity(header.number),
    hash,
    parentHash: header.parentHash,
    mixHash: ZERO_MIX_HASH,
    nonce: ZERO_NONCE,
    sha3Uncles: header.unclesHash,
    logsBloom: toHex(header.logsBloom),
    transactionsRoot: header.transactionsRoot,
    stateRoot: header.stateRoot,
    receiptsRoot: header.receiptsRoot,
    miner: header.coinbase,
    difficulty: toQuantity(header.difficulty),
    totalDifficulty: toQuantity(totalDifficulty),
    extraData: toHex(header.extraData),
    size: toQuantity(blockSize(block, config)),
    gasLimit: toQuantity(header.gasLimit),
    gasUsed: toQuantity(header.gasUsed),
    timestamp: toQuantity(header.timestamp),
    transactions: [],
    uncles: uncles.map((uncle) => headerHash(uncle, config)),
    minimumGasPrice: toQuantity(header.minimumGasPrice),
    ...(config.rulesAt(header.number).zeroBaseFee && NO_BASE_FEE),
    bitcoinMergedMiningHeader: toHex(header.bitcoinHeader),
    bitcoinMergedMiningCoinbaseTransaction: toHex(header.coinbaseTransaction),
    bitcoinMergedMiningMerkleProof: toHex(header.merkleProof),
    hashForMergedMining: hashForMergedMining(header, config),
    paidFees: toQuantity(header.paidFees),
    cumulativeDifficulty: toQuantity(cumulativeDifficulty),
    rskPteEdges: header.edges === undefined ? null : [...header.edges],
    baseEvent: baseEvent === undefined || baseEvent.length === 0 ? null : toHex(baseEvent),
    ...(config.forkedAt !== undefined && header.number > config.forkedAt && SYNTHETIC),
  }
}

const SYNTHETIC = { syntheticStateRoot: true } as const
/** Shown from RSKIP-546 on: the chain burns no fees. */
export const NO_BASE_FEE = { baseFeePerGas: '0x0' } as const

/** Mined blocks never change, and clients request the recent ones repeatedly. */
const described = new WeakMap<ExecutedBlock, RpcBlock>()

/** A copy for one caller, which may change it in process. */
function describe(executed: ExecutedBlock, config: ChainConfig): RpcBlock {
  const known =
    described.get(executed) ?? describeBlock(executed.block, executed.hash, executed.totalDifficulty, config)
  described.set(executed, known)
  const { uncles, rskPteEdges } = known
  return { ...known, uncles: [...uncles], rskPteEdges: rskPteEdges === null ? null : [...rskPteEdges] }
}

/** The transactions of a block that callers are shown: all, or all but the REMASC transaction. */
export function shownTransactions({ transactions }: Block, hideRemasc: boolean): readonly Transaction[] {
  return hideRemasc ? transactions.filter(({ isRemasc }) => !isRemasc) : transactions
}

/** A block with its transactions: whole objects when `full`, else hashes. With `hideRemasc` the REMASC transaction is in a member of its own. */
export function toRpcBlock(
  { executed, pending }: BlockView,
  full: boolean,
  config: ChainConfig,
  hideRemasc = false,
): RpcBlock {
  const { block, hash } = executed
  const number = block.header.number
  const transactions = shownTransactions(block, hideRemasc).map((transaction, index) => {
    if (!full) return transaction.hash
    return pending ? toRpcTransaction(transaction) : toRpcTransaction(transaction, { hash, number, index })
  })
  const hidden = hideRemasc && {
    // go-ethereum's client refuses a block without transactions whose root is not that of none.
    ...(transactions.length === 0 && { transactionsRoot: EMPTY_TRIE_ROOT }),
    hiddenTransactions: block.transactions
      .filter(({ isRemasc }) => isRemasc)
      .map((transaction) => transaction.hash),
  }
  // Spreading first and overwriting keeps the order of keys.
  if (!pending) return { ...describe(executed, config), transactions, ...hidden }
  const unknownYet = { number: null, hash: null, nonce: null, logsBloom: null, miner: null }
  return { ...describeBlock(block, hash, 0n, config), ...unknownYet, transactions, ...hidden }
}

/** A block as lookups return it: `toRpcBlock`, as JSON text when it has many whole transactions. */
export function toRpcBlockReply(
  view: BlockView,
  full: boolean,
  config: ChainConfig,
  hideRemasc: boolean,
): RpcBlock | WrittenJson {
  const { block, hash } = view.executed
  if (!full || block.transactions.length <= MOST_AS_OBJECTS) return toRpcBlock(view, full, config, hideRemasc)
  const number = block.header.number
  const transactions = writtenArray(shownTransactions(block, hideRemasc), (transaction, index) =>
    transactionText(transaction, view.pending ? undefined : { hash, number, index }),
  )
  return writtenObject({ ...toRpcBlock(view, false, config, hideRemasc), transactions })
}

/** A block without its transactions and uncles. */
export function toRpcHeader(view: BlockView, config: ChainConfig): z.infer<typeof HeaderObject> {
  const { transactions, uncles, hiddenTransactions, ...header } = toRpcBlock(view, false, config)
  return header
}

/**
 * An uncle, always without transactions. `known` is its whole block if the node has it; if only the header is known, the
 * total difficulty is shown as 0.
 */
export function toRpcUncle(header: Header, known: ExecutedBlock | undefined, config: ChainConfig): RpcBlock {
  if (known !== undefined) return { ...describe(known, config), transactions: [] }
  return describeBlock({ header, transactions: [], uncles: [] }, headerHash(header, config), 0n, config)
}
