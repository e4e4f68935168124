/** What an address has received and spent. */
import type { Bitcoin } from '../../bitcoin/bitcoin.ts'
import { type Coin, outputOf, scriptKey } from '../../bitcoin/chain/coin.ts'
import { entriesInOrder } from '../../bitcoin/chain/mempool.ts'
import { bestBlock, type StoredBlock } from '../../bitcoin/chain/state.ts'
import { scriptOfAddress } from '../../bitcoin/regtest-address.ts'
import type { Output, Transaction } from '../../bitcoin/transaction.ts'
import { CODE, RpcFailure } from '../rpc-failure.ts'
import { findTransaction } from '../transaction-view.ts'

/** A transaction with its block and the outputs that it spends. */
export interface Found {
  readonly id: string
  readonly transaction: Transaction
  readonly block: StoredBlock | undefined
  readonly spent: readonly Coin[]
}

/** Sums of satoshi and counts of outputs. */
export interface Sums {
  readonly funded: bigint
  readonly fundedCount: number
  readonly spent: bigint
  readonly spentCount: number
  readonly transactions: number
}

/** The transaction with an id; `undefined` when neither chain nor mempool has it. */
export function find({ chain }: Bitcoin, id: string): Found | undefined {
  const found = findTransaction(chain.state, id)
  return found && { id, ...found }
}

/** The script of an address. Throws a failure. */
export function scriptOf(address: string): Uint8Array {
  const script = scriptOfAddress(address)
  if (script === undefined) throw new RpcFailure(CODE.ADDRESS_OR_KEY, 'Invalid Bitcoin address')
  return script
}

/** The transactions of a script: of the chain, the newest first, and of the mempool. */
export function historyOf(
  bitcoin: Bitcoin,
  script: Uint8Array,
): { readonly mined: readonly Found[]; readonly waiting: readonly Found[] } {
  const { state } = bitcoin.chain
  const key = scriptKey(script)
  const isOwn = (output: Output) => scriptKey(output.script) === key
  const mined = [...state.history.values(key, true)].flatMap((id) => find(bitcoin, id) ?? [])
  const waiting = entriesInOrder(state)
    .flatMap(({ id }) => find(bitcoin, id) ?? [])
    .filter(({ transaction, spent }) => transaction.outputs.some(isOwn) || spent.some(isOwn))
  return { mined, waiting }
}

/** What transactions pay to a script, and spend of it. */
export function sumsOf(list: readonly Found[], script: Uint8Array): Sums {
  const key = scriptKey(script)
  const isOwn = (output: Output) => scriptKey(output.script) === key
  const funded = list.flatMap(({ transaction }) => transaction.outputs.filter(isOwn))
  const spent = list.flatMap((one) => one.spent.filter(isOwn))
  const sum = (outputs: readonly Output[]) => outputs.reduce((all, { value }) => all + value, 0n)
  return {
    funded: sum(funded),
    fundedCount: funded.length,
    spent: sum(spent),
    spentCount: spent.length,
    transactions: list.length,
  }
}

/** An unspent output of a script; without height in the mempool. */
export interface Unspent {
  readonly id: string
  readonly index: number
  readonly value: bigint
  readonly height: number | undefined
  readonly confirmations: number
  readonly isCoinbase: boolean
}

/** The unspent outputs of a script, of the mempool too. */
export function unspentOf({ chain: { state } }: Bitcoin, script: Uint8Array): readonly Unspent[] {
  const prefix = scriptKey(script)
  const { height: tip } = bestBlock(state)
  const confirmed = [...state.coinsOfScripts.entries(prefix)].flatMap(([key]): Unspent[] => {
    const output = key.slice(prefix.length)
    const coin = state.coins.get(output)
    if (coin === undefined || state.spenders.has(output)) return []
    const { value, height, isCoinbase } = coin
    return [{ ...outputOf(output), value, height, isCoinbase, confirmations: tip - height + 1 }]
  })
  const waiting = entriesInOrder(state).flatMap(({ id, transaction }) =>
    transaction.outputs.flatMap(({ value, script: own }, index): Unspent[] => {
      const isFree = !state.spenders.has(id + index.toString(16).padStart(8, '0'))
      if (scriptKey(own) !== prefix || !isFree) return []
      return [{ id, index, value, height: undefined, confirmations: 0, isCoinbase: false }]
    }),
  )
  return [...confirmed, ...waiting]
}
