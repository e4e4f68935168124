/** A moment of the chain, and what the state was then: methods of state name blocks, calls also a place within one. */
import { either, isText, listOf, objectOf } from './checks.ts'
import { callFor } from './client.ts'
import { type Hex, isHex, quantity } from './format.ts'

/** A moment. */
export interface Moment {
  readonly block: number
  /** How many transactions of the block have run; all of them where it is undefined. */
  readonly transactions: number | undefined
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
