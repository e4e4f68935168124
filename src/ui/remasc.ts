/** The payouts of REMASC, read from the logs of its transaction (docs/internals/protocol.md#54-remasc-payout). */
import { type Hex, toBigInt } from './format.ts'
import type { Block, Log, Transaction } from './model.ts'

/** Address of the contract. */
export const REMASC = '0x0000000000000000000000000000000001000008'
/** The first topic of payouts: "mining_fee_topic", padded to 32 bytes. */
export const PAYOUT_TOPIC = '0x000000000000000000000000000000006d696e696e675f6665655f746f706963'

/** Is it the transaction that ends each block? No other one has a gas limit of 0. */
export function isRemasc({ to, gas }: Pick<Transaction, 'to' | 'gas'>): boolean {
  return to === REMASC && toBigInt(gas) === 0n
}

/** How many transactions of a block people have sent: all but REMASC's, which ends each block but the genesis. */
export function sentIn({ number, transactions, hiddenTransactions = [] }: Block): number {
  const isShown = toBigInt(number) > 0n && hiddenTransactions.length === 0
  return Math.max(0, transactions.length - (isShown ? 1 : 0))
}

/** One payout. */
export interface Payout {
  readonly payee: Hex
  /** The block whose fees are paid. */
  readonly block: Hex
  readonly wei: bigint
}

/** Reads rlp([hash, amount]): a list of a string of 32 bytes and an integer; `undefined` for anything else. */
function readData(data: Hex): { readonly block: Hex; readonly wei: bigint } | undefined {
  const match = /^0x..a0([0-9a-f]{64})([0-9a-f]{2})([0-9a-f]*)$/.exec(data)
  if (match === null) return undefined
  const [, hash = '', first = '', rest = ''] = match
  const wei = rest === '' && first < '80' ? BigInt(`0x${first}`) : BigInt(`0x${rest === '' ? '0' : rest}`)
  return { block: `0x${hash}`, wei }
}

/** The payouts among these logs, in order. */
export function payoutsOf(logs: readonly Log[]): Payout[] {
  return logs.flatMap(({ address, topics: [topic, payee], data }): Payout[] => {
    if (address !== REMASC || topic !== PAYOUT_TOPIC || payee === undefined) return []
    const read = readData(data)
    return read === undefined ? [] : [{ ...read, payee: `0x${payee.slice(26)}` }]
  })
}
