/**
 * A moment of the chain, its place in addresses (`?block=12&transactions=1`), and what the state was then: methods of state
 * name blocks, calls also a place within one.
 */
import { either, isText, listOf, objectOf } from './checks.ts'
import { callFor } from './client.ts'
import { type Hex, isHex, quantity, toNumber } from './format.ts'
import { isBlock } from './model.ts'
import { head } from './store.ts'

/** A moment. */
export interface Moment {
  readonly block: number
  /** How many transactions of the block have run; all of them where it is undefined. */
  readonly transactions: number | undefined
}

function wholeIn(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** The moment that the parameters of an address name; undefined is the present. */
export function momentIn(parameters: URLSearchParams): Moment | undefined {
  const block = wholeIn(parameters.get('block'))
  if (block === undefined) return undefined
  // A chain that was reset, or rewound, does not have the block any more.
  const latest = head.value && toNumber(head.value.number)
  if (latest !== undefined && block > latest) return undefined
  return { block, transactions: wholeIn(parameters.get('transactions')) }
}

/** The parameters that name a moment. */
export function momentParameters(
  moment: Moment | undefined,
): Readonly<Record<'block' | 'transactions', string | undefined>> {
  return { block: moment && String(moment.block), transactions: moment?.transactions?.toString() }
}

/** The hashes of the transactions of a block, by its height. */
export async function transactionsOf(block: number, signal?: AbortSignal): Promise<readonly Hex[]> {
  return (await callFor(isBlock, 'eth_getBlockByNumber', [quantity(block), false], signal)).transactions
}

/** The moment after the transaction that follows, in this block or the next; the same at the end of the chain. */
export async function nextMoment(moment: Moment, latest: number): Promise<Moment> {
  const count = (await transactionsOf(moment.block)).length
  const ran = moment.transactions ?? count
  if (ran < count) return momentAfter(moment.block, ran + 1, count)
  if (moment.block >= latest) return moment
  const block = moment.block + 1
  return momentAfter(block, 1, (await transactionsOf(block)).length)
}

/** The moment before the last transaction that has run; the same at the beginning of the chain. */
export async function previousMoment(moment: Moment): Promise<Moment> {
  const count = (await transactionsOf(moment.block)).length
  const ran = moment.transactions ?? count
  if (ran > 0) return momentAfter(moment.block, ran - 1, count)
  if (moment.block === 0) return moment
  const block = moment.block - 1
  const before = (await transactionsOf(block)).length
  return momentAfter(block, Math.max(0, before - 1), before)
}

function momentAfter(block: number, ran: number, count: number): Moment {
  return { block, transactions: ran >= count ? undefined : ran }
}

/** The block of a moment as methods name it; the latest without one. */
export function blockOfMoment(moment: Moment | undefined): string {
  return moment === undefined ? 'latest' : quantity(moment.block)
}

const areOutcomes = listOf(listOf(either(objectOf({ value: isHex }), objectOf({ error: isText }))))

/** The output of a call at a moment. Throws an Error with the failure, `RpcError`, `ConnectionError`. */
export async function callAtMoment(
  request: object,
  { block, transactions }: Moment,
  { overrides = {}, signal }: { readonly overrides?: object; readonly signal?: AbortSignal } = {},
): Promise<Hex> {
  const context = {
    blockNumber: quantity(block),
    ...(transactions !== undefined && { transactionIndex: transactions }),
  }
  const parameters = [[{ transactions: [request] }], context, overrides]
  const [[outcome] = []] = await callFor(areOutcomes, 'eth_callMany', parameters, signal)
  if (outcome !== undefined && 'value' in outcome) return outcome.value
  throw new Error(outcome?.error ?? 'No answer')
}

/** An address without an account, whose code a call overrides. */
const READER = '0x000000000000000000000000000000007265616d'

function readBy(code: string, moment: Moment, signal: AbortSignal): Promise<Hex> {
  return callAtMoment({ to: READER }, moment, { overrides: { [READER]: { code } }, signal })
}

/** The balance of an account at a moment, by BALANCE. */
export function balanceAt(address: Hex, moment: Moment, signal: AbortSignal): Promise<Hex> {
  // PUSH20 address, BALANCE, MSTORE at 0, RETURN 32 bytes.
  return readBy(`0x73${address.slice(2)}3160005260206000f3`, moment, signal)
}

/** The code of an account at a moment, by EXTCODECOPY. */
export function codeAt(address: Hex, moment: Moment, signal: AbortSignal): Promise<Hex> {
  const push = `73${address.slice(2)}`
  // The size, EXTCODECOPY of that many bytes to 0, RETURN of them.
  return readBy(`0x${push}3b8060006000${push}3c6000f3`, moment, signal)
}
