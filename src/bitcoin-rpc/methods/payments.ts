/** Methods that show and spend what wallets own. */
import { z } from 'zod'
import { outputKey } from '../../bitcoin/chain/coin.ts'
import { coinOf } from '../../bitcoin/chain/mempool.ts'
import { RuleViolation } from '../../bitcoin/chain/rule-violation.ts'
import { bestBlock, blockAt } from '../../bitcoin/chain/state.ts'
import { digitsOf, displayed } from '../../bitcoin/displayed-hash.ts'
import { addressOf } from '../../bitcoin/regtest-address.ts'
import { encodeTransaction, type Output } from '../../bitcoin/transaction.ts'
import type { Candidate, Funded } from '../../bitcoin/wallet/coin-selection.ts'
import { type Wallet, walletScript } from '../../bitcoin/wallet/model.ts'
import { balancesOf, type WalletCoin } from '../../bitcoin/wallet/wallet-coins.ts'
import { Amount, satoshiOf } from '../amount.ts'
import { describe } from '../descriptor.ts'
import { type Context, type Method, method } from '../method.ts'
import { outputsOf } from '../outputs.ts'
import {
  addressTypeOf,
  amount,
  blockOf,
  flag,
  hashOf,
  integer,
  scriptFor,
  text,
  transactionOf,
} from '../parameters.ts'
import { CODE, RpcFailure } from '../rpc-failure.ts'
import { viewOfTransaction } from '../transaction-view.ts'
import {
  candidateOf,
  coinsOf,
  FALLBACK_FEE,
  fundWith,
  requireKeys,
  signAll,
  spendableCoins,
  walletOf,
} from '../wallet-access.ts'
import {
  detailsOf,
  feePaid,
  netAmount,
  viewOfPlace,
  walletTransaction,
  walletTransactions,
} from '../wallet-history.ts'

const category = 'Wallet'

/** Satoshi for a virtual byte, as a number or a text; satoshi for 1,000. */
const feeRate = z.union([z.number(), text]).transform((value) => satoshiOf(value) / 100_000n)

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

/** A script for change. */
function changeScript(context: Context, wallet: Wallet, type: string | undefined): Uint8Array {
  const source = { label: '', time: context.bitcoin.clock() }
  return context.bitcoin.wallets.newScript(wallet, addressTypeOf(type), true, source).script
}

interface Payment {
  readonly outputs: readonly Output[]
  readonly feePayers: readonly number[]
  readonly feeRate: bigint | undefined
  readonly isReplaceable: boolean
}

/** Pays with the wallet's coins; the id of the transaction. */
function pay(
  context: Context,
  wallet: Wallet,
  payment: Payment,
): { readonly id: string; readonly funded: Funded } {
  requireKeys(context, wallet)
  const candidates = spendableCoins(context, wallet, false).map(candidateOf)
  const { wallets, chain } = context.bitcoin
  const before = wallets.state
  const funding = {
    ...payment,
    given: [],
    candidates,
    feeRate: payment.feeRate ?? FALLBACK_FEE,
    changeScript: changeScript(context, wallet, undefined),
  }
  try {
    const funded = fundWith(funding)
    const spent = funded.inputs.map(({ output }) => output)
    const { transaction, errors } = signAll(funded.transaction, spent, wallets.signer(wallet), 1)
    if (errors.length > 0) throw new RpcFailure(CODE.WALLET, 'Signing transaction failed')
    return { id: chain.accept(transaction).id, funded }
  } catch (error) {
    wallets.restore(before)
    if (error instanceof RuleViolation) throw new RpcFailure(CODE.WALLET, error.message)
    throw error
  }
}

const sendToAddress = method({
  name: 'sendtoaddress',
  category,
  help: 'Pays an address; returns the id of the transaction. The fee rate is in satoshi for a virtual byte.',
  parameters: {
    address: text,
    amount,
    comment: text.optional(),
    comment_to: text.optional(),
    subtractfeefromamount: flag.default(false),
    replaceable: flag.default(true),
    conf_target: integer.optional(),
    estimate_mode: text.optional(),
    avoid_reuse: flag.optional(),
    fee_rate: feeRate.optional(),
    verbose: flag.default(false),
  },
  handle(given, context) {
    const wallet = walletOf(context)
    if (given.amount === 0n) throw new RpcFailure(CODE.TYPE, 'Invalid amount for send')
    const script = scriptFor(given.address, `Invalid Bitcoin address: ${given.address.slice(0, 100)}`)
    const { id } = pay(context, wallet, {
      outputs: [{ value: given.amount, script }],
      feePayers: given.subtractfeefromamount ? [0] : [],
      feeRate: given.fee_rate,
      isReplaceable: given.replaceable,
    })
    return given.verbose ? { txid: id, fee_reason: 'Fallback fee' } : id
  },
})

