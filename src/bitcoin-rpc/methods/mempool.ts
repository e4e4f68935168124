/** Methods about the mempool and unspent outputs. */
import { z } from 'zod'
import { virtualBytes } from '../../bitcoin/chain/acceptance.ts'
import { outputKey, outputOf, scriptKey } from '../../bitcoin/chain/coin.ts'
import {
  ancestorsOf,
  childrenOf,
  coinOf,
  descendantsOf,
  entriesInOrder,
  parentsOf,
} from '../../bitcoin/chain/mempool.ts'
import { RELAY_FEE } from '../../bitcoin/chain/policy.ts'
import { bestBlock, type ChainState, type MempoolEntry } from '../../bitcoin/chain/state.ts'
import { digitsOf, displayed } from '../../bitcoin/displayed-hash.ts'
import { wtxid } from '../../bitcoin/transaction.ts'
import { Amount } from '../amount.ts'
import { describe, scriptsOf } from '../descriptor.ts'
import { type Context, type Method, method } from '../method.ts'
import { flag, hashOf, integer, text } from '../parameters.ts'
import { CODE, RpcFailure } from '../rpc-failure.ts'
import { viewOfScript } from '../script-view.ts'

const category = 'Blockchain'
const stateOf = ({ bitcoin }: Context) => bitcoin.chain.state

const feesOf = (entries: readonly MempoolEntry[]) =>
  new Amount(entries.reduce((sum, { fee }) => sum + fee, 0n))
const bytesOf = (entries: readonly MempoolEntry[]) =>
  entries.reduce((sum, entry) => sum + virtualBytes(entry), 0)

function viewOfEntry(state: ChainState, entry: MempoolEntry): object {
  const ancestors = [...ancestorsOf(state, entry.transaction), entry]
  const descendants = [entry, ...descendantsOf(state, entry.id)]
  const fee = feesOf([entry])
  return {
    vsize: virtualBytes(entry),
    weight: entry.sizes.weight,
    time: entry.time,
    height: entry.height,
    descendantcount: descendants.length,
    descendantsize: bytesOf(descendants),
    ancestorcount: ancestors.length,
    ancestorsize: bytesOf(ancestors),
    wtxid: displayed(wtxid(entry.transaction)),
    fees: { base: fee, modified: fee, ancestor: feesOf(ancestors), descendant: feesOf(descendants) },
    depends: parentsOf(state, entry.transaction).map(({ id }) => id),
    spentby: childrenOf(state, entry.id).map(({ id }) => id),
    'bip125-replaceable': entry.transaction.inputs.some(({ sequence }) => sequence < 0xfffffffe),
    unbroadcast: false,
  }
}

function entryOf(state: ChainState, id: string): MempoolEntry {
  const entry = state.mempool.get(hashOf(id, 'txid'))
  if (entry === undefined) throw new RpcFailure(CODE.ADDRESS_OR_KEY, 'Transaction not in mempool')
  return entry
}

function viewOfList(state: ChainState, entries: readonly MempoolEntry[], isVerbose: boolean): object {
  if (!isVerbose) return entries.map(({ id }) => id)
  return Object.fromEntries(entries.map((entry) => [entry.id, viewOfEntry(state, entry)]))
}

const getRawMempool = method({
  name: 'getrawmempool',
  category,
  help: 'Returns the ids of the transactions of the mempool, or an object with what is known of each.',
  parameters: { verbose: flag.default(false), mempool_sequence: flag.default(false) },
  handle({ verbose, mempool_sequence: hasSequence }, context) {
    const state = stateOf(context)
    const list = viewOfList(state, entriesInOrder(state), verbose)
    return hasSequence && !verbose ? { txids: list, mempool_sequence: state.arrivals } : list
  },
})

const getMempoolInfo = method({
  name: 'getmempoolinfo',
  category,
  help: 'Returns the size of the mempool.',
  parameters: {},
  handle(_, context) {
    const entries = entriesInOrder(stateOf(context))
    return {
      loaded: true,
      size: entries.length,
      bytes: bytesOf(entries),
      usage: entries.reduce((sum, { sizes }) => sum + sizes.size, 0),
      total_fee: feesOf(entries),
      maxmempool: 300_000_000,
      mempoolminfee: new Amount(RELAY_FEE),
      minrelaytxfee: new Amount(RELAY_FEE),
      incrementalrelayfee: new Amount(RELAY_FEE),
      unbroadcastcount: 0,
      fullrbf: true,
    }
  },
})

