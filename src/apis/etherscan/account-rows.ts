/** The transactions of accounts in Etherscan's form: those that they sent or received, and the calls inside. */

import type { ExecutedBlock } from '../../chain/block.ts'
import { contractAddress } from '../../chain/transaction.ts'
import { type Hex, toHex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import { receiptAt } from '../../engine/queries/lookup.ts'
import type { CallFrame } from '../../evm/tracing/call-frame.ts'
import { ApiError } from '../request.ts'
import type { Page } from './parameters.ts'

/** Transactions that are read at once. */
const AT_ONCE = 500
/** How long the calls of transactions may be traced, milliseconds. */
const TRACE_MS = 5000
const TIMEOUT = 'Error! Query Timeout occured. Please select a smaller result dataset'

/** A transaction in its block. */
export interface Place {
  readonly block: ExecutedBlock
  readonly index: number
}

interface Range {
  readonly from: number
  readonly to: number
}

/** What a page holds of what is produced in its order; the rest is not produced. */
export async function pageOf<T>(rows: AsyncIterable<T>, { first, count }: Page): Promise<T[]> {
  const page: T[] = []
  let at = 0
  for await (const row of rows) {
    if (at++ < first) continue
    page.push(row)
    if (page.length === count) break
  }
  return page
}

/** Transactions in which an account takes part, in the order of the page; each block is read when it is its turn. */
export async function* placesOf(
  engine: Engine,
  account: Hex,
  { from, to }: Range,
  { isDescending, hideRemasc }: { readonly isDescending: boolean; readonly hideRemasc: boolean },
): AsyncGenerator<Place> {
  let height = isDescending ? Math.min(to, Number.MAX_SAFE_INTEGER - 1) + 1 : from - 1
  for (;;) {
    const page = await engine.queries.accountTransactions({
      account,
      direction: isDescending ? 'before' : 'after',
      height: Math.max(0, height),
      count: AT_ONCE,
      hideRemasc,
    })
    const places = isDescending ? page.transactions : [...page.transactions].reverse()
    for (const place of places) {
      height = place.block.block.header.number
      if (isDescending ? height < from : height > to) return
      yield place
    }
    if (places.length === 0 || (isDescending ? page.isLast : page.isFirst)) return
  }
}

/** `name(type name, …)` of a known function. */
function functionName(engine: Engine, input: Uint8Array, to: Hex | null): string {
  const call = to === null ? undefined : engine.names.call(input, to)
  if (call === undefined) return ''
  return `${call.name}(${call.parameters.map(({ type, name }) => `${type} ${name}`.trim()).join(', ')})`
}

/** A row of `txlist`; `undefined` for a transaction that the account neither sent nor received. */
export function transactionRow(engine: Engine, account: Hex, { block, index }: Place, head: number) {
  const view = receiptAt(block, index)
  if (view === undefined) return undefined
  const { transaction, receipt } = view
  const { from, to, nonce, value, gasLimit, gasPrice, data } = transaction
  const created = to === null ? contractAddress(from, nonce) : ''
  if (from !== account && to !== account && created !== account) return undefined
  const { number, timestamp } = block.block.header
  return {
    blockNumber: String(number),
    blockHash: block.hash,
    timeStamp: String(timestamp),
    hash: transaction.hash,
    nonce: String(nonce),
    transactionIndex: String(index),
    from,
    to: to ?? '',
    value: String(value),
    gas: String(gasLimit),
    gasPrice: String(gasPrice),
    input: toHex(data),
    methodId: toHex(data.subarray(0, 4)),
    functionName: functionName(engine, data, to),
    contractAddress: created,
    cumulativeGasUsed: String(receipt.cumulativeGasUsed),
    txreceipt_status: receipt.succeeded ? '1' : '0',
    gasUsed: String(receipt.gasUsed),
    confirmations: String(head - number + 1),
    isError: receipt.succeeded ? '0' : '1',
  }
}

/** A call that moves value, creates or destroys a contract, below the transaction's own. */
interface InnerCall {
  readonly frame: CallFrame
  /** Its place in the call tree: `0_1` is the second call of the first one. */
  readonly traceId: string
  readonly hasFailed: boolean
}

/** An inner call and its transaction. */
export interface PlacedCall extends InnerCall {
  readonly place: Place
}

function* innerCalls({ calls }: CallFrame, failed: boolean, path = ''): Generator<InnerCall> {
  for (const [i, frame] of calls.entries()) {
    const traceId = path === '' ? String(i) : `${path}_${i}`
    const hasFailed = failed || frame.failure !== undefined
    const isCreation = frame.kind === 'create' || frame.kind === 'create2'
    if (isCreation || frame.kind === 'selfdestruct' || (frame.kind === 'call' && frame.value > 0n)) {
      yield { frame, traceId, hasFailed }
    }
    yield* innerCalls(frame, hasFailed, traceId)
  }
}

/** A row of `txlistinternal`. */
export function innerRow({ place: { block, index }, frame, traceId, hasFailed }: PlacedCall) {
  const { kind, from, to = '', value, gas, gasUsed, failure } = frame
  const isCreation = kind === 'create' || kind === 'create2'
  const { number, timestamp } = block.block.header
  return {
    blockNumber: String(number),
    timeStamp: String(timestamp),
    hash: block.block.transactions[index]?.hash ?? '',
    from,
    to: isCreation ? '' : to,
    value: String(value),
    contractAddress: isCreation ? to : '',
    input: '',
    type: kind === 'selfdestruct' ? 'suicide' : kind,
    gas: String(gas),
    gasUsed: String(gasUsed),
    traceId,
    isError: hasFailed ? '1' : '0',
    errCode: failure?.reason ?? '',
  }
}

/** The inner calls of transactions: from or to an account, or all. Throws `ApiError` after five seconds. */
export async function* innerCallsOf(
  engine: Engine,
  places: AsyncIterable<Place>,
  { account, isDescending }: { readonly account?: Hex | undefined; readonly isDescending: boolean },
): AsyncGenerator<PlacedCall> {
  const deadline = Date.now() + TRACE_MS
  for await (const place of places) {
    const timeoutMs = deadline - Date.now()
    if (timeoutMs <= 0) throw new ApiError(TIMEOUT)
    const { root } = await engine.queries.trace(place.block, place.index, { timeoutMs })
    const calls = [...innerCalls(root, root.failure !== undefined)]
      .filter(({ frame }) => account === undefined || frame.from === account || frame.to === account)
      .map((call) => ({ ...call, place }))
    yield* isDescending ? calls.reverse() : calls
  }
}

/** All transactions of a range of blocks, in order. */
export async function* placesIn(
  engine: Engine,
  { from, to }: Range,
  isDescending: boolean,
): AsyncGenerator<Place> {
  for (let step = 0; step <= to - from; step++) {
    const view = await engine.queries.block({ number: isDescending ? to - step : from + step })
    if (view === undefined) continue
    const { executed: block } = view
    const indexes = [...block.block.transactions.keys()]
    for (const index of isDescending ? indexes.reverse() : indexes) yield { block, index }
  }
}
