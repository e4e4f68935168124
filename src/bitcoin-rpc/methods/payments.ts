/** Methods that spend what wallets own. */
import { z } from 'zod'
import { outputKey } from '../../bitcoin/chain/coin.ts'
import { coinOf } from '../../bitcoin/chain/mempool.ts'
import { RuleViolation } from '../../bitcoin/chain/rule-violation.ts'
import { digitsOf, displayed } from '../../bitcoin/displayed-hash.ts'
import { encodePsbt } from '../../bitcoin/psbt.ts'
import { encodeTransaction, type Output, type Transaction } from '../../bitcoin/transaction.ts'
import type { Candidate, Funded } from '../../bitcoin/wallet/coin-selection.ts'
import { type Wallet, walletScript } from '../../bitcoin/wallet/model.ts'
import { Amount, satoshiOf } from '../amount.ts'
import { type Context, type Method, method } from '../method.ts'
import { NEW_TRANSACTION, newTransaction } from '../new-transaction.ts'
import { outputsOf } from '../outputs.ts'
import { addressTypeOf, amount, flag, includableOf, integer, scriptFor, text } from '../parameters.ts'
import { CODE, RpcFailure } from '../rpc-failure.ts'
import { findTransaction } from '../transaction-view.ts'
import {
  candidateOf,
  FALLBACK_FEE,
  fundWith,
  requireKeys,
  signAll,
  spendableCoins,
  walletOf,
} from '../wallet-access.ts'

const category = 'Wallet'

/** Satoshi for a virtual byte, as a number or a text; satoshi for 1,000. */
const feeRate = z.union([z.number(), text]).transform((value) => satoshiOf(value) / 100_000n)

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

/** Adds inputs of the wallet of the call to a transaction, and change. Throws a failure. */
function fundTransaction(
  context: Context,
  transaction: Transaction,
  options: z.output<typeof FundingOptions>,
): Funded {
  const wallet = walletOf(context)
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
  return fundWith({
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
    const options = typeof given === 'boolean' ? { includeWatching: given } : given
    const { transaction, fee, changePosition } = fundTransaction(context, includableOf(hexstring), options)
    return { hex: digitsOf(encodeTransaction(transaction)), fee: new Amount(fee), changepos: changePosition }
  },
})

const walletCreateFundedPsbt = method({
  name: 'walletcreatefundedpsbt',
  category,
  help: 'Creates a transaction that inputs of the wallet pay for, as a partially signed one (BIP-174) without signatures.',
  parameters: {
    inputs: NEW_TRANSACTION.inputs.default([]),
    outputs: NEW_TRANSACTION.outputs,
    locktime: NEW_TRANSACTION.locktime,
    options: FundingOptions.default({}),
    bip32derivs: flag.optional(),
  },
  handle({ inputs, outputs, locktime, options }, context) {
    const outline = newTransaction({ inputs, outputs, locktime, replaceable: options.replaceable ?? true })
    const { transaction, inputs: spent, fee, changePosition } = fundTransaction(context, outline, options)
    const { state } = context.bitcoin.chain
    const told = spent.map(({ id, output, redeem }) => ({
      output,
      redeem,
      previous: findTransaction(state, id)?.transaction,
    }))
    return {
      psbt: Buffer.from(encodePsbt(transaction, told)).toString('base64'),
      fee: new Amount(fee),
      changepos: changePosition,
    }
  },
})

/** They spend what wallets own. */
export const PAYMENT_METHODS: readonly Method[] = [
  sendToAddress,
  sendMany,
  fundRawTransaction,
  walletCreateFundedPsbt,
  method({
    name: 'settxfee',
    category,
    help: 'Accepted and ignored: name the fee with each payment.',
    parameters: { amount },
    handle: () => true,
  }),
]