const getTxOut = method({
  name: 'gettxout',
  category,
  help: 'Returns an output that can be spent, or null.',
  parameters: { txid: text, n: integer, include_mempool: flag.default(true) },
  handle({ txid, n, include_mempool: isWithMempool }, context) {
    const state = stateOf(context)
    if (n < 0) return null
    const key = outputKey(hashOf(txid, 'txid'), n)
    const coin = isWithMempool ? coinOf(state, key) : state.coins.get(key)
    if (coin === undefined || (isWithMempool && state.spenders.has(key))) return null
    const isConfirmed = state.coins.has(key)
    return {
      bestblock: state.best,
      confirmations: isConfirmed ? bestBlock(state).height - coin.height + 1 : 0,
      value: new Amount(coin.value),
      scriptPubKey: viewOfScript(coin.script),
      coinbase: coin.isCoinbase,
    }
  },
})

const ScanObject = z.union([text, z.object({ desc: text, range: z.unknown() }).partial({ range: true })])

const scanTxOutSet = method({
  name: 'scantxoutset',
  category,
  help: 'Returns the unspent outputs of descriptors: addr(…), raw(…), pk(…), pkh(…), wpkh(…), sh(wpkh(…)), combo(…).',
  parameters: { action: text, scanobjects: z.array(ScanObject).optional() },
  handle({ action, scanobjects }, context) {
    if (action === 'status') return null
    if (action === 'abort') return false
    if (action !== 'start') throw new RpcFailure(CODE.PARAMETER, `Invalid action '${action.slice(0, 20)}'`)
    if (scanobjects === undefined)
      throw new RpcFailure(CODE.MISC, 'scanobjects argument is required for the start action')
    const state = stateOf(context)
    const best = bestBlock(state)
    const scripts = scanobjects.flatMap((object) =>
      scriptsOf(typeof object === 'string' ? object : object.desc),
    )
    const keys = [...new Set(scripts.map(scriptKey))]
    const found = keys.flatMap((prefix) =>
      [...state.coinsOfScripts.entries(prefix)].map(([key]) => key.slice(prefix.length)),
    )
    const coins = found.flatMap((key) => {
      const coin = state.coins.get(key)
      return coin === undefined ? [] : [{ ...outputOf(key), coin }]
    })
    return {
      success: true,
      txouts: state.coins.size,
      height: best.height,
      bestblock: best.hash,
      unspents: coins.map(({ id, index, coin }) => ({
        txid: id,
        vout: index,
        scriptPubKey: digitsOf(coin.script),
        desc: describe(coin.script),
        amount: new Amount(coin.value),
        coinbase: coin.isCoinbase,
        height: coin.height,
      })),
      total_amount: new Amount(coins.reduce((sum, { coin }) => sum + coin.value, 0n)),
    }
  },
})

/** About the mempool and unspent outputs. */
export const MEMPOOL_METHODS: readonly Method[] = [
  getRawMempool,
  getMempoolInfo,
  getTxOut,
  scanTxOutSet,
  method({
    name: 'getmempoolentry',
    category,
    help: 'Returns what is known of a transaction of the mempool.',
    parameters: { txid: text },
    handle: ({ txid }, context) => viewOfEntry(stateOf(context), entryOf(stateOf(context), txid)),
  }),
  method({
    name: 'getmempoolancestors',
    category,
    help: 'Returns the transactions of the mempool that a transaction depends on.',
    parameters: { txid: text, verbose: flag.default(false) },
    handle({ txid, verbose }, context) {
      const state = stateOf(context)
      return viewOfList(state, ancestorsOf(state, entryOf(state, txid).transaction), verbose)
    },
  }),
  method({
    name: 'getmempooldescendants',
    category,
    help: 'Returns the transactions of the mempool that depend on a transaction.',
    parameters: { txid: text, verbose: flag.default(false) },
    handle({ txid, verbose }, context) {
      const state = stateOf(context)
      return viewOfList(state, descendantsOf(state, entryOf(state, txid).id), verbose)
    },
  }),
]
