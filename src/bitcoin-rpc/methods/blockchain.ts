/** Methods about blocks and the chain. */

import { z } from 'zod'
import { decodeBlock, encodeBlock } from '../../bitcoin/chain/block.ts'
import { decodeHeader, encodeHeader, HEADER_BYTES, hashOfHeader } from '../../bitcoin/chain/header.ts'
import { encodePartialTree } from '../../bitcoin/chain/merkle-root.ts'
import { RuleViolation } from '../../bitcoin/chain/rule-violation.ts'
import { bestBlock, blockAt, isActive, medianTime, type StoredBlock } from '../../bitcoin/chain/state.ts'
import { digitsOf, displayed } from '../../bitcoin/displayed-hash.ts'
import { proveByTree } from '../../bitcoin/merkle-tree.ts'
import { txid } from '../../bitcoin/transaction.ts'
import { concat, equal } from '../../encoding/bytes.ts'
import { Amount } from '../amount.ts'
import { difficultyOf, viewOfBlock, viewOfHeader, word, workText } from '../block-view.ts'
import { type Context, type Method, method } from '../method.ts'
import { blockOf, bytesOf, flag, hashOf, integer, level, text } from '../parameters.ts'
import { CODE, RpcFailure } from '../rpc-failure.ts'

const category = 'Blockchain'
const stateOf = ({ bitcoin }: Context) => bitcoin.chain.state

const getBlockchainInfo = method({
  name: 'getblockchaininfo',
  category,
  help: 'Returns the state of the chain.',
  parameters: {},
  handle(_, context) {
    const state = stateOf(context)
    const best = bestBlock(state)
    const size = [...state.blocks.values()].reduce((sum, { sizes }) => sum + sizes.size, 0)
    return {
      chain: 'regtest',
      blocks: best.height,
      headers: best.height,
      bestblockhash: best.hash,
      difficulty: difficultyOf(best.block.header.bits),
      time: best.block.header.time,
      mediantime: medianTime(state, best),
      verificationprogress: 1,
      initialblockdownload: false,
      chainwork: workText(best.work),
      size_on_disk: size,
      pruned: false,
      warnings: '',
    }
  },
})

const getBlockHash = method({
  name: 'getblockhash',
  category,
  help: 'Returns the hash of the block at a height of the best chain.',
  parameters: { height: integer },
  handle({ height }, context) {
    const block = blockAt(stateOf(context), height)
    if (block === undefined) throw new RpcFailure(CODE.PARAMETER, 'Block height out of range')
    return block.hash
  },
})

const getBlock = method({
  name: 'getblock',
  category,
  help: 'Returns a block: as bytes (verbosity 0), with the ids of its transactions (1), with them (2), or also with what they spend (3).',
  parameters: { blockhash: text, verbosity: level.default(1) },
  handle({ blockhash, verbosity }, context) {
    const stored = blockOf(context, blockhash)
    if (verbosity <= 0) return digitsOf(encodeBlock(stored.block))
    return viewOfBlock(stateOf(context), stored, verbosity)
  },
})

const getBlockHeader = method({
  name: 'getblockheader',
  category,
  help: 'Returns a header as an object, or as bytes.',
  parameters: { blockhash: text, verbose: flag.default(true) },
  handle({ blockhash, verbose }, context) {
    const stored = blockOf(context, blockhash)
    return verbose ? viewOfHeader(stateOf(context), stored) : digitsOf(encodeHeader(stored.block.header))
  },
})

const getChainTips = method({
  name: 'getchaintips',
  category,
  help: 'Returns the last blocks of all branches.',
  parameters: {},
  handle(_, context) {
    const state = stateOf(context)
    const tips = new Set([state.best, ...[...state.tips.entries()].map(([hash]) => hash)])
    return [...tips].map((hash) => {
      const tip = state.blocks.get(hash) as StoredBlock
      let length = 0
      let block: StoredBlock | undefined = tip
      for (; block !== undefined && !isActive(state, block); block = state.blocks.get(block.parent)) length++
      const status =
        length === 0
          ? 'active'
          : tip.isInvalid
            ? 'invalid'
            : tip.wasConnected
              ? 'valid-fork'
              : 'valid-headers'
      return { height: tip.height, hash, branchlen: length, status }
    })
  },
})

