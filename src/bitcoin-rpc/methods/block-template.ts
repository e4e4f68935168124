/** `getblocktemplate`: what a miner builds the next block from (BIP-22, BIP-23, BIP-145). */
import { z } from 'zod'
import { idOf, transactionSizes } from '../../bitcoin/chain/block.ts'
import { targetOf } from '../../bitcoin/chain/header.ts'
import { MAX_CHECKS_COST, MAX_WEIGHT } from '../../bitcoin/chain/regtest.ts'
import { bestBlock, type ChainState, medianTime } from '../../bitcoin/chain/state.ts'
import { digitsOf, displayed } from '../../bitcoin/displayed-hash.ts'
import { encodeTransaction, type Transaction, wtxid } from '../../bitcoin/transaction.ts'
import { commitmentPosition } from '../../bitcoin/witness-commitment.ts'
import { EMPTY, fromBigIntFixed } from '../../encoding/bytes.ts'
import { method } from '../method.ts'
import { text } from '../parameters.ts'
import { CODE, RpcFailure } from '../rpc-failure.ts'

const Request = z.looseObject({ mode: text.default('template'), rules: z.array(text).default([]) })

const NEEDS_SEGWIT =
  'getblocktemplate must be called with the segwit rule set (call with {"rules": ["segwit"]})'

/** The transactions after the coinbase. `depends`: places of the parents in this list, from 1 on. */
function entriesOf(state: ChainState, transactions: readonly Transaction[]) {
  const places = new Map(transactions.map((transaction, i) => [idOf(transaction), i + 1]))
  return transactions.map((transaction) => {
    const txid = idOf(transaction)
    const entry = state.mempool.get(txid)
    const parents = transaction.inputs.flatMap(({ hash }) => places.get(displayed(hash)) ?? [])
    return {
      data: digitsOf(encodeTransaction(transaction)),
      txid,
      hash: displayed(wtxid(transaction)),
      depends: [...new Set(parents)],
      fee: Number(entry?.fee ?? 0n),
      sigops: entry?.checksCost ?? 0,
      weight: transactionSizes(transaction).weight,
    }
  })
}

/** Returns a block on the best one, of the mempool's transactions, without its coinbase. */
export const getBlockTemplate = method({
  name: 'getblocktemplate',
  category: 'Mining',
  help: 'Returns what a miner builds the next block from; the rules must include segwit.',
  parameters: { template_request: Request.default({ mode: 'template', rules: [] }) },
  handle({ template_request: { mode, rules } }, { bitcoin: { chain } }) {
    if (mode !== 'template') throw new RpcFailure(CODE.PARAMETER, 'Invalid mode')
    if (!rules.includes('segwit')) throw new RpcFailure(CODE.PARAMETER, NEEDS_SEGWIT)
    const { state } = chain
    const parent = bestBlock(state)
    const { header, transactions } = chain.assemble({ script: EMPTY })
    const [coinbase, ...others] = transactions as [Transaction, ...Transaction[]]
    return {
      capabilities: [],
      version: header.version,
      rules: ['csv', '!segwit', 'taproot'],
      vbavailable: {},
      vbrequired: 0,
      previousblockhash: parent.hash,
      transactions: entriesOf(state, others),
      coinbaseaux: {},
      coinbasevalue: Number(coinbase.outputs[0]?.value ?? 0n),
      longpollid: `${parent.hash}${state.arrivals}`,
      target: digitsOf(fromBigIntFixed(targetOf(header.bits), 32)),
      mintime: medianTime(state, parent) + 1,
      mutable: ['time', 'transactions', 'prevblock'],
      noncerange: '00000000ffffffff',
      sigoplimit: MAX_CHECKS_COST,
      sizelimit: MAX_WEIGHT,
      weightlimit: MAX_WEIGHT,
      curtime: header.time,
      bits: header.bits.toString(16).padStart(8, '0'),
      height: parent.height + 1,
      default_witness_commitment: digitsOf(coinbase.outputs[commitmentPosition(coinbase)]?.script ?? EMPTY),
    }
  },
})
