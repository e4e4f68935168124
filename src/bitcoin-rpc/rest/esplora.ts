/** The subset of Esplora's REST interface that wallets and explorers need (Blockstream/esplora, API.md). */
import type { Bitcoin } from '../../bitcoin/bitcoin.ts'
import { encodeBlock, transactionSizes } from '../../bitcoin/chain/block.ts'
import { encodeHeader } from '../../bitcoin/chain/header.ts'
import { merkleBranch } from '../../bitcoin/chain/merkle-root.ts'
import { kindOf } from '../../bitcoin/chain/script-kind.ts'
import { bestBlock, blockAt, isActive, medianTime, type StoredBlock } from '../../bitcoin/chain/state.ts'
import { digitsOf, displayed } from '../../bitcoin/displayed-hash.ts'
import { addressOf } from '../../bitcoin/regtest-address.ts'
import { encodeTransaction, isCoinbase, type Output, txid } from '../../bitcoin/transaction.ts'
import { difficultyOf } from '../block-view.ts'
import { asmOf } from '../script-view.ts'
import { feeOf } from '../transaction-view.ts'
import { type Found, find, historyOf, scriptOf, sumsOf, unspentOf } from './address-history.ts'
import { broadcast } from './broadcast.ts'
import { json, plain, type RestAnswer, type Route } from './route.ts'

/** Esplora's names of kinds of scripts. */
const KINDS: Readonly<Record<string, string>> = {
  pubkey: 'p2pk',
  pubkeyhash: 'p2pkh',
  scripthash: 'p2sh',
  multisig: 'multisig',
  nulldata: 'op_return',
  witness_v0_keyhash: 'v0_p2wpkh',
  witness_v0_scripthash: 'v0_p2wsh',
  witness_v1_taproot: 'v1_p2tr',
}
const LISTED_BLOCKS = 10

function viewOfOutput({ value, script }: Output): object {
  return {
    scriptpubkey: digitsOf(script),
    scriptpubkey_asm: asmOf(script),
    scriptpubkey_type: KINDS[kindOf(script).kind] ?? 'unknown',
    scriptpubkey_address: addressOf(script),
    value: Number(value),
  }
}

function statusOf({ block }: Pick<Found, 'block'>): object {
  if (block === undefined) return { confirmed: false }
  return {
    confirmed: true,
    block_height: block.height,
    block_hash: block.hash,
    block_time: block.block.header.time,
  }
}

function viewOfTransaction(found: Found): object {
  const { id, transaction, spent } = found
  const { size, weight } = transactionSizes(transaction)
  const isFirst = isCoinbase(transaction)
  return {
    txid: id,
    version: transaction.version,
    locktime: transaction.lockTime,
    vin: transaction.inputs.map(({ hash, index, script, witness, sequence }, i) => ({
      txid: displayed(hash),
      vout: index,
      prevout: spent[i] === undefined ? null : viewOfOutput(spent[i]),
      scriptsig: digitsOf(script),
      scriptsig_asm: asmOf(script),
      witness: witness.map(digitsOf),
      is_coinbase: isFirst,
      sequence,
    })),
    vout: transaction.outputs.map(viewOfOutput),
    size,
    weight,
    fee: isFirst ? 0 : Number(feeOf(transaction, spent)),
    status: statusOf(found),
  }
}

function viewOfBlock({ chain: { state } }: Bitcoin, stored: StoredBlock): object {
  const { header } = stored.block
  return {
    id: stored.hash,
    height: stored.height,
    version: header.version,
    timestamp: header.time,
    tx_count: stored.ids.length,
    size: stored.sizes.size,
    weight: stored.sizes.weight,
    merkle_root: displayed(header.merkleRoot),
    previousblockhash: stored.parent === '' ? null : stored.parent,
    mediantime: medianTime(state, stored),
    nonce: header.nonce,
    bits: header.bits,
    difficulty: difficultyOf(header.bits),
  }
}

function blocksFrom(bitcoin: Bitcoin, height: number): RestAnswer {
  const heights = Array.from({ length: LISTED_BLOCKS }, (_, i) => height - i)
  const blocks = heights.flatMap((one) => blockAt(bitcoin.chain.state, one) ?? [])
  return json(blocks.map((stored) => viewOfBlock(bitcoin, stored)))
}

const get = (path: string, answer: Route['answer']): Route => ({
  verb: 'GET',
  pattern: new RegExp(`^(?:/api)?${path}$`),
  answer,
})

