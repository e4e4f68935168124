/**
 * Methods that look up blocks and uncles (docs/internals/rpc-reference.md#76-blocks-and-transactions,
 * docs/internals/rpc-reference.md#72-chain).
 */
import { z } from 'zod'
import type { ChainConfig } from '../../../chain/config.ts'
import { type Header, headerHash } from '../../../chain/header.ts'
import { toQuantity } from '../../../encoding/hex.ts'
import type { Engine, Queries } from '../../../engine/engine.ts'
import type { BlockView } from '../../../engine/model.ts'
import { NodeError } from '../../../errors.ts'
import { blockAt } from '../../block-lookup.ts'
import { method } from '../../method.ts'
import { optional } from '../../parameter.ts'
import {
  BlockObject,
  HeaderObject,
  type RpcBlock,
  shownTransactions,
  toRpcBlockReply,
  toRpcHeader,
  toRpcUncle,
} from '../../wire/block.ts'
import { type BlockArgument, Height, LookupBlock } from '../../wire/block-reference.ts'
import { BlockHash, Flag, HashText, Index, QuantityText } from '../../wire/scalars.ts'

const UNKNOWN = `0x${'9'.repeat(64)}`

/** Is the block that we would mine now meant? */
function isPending(block: BlockArgument): boolean {
  return 'tag' in block.reference && block.reference.tag === 'pending'
}

async function uncleAt(view: BlockView | undefined, index: number, engine: Engine): Promise<RpcBlock | null> {
  if (view === undefined) return null
  const header = engine.queries.uncle(view.executed.block, index)
  return header === undefined ? null : describeUncle(header, engine.queries, engine.config)
}

async function describeUncle(header: Header, queries: Queries, config: ChainConfig): Promise<RpcBlock> {
  const known = await queries.block({ hash: headerHash(header, config) })
  return toRpcUncle(header, known?.executed, config)
}

export const eth_getBlockByHash = method({
  name: 'eth_getBlockByHash',
  hosted: true,
  summary: 'A block by its hash, canonical or not; null when unknown.',
  params: { blockHash: BlockHash, fullTransactions: optional(Flag, false) },
  result: () => BlockObject.nullable(),
  examples: [{ params: [UNKNOWN, false], result: null }],
  async run({ blockHash, fullTransactions }, { engine, options }) {
    const view = await engine.queries.block({ hash: blockHash })
    return view === undefined
      ? null
      : toRpcBlockReply(view, fullTransactions, engine.config, options.hideRemasc)
  },
})

export const eth_getBlockByNumber = method({
  name: 'eth_getBlockByNumber',
  hosted: true,
  summary: 'A block by number or tag; `pending` is the block that the node would mine now.',
  params: { block: LookupBlock, fullTransactions: optional(Flag, false) },
  result: () => BlockObject.nullable(),
  examples: [{ params: ['0xffffff', false], result: null }],
  async run({ block, fullTransactions }, { engine, options }) {
    const view = await engine.queries.block(block.reference)
    return view === undefined
      ? null
      : toRpcBlockReply(view, fullTransactions, engine.config, options.hideRemasc)
  },
})

export const eth_getHeaderByHash = method({
  name: 'eth_getHeaderByHash',
  summary: 'The block object without transactions and uncles, by the hash of the block; null when unknown.',
  params: { blockHash: BlockHash },
  result: () => HeaderObject.nullable(),
  examples: [{ params: [UNKNOWN], result: null }],
  async run({ blockHash }, { engine }) {
    const view = await engine.queries.block({ hash: blockHash })
    return view === undefined ? null : toRpcHeader(view, engine.config)
  },
})

export const eth_getHeaderByNumber = method({
  name: 'eth_getHeaderByNumber',
  summary: 'The block object without transactions and uncles, by number or tag.',
  params: { block: LookupBlock },
  result: () => HeaderObject.nullable(),
  examples: [{ params: ['0xffffff'], result: null }],
  async run({ block }, { engine }) {
    const view = await engine.queries.block(block.reference)
    return view === undefined ? null : toRpcHeader(view, engine.config)
  },
})

export const eth_getBlockTransactionCountByHash = method({
  name: 'eth_getBlockTransactionCountByHash',
  hosted: true,
  summary:
    'Number of transactions in a block, including the REMASC transaction; null when the block is unknown.',
  params: { blockHash: BlockHash },
  result: () => QuantityText.nullable(),
  examples: [{ params: [UNKNOWN], result: null }],
  async run({ blockHash }, { engine, options: { hideRemasc } }) {
    const view = await engine.queries.block({ hash: blockHash })
    if (view === undefined) return null
    return toQuantity(shownTransactions(view.executed.block, hideRemasc).length)
  },
})

