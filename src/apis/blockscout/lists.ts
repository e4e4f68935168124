/** Pages of Blockscout's API v2: items, and the parameters by which the next page is asked for. */
import type { Hex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import type { LogView } from '../../engine/model.ts'
import { heightOf } from '../../engine/queries/log-walk.ts'
import type { TokenTransfer, TokenType } from '../../engine/queries/token-transfers.ts'
import { questionTime, type Token } from '../../engine/queries/tokens.ts'
import { type Place, placesOf } from '../etherscan/account-rows.ts'
import { ApiError, addressIn } from '../request.ts'
import { logObject, STANDARDS, tokenInfo, transactionObject, transferObject } from './shapes.ts'

/** Items of a page. */
export const PAGE = 50

/** A list. */
export interface List {
  readonly items: readonly unknown[]
  readonly next_page_params: object | null
}

/** The error of a parameter that is malformed. */
export function invalidParameter(): ApiError {
  return new ApiError('Invalid parameter(s)', { status: 422 })
}

/** An address of a path or a parameter. Throws `ApiError`. */
export function addressOf(text: string | null | undefined): Hex {
  const address = addressIn(text)
  if (address === undefined) throw invalidParameter()
  return address
}

/** A number among the parameters of a page; `undefined` where it is missing. Throws `ApiError`. */
export function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  if (!/^\d{1,15}$/.test(text)) throw invalidParameter()
  return Number(text)
}

/** The items of a list that is made anew for each page; the parameter of the next page is the number of items before it. */
export function pageAt<T>(all: readonly T[], query: URLSearchParams) {
  const start = numberIn(query, 'items_count') ?? 0
  const end = start + PAGE
  return {
    items: all.slice(start, end),
    next_page_params: end < all.length ? { items_count: end } : null,
  }
}

/** The standards that `type` names, such as `ERC-20,ERC-721`; `undefined` for all. */
function typesIn(query: URLSearchParams): ReadonlySet<TokenType> | undefined {
  const text = query.get('type')
  if (text === null || text === '') return undefined
  const names = new Set(text.toUpperCase().split(','))
  const types = (['erc20', 'erc721', 'erc1155'] as const).filter((type) => names.has(STANDARDS[type]))
  return new Set(types)
}

/** Tokens, each asked once. */
export function tokenReader(
  engine: Engine,
): (transfer: Pick<TokenTransfer, 'token' | 'type'>) => Promise<Token> {
  const known = new Map<Hex, Promise<Token>>()
  return ({ token: address, type }) => {
    const token =
      known.get(address) ?? engine.queries.token(address).then((found) => found ?? { address, type })
    known.set(address, token)
    return token
  }
}

/** The parameters of the page behind a log. */
function paramsOf(last: LogView): object {
  return { block_number: heightOf(last), index: last.logIndex }
}

/** Does a log come on the page of the parameters, or on a later one? */
function placeBefore(query: URLSearchParams): (view: LogView) => boolean {
  const [height, logIndex] = [numberIn(query, 'block_number'), numberIn(query, 'index') ?? 0]
  return (view) => height === undefined || heightOf(view) < height || view.logIndex < logIndex
}

/** Transfers of an account, a token, or all, the newest first, from the place of the parameters on. */
export async function transferList(
  engine: Engine,
  { account, token }: { readonly account?: Hex; readonly token?: Hex },
  query: URLSearchParams,
): Promise<List> {
  const isBefore = placeBefore(query)
  const height = numberIn(query, 'block_number')
  const types = typesIn(query)
  const [only] = types?.size === 1 ? types : []
  const found = engine.queries.tokenTransfers({
    account,
    token,
    ...(only && { type: only }),
    ...(height !== undefined && { to: height }),
  })
  const tokenOf = tokenReader(engine)
  const items: unknown[] = []
  let last: TokenTransfer['view'] | undefined
  for await (const transfer of found) {
    const { view, type } = transfer
    if (types !== undefined && !types.has(type)) continue
    if (!isBefore(view)) continue
    // The transfers of one log are never parted.
    const isNew = last === undefined || last.logIndex !== view.logIndex || heightOf(last) !== heightOf(view)
    if (isNew && items.length >= PAGE && last !== undefined) {
      return { items, next_page_params: paramsOf(last) }
    }
    items.push(await transferObject(engine, transfer, await tokenOf(transfer)))
    last = view
  }
  return { items, next_page_params: null }
}

