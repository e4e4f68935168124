/** Methods that show what wallets own, have received and sent. */
import { z } from 'zod'
import { bestBlock, blockAt } from '../../bitcoin/chain/state.ts'
import { digitsOf } from '../../bitcoin/displayed-hash.ts'
import { addressOf } from '../../bitcoin/regtest-address.ts'
import { encodeTransaction } from '../../bitcoin/transaction.ts'
import { type Wallet, walletScript } from '../../bitcoin/wallet/model.ts'
import { balancesOf, type WalletCoin } from '../../bitcoin/wallet/wallet-coins.ts'
import { Amount } from '../amount.ts'
import { describe } from '../descriptor.ts'
import { type Context, type Method, method } from '../method.ts'
import { amount, blockOf, flag, hashOf, integer, scriptFor, text } from '../parameters.ts'
import { CODE, RpcFailure } from '../rpc-failure.ts'
import { viewOfTransaction } from '../transaction-view.ts'
import { coinsOf, spendableCoins, walletOf } from '../wallet-access.ts'
import {
  detailsOf,
  feePaid,
  netAmount,
  viewOfPlace,
  walletTransaction,
  walletTransactions,
} from '../wallet-history.ts'

const category = 'Wallet'

const sum = (coins: readonly WalletCoin[]) => coins.reduce((all, { coin }) => all + coin.value, 0n)

const viewOfBalances = (coins: readonly WalletCoin[]) => {
  const { trusted, pending, immature } = balancesOf(coins)
  return {
    trusted: new Amount(trusted),
    untrusted_pending: new Amount(pending),
    immature: new Amount(immature),
  }
}

const getBalance = method({
  name: 'getbalance',
  category,
  help: 'Returns the coins that the wallet may spend.',
  parameters: {
    dummy: text.optional(),
    minconf: integer.default(0),
    include_watchonly: flag.default(true),
    avoid_reuse: flag.optional(),
  },
  handle({ minconf, include_watchonly: isWithWatched }, context) {
    const wallet = walletOf(context)
    const isCounted = isWithWatched || !wallet.hasPrivateKeys
    const coins = spendableCoins(context, wallet, isCounted && !wallet.hasPrivateKeys)
    return new Amount(sum(coins.filter(({ confirmations }) => confirmations >= minconf)))
  },
})

const getBalances = method({
  name: 'getbalances',
  category,
  help: 'Returns the balances of the wallet, and of what it only watches.',
  parameters: {},
  handle(_, context) {
    const coins = coinsOf(context, walletOf(context))
    const watched = coins.filter(({ owner }) => !owner.isMine)
    const best = bestBlock(context.bitcoin.chain.state)
    return {
      mine: viewOfBalances(coins.filter(({ owner }) => owner.isMine)),
      watchonly: watched.length === 0 ? undefined : viewOfBalances(watched),
      lastprocessedblock: { hash: best.hash, height: best.height },
    }
  },
})

function viewOfUnspent({ id, index, coin, owner, confirmations, isTrusted }: WalletCoin): object {
  const isSolvable = owner.isMine || owner.redeem !== undefined || owner.publicKey !== undefined
  return {
    txid: id,
    vout: index,
    address: addressOf(coin.script),
    label: owner.isChange ? undefined : owner.label,
    scriptPubKey: digitsOf(coin.script),
    amount: new Amount(coin.value),
    confirmations,
    redeemScript: owner.redeem && digitsOf(owner.redeem),
    spendable: owner.isMine,
    solvable: isSolvable,
    desc: isSolvable ? describe(coin.script) : undefined,
    parent_descs: [],
    safe: isTrusted,
  }
}

const Query = z
  .object({
    minimumAmount: amount,
    maximumAmount: amount,
    maximumCount: integer,
    minimumSumAmount: amount,
    include_immature_coinbase: flag,
  })
  .partial()

const listUnspent = method({
  name: 'listunspent',
  category,
  help: "Returns the wallet's coins, of some addresses where they are given.",
  parameters: {
    minconf: integer.default(1),
    maxconf: integer.default(9_999_999),
    addresses: z.array(text).default([]),
    include_unsafe: flag.default(true),
    query_options: Query.default({}),
  },
  handle({ minconf, maxconf, addresses, include_unsafe: isWithUnsafe, query_options: query }, context) {
    for (const address of addresses) scriptFor(address, `Invalid Bitcoin address: ${address.slice(0, 100)}`)
    const wanted = new Set(addresses)
    const { minimumAmount = 0n, maximumAmount, maximumCount } = query
    const coins = coinsOf(context, walletOf(context)).filter(
      ({ coin, confirmations, isMature, isTrusted }) =>
        confirmations >= minconf &&
        confirmations <= maxconf &&
        (isMature || query.include_immature_coinbase === true) &&
        (isTrusted || isWithUnsafe) &&
        coin.value >= minimumAmount &&
        (maximumAmount === undefined || coin.value <= maximumAmount) &&
        (wanted.size === 0 || wanted.has(addressOf(coin.script) ?? '')),
    )
    return coins.slice(0, maximumCount).map(viewOfUnspent)
  },
})

