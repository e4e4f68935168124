/** Transactions of a wallet, as `listtransactions` and `gettransaction` show them. */

import { entriesInOrder } from '../bitcoin/chain/mempool.ts'
import { MATURITY } from '../bitcoin/chain/regtest.ts'
import type { StoredBlock } from '../bitcoin/chain/state.ts'
import { addressOf } from '../bitcoin/regtest-address.ts'
import { isCoinbase, type Output, type Transaction } from '../bitcoin/transaction.ts'
import { type Wallet, type WalletScript, walletKey, walletScript } from '../bitcoin/wallet/model.ts'
import { Amount } from './amount.ts'
import type { Context } from './method.ts'
import { confirmationsOf, findTransaction } from './transaction-view.ts'

/** A transaction that pays a wallet or spends its coins. */
export interface WalletTransaction {
  readonly id: string
  readonly transaction: Transaction
  readonly block: StoredBlock | undefined
  readonly spent: readonly Output[]
  /** Seconds since 1970. */
  readonly time: number
}

function found({ bitcoin }: Context, id: string): WalletTransaction | undefined {
  const { state } = bitcoin.chain
  const result = findTransaction(state, id)
  if (result === undefined) return undefined
  const time = result.block?.block.header.time ?? state.mempool.get(id)?.time ?? 0
  return { id, ...result, time }
}

function concerns({ bitcoin }: Context, wallet: Wallet, { transaction, spent }: WalletTransaction): boolean {
  const { state } = bitcoin.wallets
  return [...transaction.outputs, ...spent].some(
    ({ script }) => walletScript(state, wallet, script) !== undefined,
  )
}

/** The wallet's transactions, the oldest first. */
export function walletTransactions(context: Context, wallet: Wallet): readonly WalletTransaction[] {
  const { chain, wallets } = context.bitcoin
  const prefix = walletKey(wallet.name)
  const inBlocks = new Map<string, string>()
  for (const [key] of wallets.state.scripts.entries(prefix)) {
    const script = key.slice(prefix.length)
    for (const [place, id] of chain.state.history.entries(script))
      inBlocks.set(id, place.slice(script.length))
  }
  const mined = [...inBlocks].sort(([, a], [, b]) => (a < b ? -1 : 1)).map(([id]) => id)
  const waiting = entriesInOrder(chain.state)
    .flatMap(({ id }) => found(context, id) ?? [])
    .filter((one) => concerns(context, wallet, one))
  return [...mined.flatMap((id) => found(context, id) ?? []), ...waiting]
}

/** A wallet's transaction by its id. */
export function walletTransaction(
  context: Context,
  wallet: Wallet,
  id: string,
): WalletTransaction | undefined {
  const one = found(context, id)
  return one !== undefined && concerns(context, wallet, one) ? one : undefined
}

/** Where a transaction is, and when it came. */
export function viewOfPlace(context: Context, { id, block, time, transaction }: WalletTransaction): object {
  const { state } = context.bitcoin.chain
  const isReplaceable =
    block === undefined && transaction.inputs.some(({ sequence }) => sequence < 0xfffffffe)
  return {
    confirmations: block === undefined ? 0 : confirmationsOf(state, block),
    generated: isCoinbase(transaction) ? true : undefined,
    trusted: block === undefined ? true : undefined,
    blockhash: block?.hash,
    blockheight: block?.height,
    blockindex: block?.ids.indexOf(id),
    blocktime: block?.block.header.time,
    txid: id,
    walletconflicts: [],
    time,
    timereceived: time,
    'bip125-replaceable': isReplaceable ? 'yes' : 'no',
  }
}

const sum = (outputs: readonly Output[]) => outputs.reduce((all, { value }) => all + value, 0n)

/** What a wallet paid as the fee; `undefined` when it did not pay for the transaction. */
export function feePaid(
  context: Context,
  wallet: Wallet,
  { transaction, spent }: WalletTransaction,
): bigint | undefined {
  const { state } = context.bitcoin.wallets
  const isOwn = spent.some(({ script }) => walletScript(state, wallet, script) !== undefined)
  return isOwn ? sum(spent) - sum(transaction.outputs) : undefined
}

function receiveCategory(context: Context, { transaction, block }: WalletTransaction): string {
  if (!isCoinbase(transaction)) return 'receive'
  const { state } = context.bitcoin.chain
  return block !== undefined && confirmationsOf(state, block) > MATURITY ? 'generate' : 'immature'
}

/** One line for each output that the wallet sent or received; its own change is left out. */
export function detailsOf(context: Context, wallet: Wallet, one: WalletTransaction): readonly object[] {
  const { state } = context.bitcoin.wallets
  const fee = feePaid(context, wallet, one)
  return one.transaction.outputs.flatMap(({ value, script }, vout) => {
    const owner: WalletScript | undefined = walletScript(state, wallet, script)
    const isChange = fee !== undefined && owner?.isChange === true
    const line = { address: addressOf(script), vout, label: owner?.label }
    const isWatched = owner !== undefined && !owner.isMine ? true : undefined
    const sent = {
      ...line,
      category: 'send',
      amount: new Amount(-value),
      fee: new Amount(-(fee ?? 0n)),
      abandoned: false,
    }
    const received = {
      involvesWatchonly: isWatched,
      ...line,
      category: receiveCategory(context, one),
      amount: new Amount(value),
    }
    return [
      ...(fee !== undefined && !isChange ? [sent] : []),
      ...(owner !== undefined && !isChange ? [received] : []),
    ]
  })
}

/** What a transaction changes in the wallet's balance, without the fee; satoshi. */
export function netAmount(context: Context, wallet: Wallet, one: WalletTransaction): bigint {
  const { state } = context.bitcoin.wallets
  const own = (outputs: readonly Output[]) =>
    sum(outputs.filter(({ script }) => walletScript(state, wallet, script) !== undefined))
  return own(one.transaction.outputs) - own(one.spent) + (feePaid(context, wallet, one) ?? 0n)
}