/** All transactions but those of REMASC, the newest first. */
async function* newest(engine: Engine, from: number): AsyncGenerator<Place> {
  for (let number = from; number >= 0; number--) {
    const block = (await engine.queries.block({ number }))?.executed
    if (block === undefined) return
    for (let index = block.block.transactions.length - 1; index >= 0; index--) yield { block, index }
  }
}

/** Blocks that are searched for the transactions of one page. */
const MOST_BLOCKS = 2000

/** Transactions of an account, or of the chain, the newest first, from the place of the parameters on. */
export async function transactionList(
  engine: Engine,
  account: Hex | undefined,
  query: URLSearchParams,
): Promise<List> {
  const [height, position] = [numberIn(query, 'block_number'), numberIn(query, 'index')]
  const way = query.get('filter')
  const head = engine.queries.head().block.header.number
  const top = Math.min(height ?? head, head)
  const places =
    account === undefined
      ? newest(engine, top)
      : placesOf(engine, account, { from: 0, to: top }, { isDescending: true, hideRemasc: true })
  const items: unknown[] = []
  let last: Place | undefined
  for await (const place of places) {
    const transaction = place.block.block.transactions[place.index]
    const { number } = place.block.block.header
    if (account === undefined && top - number > MOST_BLOCKS) {
      return { items, next_page_params: { block_number: number + 1, index: 0, items_count: items.length } }
    }
    if (transaction === undefined || transaction.isRemasc) continue
    if (height !== undefined && number === height && place.index >= (position ?? 0)) continue
    if (way === 'from' && transaction.from !== account) continue
    if (way === 'to' && transaction.to !== account) continue
    if (items.length === PAGE && last !== undefined) {
      const at = { block_number: last.block.block.header.number, index: last.index, items_count: PAGE }
      return { items, next_page_params: at }
    }
    items.push(await transactionObject(engine, place))
    last = place
  }
  return { items, next_page_params: null }
}

/** Transfers that are read for the tokens of an account. */
const MOST_TRANSFERS = 10_000

/** What an account has of the tokens that it ever received or sent, by what their contracts answer within 5 seconds. */
export async function tokenBalances(engine: Engine, account: Hex, query: URLSearchParams) {
  const types = typesIn(query)
  const candidates = new Map<string, TokenTransfer>()
  let read = 0
  for await (const transfer of engine.queries.tokenTransfers({ account })) {
    const { token, type, tokenId } = transfer
    if (types === undefined || types.has(type)) {
      const key = type === 'erc1155' ? `${token} ${tokenId}` : token
      if (!candidates.has(key)) candidates.set(key, transfer)
    }
    if (++read === MOST_TRANSFERS) break
  }
  const tokenOf = tokenReader(engine)
  const isTime = questionTime()
  const balances: object[] = []
  for (const transfer of candidates.values()) {
    if (!(await isTime())) break
    const { token, type, tokenId } = transfer
    const id = type === 'erc1155' ? tokenId : undefined
    const value = await engine.queries.tokenBalance(token, account, { tokenId: id })
    if (value === undefined || value === 0n) continue
    balances.push({
      token: tokenInfo(await tokenOf(transfer)),
      token_id: id === undefined ? null : String(id),
      token_instance: null,
      value: String(value),
    })
  }
  return balances
}

/** Logs of a contract, the newest first, from the place of the parameters on. */
export async function logList(engine: Engine, address: Hex, query: URLSearchParams): Promise<List> {
  const isBefore = placeBefore(query)
  const to = numberIn(query, 'block_number')
  const items: object[] = []
  let last: LogView | undefined
  for await (const view of engine.queries.walkLogs({
    addresses: [address],
    filters: [[]],
    ...(to !== undefined && { to }),
  })) {
    if (!isBefore(view)) continue
    if (items.length === PAGE && last !== undefined) return { items, next_page_params: paramsOf(last) }
    items.push(await logObject(engine, view))
    last = view
  }
  return { items, next_page_params: null }
}