const sendMany = method({
  name: 'sendmany',
  category,
  help: 'Pays several addresses in one transaction; returns its id.',
  parameters: {
    dummy: text.optional(),
    amounts: z.record(text, z.unknown()),
    minconf: integer.optional(),
    comment: text.optional(),
    subtractfeefrom: z.array(text).default([]),
    replaceable: flag.default(true),
    conf_target: integer.optional(),
    estimate_mode: text.optional(),
    fee_rate: feeRate.optional(),
    verbose: flag.default(false),
  },
  handle({ amounts, subtractfeefrom, replaceable, fee_rate: rate, verbose }, context) {
    const wallet = walletOf(context)
    const names = Object.keys(amounts)
    const { id } = pay(context, wallet, {
      outputs: outputsOf(amounts),
      feePayers: subtractfeefrom.map((name) => placeOf(names.indexOf(name), names.length)),
      feeRate: rate,
      isReplaceable: replaceable,
    })
    return verbose ? { txid: id, fee_reason: 'Fallback fee' } : id
  },
})

function placeOf(place: number, count: number): number {
  if (place >= 0 && place < count) return place
  throw new RpcFailure(
    CODE.PARAMETER,
    `Invalid parameter, subtract fee from output not found or out of range: ${place}`,
  )
}

const FundingOptions = z
  .object({
    add_inputs: flag,
    include_unsafe: flag,
    changeAddress: text,
    change_address: text,
    changePosition: integer,
    change_position: integer,
    change_type: text,
    includeWatching: flag,
    include_watching: flag,
    lockUnspents: flag,
    lock_unspents: flag,
    fee_rate: feeRate,
    feeRate: amount,
    subtractFeeFromOutputs: z.array(integer),
    subtract_fee_from_outputs: z.array(integer),
    replaceable: flag,
    conf_target: integer,
    estimate_mode: text,
  })
  .partial()

function givenInputs(
  context: Context,
  inputs: readonly { hash: Uint8Array; index: number; sequence: number }[],
): Candidate[] {
  const { bitcoin } = context
  return inputs.map(({ hash, index, sequence }) => {
    const id = displayed(hash)
    const output = coinOf(bitcoin.chain.state, outputKey(id, index))
    if (output === undefined) throw new RpcFailure(CODE.WALLET, 'Unable to find UTXO for external input')
    const owner = walletScript(bitcoin.wallets.state, walletOf(context), output.script)
    return { id, index, output, sequence, redeem: owner?.redeem }
  })
}

const fundRawTransaction = method({
  name: 'fundrawtransaction',
  category,
  help: 'Adds inputs of the wallet to a transaction until they pay for its outputs and the fee, and an output for change.',
  parameters: {
    hexstring: text,
    options: z.union([FundingOptions, flag]).default({}),
    iswitness: flag.optional(),
  },
  handle({ hexstring, options: given }, context) {
    const wallet = walletOf(context)
    const options = typeof given === 'boolean' ? { includeWatching: given } : given
    const transaction = transactionOf(hexstring)
    if (transaction.outputs.length === 0)
      throw new RpcFailure(CODE.PARAMETER, 'TX must have at least one output')
    const isWithWatched = options.includeWatching ?? options.include_watching ?? !wallet.hasPrivateKeys
    const candidates =
      options.add_inputs === false ? [] : spendableCoins(context, wallet, isWithWatched).map(candidateOf)
    const address = options.changeAddress ?? options.change_address
    const position = options.changePosition ?? options.change_position
    const payers = options.subtractFeeFromOutputs ?? options.subtract_fee_from_outputs ?? []
    if (position !== undefined) placeOf(position, transaction.outputs.length + 1)
    if (address === undefined && !wallet.hasPrivateKeys)
      throw new RpcFailure(CODE.WALLET, "Transaction needs a change address, but we can't generate it.")
    const funded = fundWith({
      outputs: transaction.outputs,
      given: givenInputs(context, transaction.inputs),
      candidates,
      feeRate: options.fee_rate ?? options.feeRate ?? FALLBACK_FEE,
      changeScript:
        address === undefined
          ? changeScript(context, wallet, options.change_type)
          : scriptFor(address, 'Change address must be a valid bitcoin address'),
      feePayers: payers.map((place) => placeOf(place, transaction.outputs.length)),
      version: transaction.version,
      lockTime: transaction.lockTime,
      isReplaceable: options.replaceable ?? true,
      ...(position === undefined ? {} : { changePosition: position }),
    })
    return {
      hex: digitsOf(encodeTransaction(funded.transaction)),
      fee: new Amount(funded.fee),
      changepos: funded.changePosition,
    }
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

/** They show and spend what wallets own. */
export const PAYMENT_METHODS: readonly Method[] = [
  getBalance,
  getBalances,
  listUnspent,
  sendToAddress,
  sendMany,
  fundRawTransaction,
  getTransaction,
  listTransactions,
  listSinceBlock,
  getReceived,
  method({
    name: 'settxfee',
    category,
    help: 'Accepted and ignored: name the fee with each payment.',
    parameters: { amount },
    handle: () => true,
  }),
]