const getTransaction = method({
  name: 'gettransaction',
  category,
  help: 'Returns a transaction of the wallet.',
  parameters: { txid: text, include_watchonly: flag.optional(), verbose: flag.default(false) },
  handle({ txid, verbose }, context) {
    const wallet = walletOf(context)
    const one = walletTransaction(context, wallet, hashOf(txid, 'txid'))
    if (one === undefined) throw new RpcFailure(CODE.ADDRESS_OR_KEY, 'Invalid or non-wallet transaction id')
    const fee = feePaid(context, wallet, one)
    return {
      amount: new Amount(netAmount(context, wallet, one)),
      fee: fee === undefined ? undefined : new Amount(-fee),
      ...viewOfPlace(context, one),
      details: detailsOf(context, wallet, one),
      hex: digitsOf(encodeTransaction(one.transaction)),
      decoded: verbose ? viewOfTransaction(one.transaction) : undefined,
    }
  },
})

function linesOf(context: Context, wallet: Wallet): readonly object[] {
  return walletTransactions(context, wallet).flatMap((one) =>
    detailsOf(context, wallet, one).map((line) => ({ ...line, ...viewOfPlace(context, one) })),
  )
}

const listTransactions = method({
  name: 'listtransactions',
  category,
  help: "Returns the wallet's last transactions, one line for each output.",
  parameters: {
    label: text.default('*'),
    count: integer.default(10),
    skip: integer.default(0),
    include_watchonly: flag.optional(),
  },
  handle({ label, count, skip }, context) {
    if (count < 0) throw new RpcFailure(CODE.PARAMETER, 'Negative count')
    if (skip < 0) throw new RpcFailure(CODE.PARAMETER, 'Negative from')
    const lines = linesOf(context, walletOf(context)).filter(
      (line) => label === '*' || ('label' in line && line.label === label),
    )
    const end = Math.max(lines.length - skip, 0)
    return lines.slice(Math.max(end - count, 0), end)
  },
})

const listSinceBlock = method({
  name: 'listsinceblock',
  category,
  help: "Returns the wallet's transactions since a block.",
  parameters: {
    blockhash: text.optional(),
    target_confirmations: integer.default(1),
    include_watchonly: flag.optional(),
  },
  handle({ blockhash, target_confirmations: depth }, context) {
    const { state } = context.bitcoin.chain
    const since = blockhash === undefined ? -1 : blockOf(context, blockhash).height
    const lines = linesOf(context, walletOf(context)).filter(
      (line) => !('blockheight' in line) || Number(line.blockheight ?? Number.POSITIVE_INFINITY) > since,
    )
    const last = blockAt(state, bestBlock(state).height + 1 - depth)
    return { transactions: lines, removed: [], lastblock: last?.hash ?? state.best }
  },
})

const getReceived = method({
  name: 'getreceivedbyaddress',
  category,
  help: 'Returns the sum of what an address of the wallet has received.',
  parameters: { address: text, minconf: integer.default(1), include_immature_coinbase: flag.default(false) },
  handle({ address, minconf }, context) {
    const wallet = walletOf(context)
    const script = scriptFor(address)
    if (walletScript(context.bitcoin.wallets.state, wallet, script) === undefined)
      throw new RpcFailure(CODE.WALLET, 'Address not found in wallet')
    const height = bestBlock(context.bitcoin.chain.state).height
    const received = walletTransactions(context, wallet)
      .filter(({ block }) => (block === undefined ? 0 : height - block.height + 1) >= minconf)
      .flatMap(({ transaction }) => transaction.outputs)
      .filter((output) => digitsOf(output.script) === digitsOf(script))
    return new Amount(received.reduce((all, { value }) => all + value, 0n))
  },
})

/** They show what wallets own, have received and sent. */
export const ACCOUNT_METHODS: readonly Method[] = [
  getBalance,
  getBalances,
  listUnspent,
  getTransaction,
  listTransactions,
  listSinceBlock,
  getReceived,
]