const HASH = '([0-9a-f]{64})'

const ofBlock = (path: string, view: (bitcoin: Bitcoin, stored: StoredBlock) => RestAnswer): Route =>
  get(`/block/${HASH}${path}`, (bitcoin, [hash = '']) => {
    const stored = bitcoin.chain.state.blocks.get(hash)
    return stored && view(bitcoin, stored)
  })

const ofTransaction = (path: string, view: (found: Found) => RestAnswer | undefined): Route =>
  get(`/tx/${HASH}${path}`, (bitcoin, [id = '']) => {
    const found = find(bitcoin, id)
    return found && view(found)
  })

function merkleProof({ id, block }: Found): RestAnswer | undefined {
  if (block === undefined) return undefined
  const place = block.ids.indexOf(id)
  const merkle = merkleBranch(block.block.transactions.map(txid), place).map(displayed)
  return json({ block_height: block.height, merkle, pos: place })
}

function sumsView(list: readonly Found[], script: Uint8Array): object {
  const { funded, fundedCount, spent, spentCount, transactions } = sumsOf(list, script)
  return {
    funded_txo_count: fundedCount,
    funded_txo_sum: Number(funded),
    spent_txo_count: spentCount,
    spent_txo_sum: Number(spent),
    tx_count: transactions,
  }
}

const ADDRESS_ROUTES: readonly Route[] = [
  get('/address/(\\w{1,100})', (bitcoin, [address = '']) => {
    const script = scriptOf(address)
    const { mined, waiting } = historyOf(bitcoin, script)
    return json({ address, chain_stats: sumsView(mined, script), mempool_stats: sumsView(waiting, script) })
  }),
  get('/address/(\\w{1,100})/txs', (bitcoin, [address = '']) => {
    const { mined, waiting } = historyOf(bitcoin, scriptOf(address))
    return json([...waiting, ...mined].slice(0, 75).map(viewOfTransaction))
  }),
  get('/address/(\\w{1,100})/utxo', (bitcoin, [address = '']) =>
    json(
      unspentOf(bitcoin, scriptOf(address)).map(({ id, index, value, height }) => ({
        txid: id,
        vout: index,
        status: statusOf({ block: height === undefined ? undefined : blockAt(bitcoin.chain.state, height) }),
        value: Number(value),
      })),
    ),
  ),
]

/** Esplora's paths, also below `/api`. */
export const ESPLORA_ROUTES: readonly Route[] = [
  get('/blocks/tip/height', ({ chain }) => plain(String(bestBlock(chain.state).height))),
  get('/blocks/tip/hash', ({ chain }) => plain(chain.state.best)),
  get('/blocks', (bitcoin) => blocksFrom(bitcoin, bestBlock(bitcoin.chain.state).height)),
  get('/blocks/(\\d{1,9})', (bitcoin, [height]) => blocksFrom(bitcoin, Number(height))),
  get('/block-height/(\\d{1,9})', ({ chain }, [height]) => {
    const stored = blockAt(chain.state, Number(height))
    return stored && plain(stored.hash)
  }),
  ofBlock('', (bitcoin, stored) => json(viewOfBlock(bitcoin, stored))),
  ofBlock('/status', ({ chain: { state } }, stored) =>
    json({
      in_best_chain: isActive(state, stored),
      height: stored.height,
      next_best: isActive(state, stored) ? blockAt(state, stored.height + 1)?.hash : undefined,
    }),
  ),
  ofBlock('/header', (_, { block }) => plain(digitsOf(encodeHeader(block.header)))),
  ofBlock('/hex', (_, { block }) => plain(digitsOf(encodeBlock(block)))),
  ofBlock('/txids', (_, { ids }) => json(ids)),
  ofTransaction('', (found) => json(viewOfTransaction(found))),
  ofTransaction('/status', (found) => json(statusOf(found))),
  ofTransaction('/hex', ({ transaction }) => plain(digitsOf(encodeTransaction(transaction)))),
  ofTransaction('/merkle-proof', merkleProof),
  ...ADDRESS_ROUTES,
  get('/mempool/txids', ({ chain }) => json([...chain.state.mempool.values()].map(({ id }) => id))),
  get('/fee-estimates', () => json(Object.fromEntries([1, 2, 3, 6, 12, 24, 144, 1008].map((n) => [n, 20])))),
  {
    verb: 'POST',
    pattern: /^(?:\/api)?\/tx$/,
    answer: (bitcoin, _, body) => plain(broadcast(bitcoin, body)),
  },
]