export const eth_getBlockTransactionCountByNumber = method({
  name: 'eth_getBlockTransactionCountByNumber',
  hosted: true,
  summary: 'Number of transactions in a block; for `pending`, number of runnable transactions in the pool.',
  params: { block: LookupBlock },
  result: () => QuantityText,
  errors: ['block-not-found'],
  examples: [{ params: ['pending'], result: '0x0' }],
  async run({ block }, { engine, options: { hideRemasc } }) {
    if (isPending(block)) return toQuantity(engine.queries.poolSize().pending)
    const view = await blockAt(block, engine)
    return toQuantity(shownTransactions(view.executed.block, hideRemasc).length)
  },
})

export const eth_getUncleCountByBlockHash = method({
  name: 'eth_getUncleCountByBlockHash',
  hosted: true,
  summary: 'Number of uncles in a block.',
  params: { blockHash: BlockHash },
  result: () => QuantityText,
  errors: ['block-not-found'],
  examples: [
    { params: ['0x8ea789fabef0dd4946ed53f001e7b6f8a8d0c22a612a6099fc7f93c990af68fe'], result: '0x0' },
  ],
  async run({ blockHash }, { engine }) {
    const view = await engine.queries.block({ hash: blockHash })
    if (view === undefined) {
      throw new NodeError('block-not-found', `Block with hash ${blockHash.slice(2)} not found`)
    }
    return toQuantity(view.executed.block.uncles.length)
  },
})

export const eth_getUncleCountByBlockNumber = method({
  name: 'eth_getUncleCountByBlockNumber',
  hosted: true,
  summary: 'Number of uncles in a block.',
  params: { block: LookupBlock },
  result: () => QuantityText,
  errors: ['block-not-found'],
  examples: [{ params: ['latest'], result: '0x0' }],
  async run({ block }, { engine }) {
    const view = await blockAt(block, engine)
    return toQuantity(view.executed.block.uncles.length)
  },
})

export const eth_getUncleByBlockHashAndIndex = method({
  name: 'eth_getUncleByBlockHashAndIndex',
  summary: 'An uncle of a block, without transactions; null when there is none.',
  params: { blockHash: BlockHash, index: Index },
  result: () => BlockObject.nullable(),
  examples: [{ params: [UNKNOWN, '0x0'], result: null }],
  async run({ blockHash, index }, { engine }) {
    return uncleAt(await engine.queries.block({ hash: blockHash }), index, engine)
  },
})

export const eth_getUncleByBlockNumberAndIndex = method({
  name: 'eth_getUncleByBlockNumberAndIndex',
  summary: 'An uncle of a block, without transactions; null when there is none.',
  params: { block: LookupBlock, index: Index },
  result: () => BlockObject.nullable(),
  examples: [{ params: ['latest', '0x0'], result: null }],
  async run({ block, index }, { engine }) {
    return uncleAt(await engine.queries.block(block.reference), index, engine)
  },
})

export const eth_getBlocksByNumber = method({
  name: 'eth_getBlocksByNumber',
  summary: 'All blocks that the node knows at a height, on the canonical chain or not.',
  params: { height: Height },
  result: () =>
    z.array(z.strictObject({ hash: HashText, totalDifficulty: QuantityText, inMainChain: z.boolean() })),
  examples: [{ params: ['0xffffff'], result: [] }],
  run: ({ height }, { engine: { queries } }) =>
    queries.blocksAt(height).map(({ hash, totalDifficulty }) => ({
      hash,
      totalDifficulty: toQuantity(totalDifficulty),
      inMainChain: queries.isCanonical(hash) === true,
    })),
})

/** The methods of this file, in the order of the document. */
export const BLOCK_METHODS = [
  eth_getBlockByHash,
  eth_getBlockByNumber,
  eth_getHeaderByHash,
  eth_getHeaderByNumber,
  eth_getBlockTransactionCountByHash,
  eth_getBlockTransactionCountByNumber,
  eth_getUncleCountByBlockHash,
  eth_getUncleCountByBlockNumber,
  eth_getUncleByBlockHashAndIndex,
  eth_getUncleByBlockNumberAndIndex,
  eth_getBlocksByNumber,
] as const
