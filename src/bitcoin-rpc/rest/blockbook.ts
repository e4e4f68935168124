/** The subset of Blockbook's REST interface that the peg's web applications call (trezor/blockbook, docs/api.md). */
import type { Bitcoin } from '../../bitcoin/bitcoin.ts'
import { transactionSizes, virtualSize } from '../../bitcoin/chain/block.ts'
import { outputKey } from '../../bitcoin/chain/coin.ts'
import { bestBlock, type ChainState } from '../../bitcoin/chain/state.ts'
import { digitsOf, displayed } from '../../bitcoin/displayed-hash.ts'
import { addressOf } from '../../bitcoin/regtest-address.ts'
import { encodeTransaction, isCoinbase, type Output } from '../../bitcoin/transaction.ts'
import { Amount } from '../amount.ts'
import { asmOf } from '../script-view.ts'
import { confirmationsOf } from '../transaction-view.ts'
import { type Found, find, historyOf, scriptOf, sumsOf, unspentOf } from './address-history.ts'
import { broadcast } from './broadcast.ts'
import { json, type Route } from './route.ts'

const sum = (outputs: readonly Output[]): bigint => outputs.reduce((all, { value }) => all + value, 0n)
const coins = (satoshi: bigint): string => new Amount(satoshi).toString().replace(/\.?0+$/, '')

function addressesOf(script: Uint8Array): {
  readonly addresses: readonly string[]
  readonly isAddress: boolean
} {
  const address = addressOf(script)
  if (address !== undefined) return { addresses: [address], isAddress: true }
  return {
    addresses: script[0] === 0x6a ? [`OP_RETURN (${digitsOf(script.subarray(2))})`] : [],
    isAddress: false,
  }
}

function isSpent(state: ChainState, { id, block }: Found, index: number): boolean {
  const key = outputKey(id, index)
  return state.spenders.has(key) || (block !== undefined && !state.coins.has(key))
}

function confirmations(state: ChainState, { block }: Found): number {
  return block === undefined ? 0 : confirmationsOf(state, block)
}

/** A transaction in version 2: amounts are texts of satoshi. */
function viewOfTransaction({ chain: { state } }: Bitcoin, found: Found): object {
  const { id, transaction, block, spent } = found
  const isFirst = isCoinbase(transaction)
  const value = sum(transaction.outputs)
  return {
    txid: id,
    version: transaction.version,
    lockTime: transaction.lockTime === 0 ? undefined : transaction.lockTime,
    vin: transaction.inputs.map(({ hash, index, sequence, script }, n) => ({
      ...(isFirst ? { coinbase: digitsOf(script) } : { txid: displayed(hash), vout: index }),
      sequence,
      n,
      ...(spent[n] === undefined
        ? { isAddress: false }
        : { ...addressesOf(spent[n].script), value: String(spent[n].value) }),
      hex: isFirst || script.length === 0 ? undefined : digitsOf(script),
    })),
    vout: transaction.outputs.map((output, n) => ({
      value: String(output.value),
      n,
      spent: isSpent(state, found, n) ? true : undefined,
      hex: digitsOf(output.script),
      ...addressesOf(output.script),
    })),
    blockHash: block?.hash,
    blockHeight: block?.height ?? -1,
    confirmations: confirmations(state, found),
    blockTime: block?.block.header.time ?? state.mempool.get(id)?.time,
    size: transactionSizes(transaction).size,
    vsize: virtualSize(transaction),
    value: String(value),
    valueIn: String(isFirst ? 0n : sum(spent)),
    fees: String(isFirst ? 0n : sum(spent) - value),
    hex: digitsOf(encodeTransaction(transaction)),
  }
}

