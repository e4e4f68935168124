/** Transactions as Bitcoin Core's JSON shows them. */
import { idOf, transactionSizes, virtualSize } from '../bitcoin/chain/block.ts'
import { type Coin, spentKey } from '../bitcoin/chain/coin.ts'
import { spentByPosition } from '../bitcoin/chain/connection.ts'
import { coinOf } from '../bitcoin/chain/mempool.ts'
import { bestBlock, type ChainState, isActive, type StoredBlock } from '../bitcoin/chain/state.ts'
import { digitsOf, displayed } from '../bitcoin/displayed-hash.ts'
import {
  encodeTransaction,
  type Input,
  isCoinbase,
  type Output,
  type Transaction,
  wtxid,
} from '../bitcoin/transaction.ts'
import { Amount } from './amount.ts'
import { asmOf, viewOfScript } from './script-view.ts'

function viewOfInput({ hash, index, script, sequence, witness }: Input, spent: Coin | undefined): object {
  return {
    txid: displayed(hash),
    vout: index,
    scriptSig: { asm: asmOf(script, true), hex: digitsOf(script) },
    txinwitness: witness.length === 0 ? undefined : witness.map(digitsOf),
    prevout: spent && {
      generated: spent.isCoinbase,
      height: spent.height,
      value: new Amount(spent.value),
      scriptPubKey: viewOfScript(spent.script),
    },
    sequence,
  }
}

function viewOfCoinbaseInput({ script, sequence, witness }: Input): object {
  return {
    coinbase: digitsOf(script),
    txinwitness: witness.length === 0 ? undefined : witness.map(digitsOf),
    sequence,
  }
}

/** An output with its place. */
export function viewOfOutput({ value, script }: Output, n: number): object {
  return { value: new Amount(value), n, scriptPubKey: viewOfScript(script) }
}

/** A transaction as `decoderawtransaction` shows it; with the coins that it spends where they are given. */
export function viewOfTransaction(transaction: Transaction, spent?: readonly Coin[]): object {
  const { size, weight } = transactionSizes(transaction)
  const isFirst = isCoinbase(transaction)
  return {
    txid: idOf(transaction),
    hash: displayed(wtxid(transaction)),
    version: transaction.version | 0,
    size,
    vsize: virtualSize(transaction),
    weight,
    locktime: transaction.lockTime,
    vin: transaction.inputs.map((input, i) =>
      isFirst ? viewOfCoinbaseInput(input) : viewOfInput(input, spent?.[i]),
    ),
    vout: transaction.outputs.map(viewOfOutput),
  }
}

/** Blocks on a block, itself included; -1 when it is not on the best chain. */
export function confirmationsOf(state: ChainState, block: StoredBlock): number {
  return isActive(state, block) ? bestBlock(state).height - block.height + 1 : -1
}

/** The fee of a transaction of a block, satoshi. */
export function feeOf(transaction: Transaction, spent: readonly Coin[]): bigint {
  const sum = (outputs: readonly Output[]) => outputs.reduce((all, { value }) => all + value, 0n)
  return sum(spent) - sum(transaction.outputs)
}

/** A transaction with its bytes and its block, as `getrawtransaction` shows it. */
export function viewOfFound(
  state: ChainState,
  transaction: Transaction,
  block: StoredBlock | undefined,
  details: { readonly spent?: readonly Coin[]; readonly isExplicit?: boolean } = {},
): object {
  const { spent, isExplicit } = details
  const confirmations = block === undefined ? 0 : Math.max(confirmationsOf(state, block), 0)
  return {
    in_active_chain: isExplicit === true && block !== undefined ? isActive(state, block) : undefined,
    ...viewOfTransaction(transaction, spent),
    fee: spent && !isCoinbase(transaction) ? new Amount(feeOf(transaction, spent)) : undefined,
    hex: digitsOf(encodeTransaction(transaction)),
    blockhash: block?.hash,
    confirmations: block && confirmations,
    time: block?.block.header.time,
    blocktime: block?.block.header.time,
  }
}

/** A transaction and its block, by its id: of the best chain or the mempool. */
export function findTransaction(
  state: ChainState,
  id: string,
):
  | {
      readonly transaction: Transaction
      readonly block: StoredBlock | undefined
      readonly spent: readonly Coin[]
    }
  | undefined {
  const place = state.places.get(id)
  const block = place && state.blocks.get(place.block)
  const transaction = place && block?.block.transactions[place.position]
  if (place !== undefined && transaction !== undefined)
    return {
      transaction,
      block,
      spent: block === undefined ? [] : (spentByPosition(block)[place.position] ?? []),
    }
  const entry = state.mempool.get(id)
  if (entry === undefined) return undefined
  const spent = entry.transaction.inputs.flatMap((input) => coinOf(state, spentKey(input)) ?? [])
  return { transaction: entry.transaction, block: undefined, spent }
}