const getChainTxStats = method({
  name: 'getchaintxstats',
  category,
  help: 'Returns how many transactions the chain has.',
  parameters: { nblocks: integer.optional(), blockhash: text.optional() },
  handle({ blockhash, nblocks }, context) {
    const state = stateOf(context)
    const last = blockhash === undefined ? bestBlock(state) : blockOf(context, blockhash)
    const count = nblocks ?? Math.max(last.height - 1, 0)
    if (count < 0 || (count > 0 && count >= last.height))
      throw new RpcFailure(
        CODE.PARAMETER,
        "Invalid block count: should be between 0 and the block's height - 1",
      )
    const first = blockAt(state, last.height - count)
    const interval = medianTime(state, last) - (first === undefined ? 0 : medianTime(state, first))
    return {
      time: last.block.header.time,
      txcount: last.transactionCount,
      window_final_block_hash: last.hash,
      window_final_block_height: last.height,
      window_block_count: count,
      window_interval: count === 0 ? undefined : interval,
    }
  },
})

function activeBlockWith(
  context: Context,
  ids: readonly string[],
  blockhash: string | undefined,
): StoredBlock {
  const state = stateOf(context)
  const hash =
    blockhash === undefined ? ids.map((id) => state.places.get(id)?.block).find(Boolean) : undefined
  if (blockhash !== undefined) return blockOf(context, blockhash)
  if (hash === undefined) throw new RpcFailure(CODE.ADDRESS_OR_KEY, 'Transaction not yet in block')
  return blockOf(context, hash)
}

const getProof = method({
  name: 'gettxoutproof',
  category,
  help: 'Returns a proof that transactions are in a block: its header and a partial Merkle tree.',
  parameters: { txids: z.array(text).min(1), blockhash: text.optional() },
  handle({ txids, blockhash }, context) {
    const ids = txids.map((id) => hashOf(id, 'txid'))
    if (new Set(ids).size < ids.length)
      throw new RpcFailure(CODE.PARAMETER, 'Invalid parameter, duplicated txid')
    const stored = activeBlockWith(context, ids, blockhash)
    const places = ids.map((id) => stored.ids.indexOf(id))
    if (places.includes(-1))
      throw new RpcFailure(CODE.ADDRESS_OR_KEY, 'Not all transactions found in specified or retrieved block')
    const tree = encodePartialTree(stored.block.transactions.map(txid), new Set(places))
    return digitsOf(concat(encodeHeader(stored.block.header), tree))
  },
})

const verifyProof = method({
  name: 'verifytxoutproof',
  category,
  help: 'Returns the ids of the transactions that a proof is about; none when it proves nothing.',
  parameters: { proof: text },
  handle({ proof }, context) {
    const bytes = bytesOf(proof, 'proof')
    const state = stateOf(context)
    try {
      const header = decodeHeader(bytes)
      const { root, matches } = proveByTree(bytes.subarray(HEADER_BYTES))
      if (!equal(root, header.merkleRoot)) return []
      const stored = state.blocks.get(displayed(hashOfHeader(header)))
      if (stored === undefined || !isActive(state, stored))
        throw new RpcFailure(CODE.ADDRESS_OR_KEY, 'Block not found in chain')
      return matches.map(displayed)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw new RpcFailure(CODE.DESERIALIZATION, 'The proof cannot be decoded')
    }
  },
})

/** Bitcoin Core's answer to a block: nothing when it is accepted, else why not. */
function submit({ bitcoin }: Context, hexdata: string): string | null {
  let block: ReturnType<typeof decodeBlock>
  try {
    block = decodeBlock(bytesOf(hexdata, 'hexdata', CODE.DESERIALIZATION))
  } catch (error) {
    if (error instanceof RpcFailure || error instanceof RangeError)
      throw new RpcFailure(CODE.DESERIALIZATION, 'Block decode failed')
    throw error
  }
  try {
    return bitcoin.chain.submit(block).isBest ? null : 'inconclusive'
  } catch (error) {
    if (error instanceof RuleViolation) return error.reason
    throw error
  }
}