/** A transaction in version 1: amounts are texts of coins. */
function viewOfFirstVersion({ chain: { state } }: Bitcoin, found: Found): object {
  const { id, transaction, block, spent } = found
  const isFirst = isCoinbase(transaction)
  const value = sum(transaction.outputs)
  return {
    txid: id,
    version: transaction.version,
    locktime: transaction.lockTime === 0 ? undefined : transaction.lockTime,
    vin: transaction.inputs.map(({ hash, index, sequence, script }, n) => ({
      ...(isFirst ? { coinbase: digitsOf(script) } : { txid: displayed(hash), vout: index }),
      sequence,
      n,
      scriptSig: { hex: digitsOf(script) },
      addresses: spent[n] === undefined ? [] : addressesOf(spent[n].script).addresses,
      value: spent[n] === undefined ? '' : coins(spent[n].value),
    })),
    vout: transaction.outputs.map((output, n) => ({
      value: coins(output.value),
      n,
      scriptPubKey: {
        hex: digitsOf(output.script),
        asm: asmOf(output.script),
        addresses: addressesOf(output.script).addresses,
      },
      spent: isSpent(state, found, n),
    })),
    blockhash: block?.hash,
    blockheight: block?.height ?? -1,
    confirmations: confirmations(state, found),
    time: block?.block.header.time ?? state.mempool.get(id)?.time,
    blocktime: block?.block.header.time ?? state.mempool.get(id)?.time,
    valueOut: coins(value),
    valueIn: coins(isFirst ? 0n : sum(spent)),
    fees: coins(isFirst ? 0n : sum(spent) - value),
    hex: digitsOf(encodeTransaction(transaction)),
  }
}

function viewOfAddress(bitcoin: Bitcoin, address: string): object {
  const script = scriptOf(address)
  const { mined, waiting } = historyOf(bitcoin, script)
  const own = sumsOf(mined, script)
  const pending = sumsOf(waiting, script)
  return {
    page: 1,
    totalPages: 1,
    itemsOnPage: 1000,
    address,
    balance: String(own.funded - own.spent),
    totalReceived: String(own.funded),
    totalSent: String(own.spent),
    unconfirmedBalance: String(pending.funded - pending.spent),
    unconfirmedTxs: pending.transactions,
    txs: own.transactions,
    txids: [...waiting, ...mined].slice(0, 1000).map(({ id }) => id),
  }
}

function viewOfUnspent(bitcoin: Bitcoin, address: string, isFirstVersion: boolean): object {
  return unspentOf(bitcoin, scriptOf(address)).map(
    ({ id, index, value, height, confirmations, isCoinbase }) => ({
      txid: id,
      vout: index,
      ...(isFirstVersion ? { amount: coins(value), satoshis: Number(value) } : { value: String(value) }),
      height,
      confirmations,
      coinbase: isCoinbase ? true : undefined,
    }),
  )
}

const get = (path: string, answer: Route['answer']): Route => ({
  verb: 'GET',
  pattern: new RegExp(`^/api${path}$`),
  answer,
})

/** Blockbook's paths. */
export const BLOCKBOOK_ROUTES: readonly Route[] = [
  get('(?:/v2)?/?', ({ chain: { state } }) => {
    const best = bestBlock(state)
    return json({
      blockbook: { coin: 'Regtest', bestHeight: best.height, inSync: true, mempoolSize: state.mempool.size },
      backend: { chain: 'regtest', blocks: best.height, bestBlockHash: best.hash },
    })
  }),
  get('/(v[12])/tx/([0-9a-f]{64})', (bitcoin, [version, id = '']) => {
    const found = find(bitcoin, id)
    return (
      found && json(version === 'v1' ? viewOfFirstVersion(bitcoin, found) : viewOfTransaction(bitcoin, found))
    )
  }),
  get('/v2/address/(\\w{1,100})', (bitcoin, [address = '']) => json(viewOfAddress(bitcoin, address))),
  get('/(v[12])/utxo/(\\w{1,100})', (bitcoin, [version, address = '']) =>
    json(viewOfUnspent(bitcoin, address, version === 'v1')),
  ),
  get('/v[12]/estimatefee/\\d{1,4}', () => json({ result: '0.0002' })),
  get('/v[12]/sendtx/([0-9a-fA-F]+)', (bitcoin, [hex = '']) => json({ result: broadcast(bitcoin, hex) })),
  {
    verb: 'POST',
    pattern: /^\/api\/v[12]\/sendtx\/?$/,
    answer: (bitcoin, _, body) => json({ result: broadcast(bitcoin, body) }),
  },
  get('/v2/block-index/(\\d{1,9})', ({ chain: { state } }, [height]) => {
    const hash = state.active.get(Number(height).toString(16).padStart(8, '0'))
    return hash === undefined ? undefined : json({ blockHash: hash })
  }),
]
