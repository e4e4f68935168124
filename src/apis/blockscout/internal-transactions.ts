/** Internal transactions in Blockscout's API v2: calls that move value, create or destroy a contract. */
import type { Hex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import { innerCallsOf, type Place, type PlacedCall, placesOf } from '../etherscan/account-rows.ts'
import { type List, numberIn, PAGE } from './lists.ts'
import { addressParam, timeText } from './shapes.ts'

/** `InternalTransaction`. `index` is its number among those of the transaction. */
async function internalObject(
  engine: Engine,
  { place: { block, index: position }, frame, hasFailed }: PlacedCall,
  index: number,
): Promise<object> {
  const { kind, from, to, value, gas, failure } = frame
  const isCreation = kind === 'create' || kind === 'create2'
  const party = to === undefined ? null : await addressParam(engine, to)
  const { number, timestamp } = block.block.header
  return {
    block_number: number,
    timestamp: timeText(timestamp),
    transaction_hash: block.block.transactions[position]?.hash ?? '',
    index,
    type: kind,
    success: !hasFailed,
    error: hasFailed ? (failure?.reason ?? 'Reverted') : null,
    from: await addressParam(engine, from),
    to: isCreation ? null : party,
    created_contract: isCreation ? party : null,
    value: String(value),
    gas_limit: String(gas),
  }
}

/** Those of an account, the newest first, from the place of the parameters on. Throws `ApiError` after five seconds. */
export async function internalList(engine: Engine, account: Hex, query: URLSearchParams): Promise<List> {
  const head = engine.queries.head().block.header.number
  const to = Math.min(numberIn(query, 'block_number') ?? head, head)
  const places = placesOf(engine, account, { from: 0, to }, { isDescending: true, hideRemasc: true })
  return internalPage(engine, innerCallsOf(engine, places, { account, isDescending: true }), query)
}

/** Those of one transaction, in order. */
export async function internalOf(engine: Engine, place: Place, query: URLSearchParams): Promise<List> {
  async function* places() {
    yield place
  }
  return internalPage(engine, innerCallsOf(engine, places(), { isDescending: false }), query)
}

/** A page of calls: those of a block are skipped that earlier pages had. */
async function internalPage(
  engine: Engine,
  calls: AsyncIterable<PlacedCall>,
  query: URLSearchParams,
): Promise<List> {
  const skipped = numberIn(query, 'items_of_block') ?? 0
  const first = numberIn(query, 'block_number')
  const items: object[] = []
  let [height, ofBlock] = [-1, 0]
  let [hash, index] = ['', 0]
  for await (const call of calls) {
    const { block, index: position } = call.place
    const { number } = block.block.header
    const own = block.block.transactions[position]?.hash ?? ''
    index = own === hash ? index + 1 : 0
    hash = own
    if (number !== height) ofBlock = 0
    height = number
    ofBlock++
    if (number === first && ofBlock <= skipped) continue
    if (items.length === PAGE) {
      return { items, next_page_params: { block_number: number, items_of_block: ofBlock - 1 } }
    }
    items.push(await internalObject(engine, call, index))
  }
  return { items, next_page_params: null }
}