const submitBlock = method({
  name: 'submitblock',
  category: 'Mining',
  help: 'Takes a block in. Returns null when it is accepted, else why not.',
  parameters: { hexdata: text, dummy: text.optional() },
  handle: ({ hexdata }, context) => submit(context, hexdata),
})

const invalidateBlock = method({
  name: 'invalidateblock',
  category,
  help: 'Declares a block invalid, and all that follow it.',
  parameters: { blockhash: text },
  handle({ blockhash }, context) {
    const stored = blockOf(context, blockhash)
    if (stored.height === 0) throw new RpcFailure(CODE.MISC, 'The genesis block cannot be invalidated')
    context.bitcoin.chain.invalidate(stored)
    return null
  },
})

const reconsiderBlock = method({
  name: 'reconsiderblock',
  category,
  help: 'Takes back what invalidateblock declared.',
  parameters: { blockhash: text },
  handle({ blockhash }, context) {
    context.bitcoin.chain.reconsider(blockOf(context, blockhash))
    return null
  },
})

const getTxOutSetInfo = method({
  name: 'gettxoutsetinfo',
  category,
  help: 'Returns how many outputs can be spent, and their sum.',
  parameters: { hash_type: text.optional() },
  handle(_, context) {
    const state = stateOf(context)
    const coins = [...state.coins.entries()]
    return {
      height: bestBlock(state).height,
      bestblock: state.best,
      txouts: coins.length,
      transactions: new Set(coins.map(([key]) => key.slice(0, 64))).size,
      total_amount: new Amount(coins.reduce((sum, [, { value }]) => sum + value, 0n)),
    }
  },
})

const getBlockStats = method({
  name: 'getblockstats',
  category,
  help: 'Returns counts of a block, by hash or height.',
  parameters: { hash_or_height: z.union([text, integer]) },
  handle({ hash_or_height: where }, context) {
    const state = stateOf(context)
    const stored = typeof where === 'number' ? blockAt(state, where) : blockOf(context, where)
    if (stored === undefined)
      throw new RpcFailure(CODE.PARAMETER, `Target block height ${where} after current tip`)
    const { sizes, block } = stored
    return {
      blockhash: stored.hash,
      height: stored.height,
      time: block.header.time,
      mediantime: medianTime(state, stored),
      txs: block.transactions.length,
      outs: block.transactions.reduce((sum, { outputs }) => sum + outputs.length, 0),
      total_size: sizes.size,
      total_weight: sizes.weight,
    }
  },
})

/** About blocks and the chain. */
export const BLOCKCHAIN_METHODS: readonly Method[] = [
  getBlockchainInfo,
  method({
    name: 'getblockcount',
    category,
    help: 'Returns the height of the best block.',
    parameters: {},
    handle: (_, context) => bestBlock(stateOf(context)).height,
  }),
  method({
    name: 'getbestblockhash',
    category,
    help: 'Returns the hash of the best block.',
    parameters: {},
    handle: (_, context) => stateOf(context).best,
  }),
  method({
    name: 'getdifficulty',
    category,
    help: 'Returns the difficulty of the best block.',
    parameters: {},
    handle: (_, context) => difficultyOf(bestBlock(stateOf(context)).block.header.bits),
  }),
  method({
    name: 'getmininginfo',
    category: 'Mining',
    help: 'Returns what a miner needs to know.',
    parameters: {},
    handle(_, context) {
      const state = stateOf(context)
      const best = bestBlock(state)
      return {
        blocks: best.height,
        bits: word(best.block.header.bits),
        difficulty: difficultyOf(best.block.header.bits),
        networkhashps: 0,
        pooledtx: state.mempool.size,
        chain: 'regtest',
        warnings: '',
      }
    },
  }),
  getBlockHash,
  getBlock,
  getBlockHeader,
  getChainTips,
  getChainTxStats,
  getProof,
  verifyProof,
  submitBlock,
  invalidateBlock,
  reconsiderBlock,
  getTxOutSetInfo,
  getBlockStats,
]
