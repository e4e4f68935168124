/** Blockscout's API v2: the part that wallets call, and verification (https://github.com/blockscout/blockscout-api-v2-swagger). */
import type { Hex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import type { CurrentEngine } from '../../engine/engine-holder.ts'
import { ApiError, type ApiReply, type ApiRequest, addressIn, hashIn, read, repliedOr } from '../request.ts'
import type { Verifier } from '../verifier.ts'
import { addressObject } from './addresses.ts'
import { type List, PAGE, tokenBalances, transactionList, transferList } from './lists.ts'
import { searchResults } from './search.ts'
import { addressParam, STANDARDS, tokenInfo, transactionObject, transferObject } from './shapes.ts'
import { statistics } from './stats.ts'
import { BlockscoutContracts, NOT_FOUND } from './verification.ts'

/** Answers a GET by the engine, the parts of its path behind the collection, and its query; `undefined` for what there is not. */
type Answer = (engine: Engine, parts: readonly string[], query: URLSearchParams) => Promise<unknown>

function addressOf(text: string | undefined): Hex {
  const address = addressIn(text)
  if (address === undefined) throw new ApiError('Invalid parameter(s)', { status: 422 })
  return address
}

const addresses: Answer = async (engine, [first, part], query) => {
  const account = addressOf(first)
  if (part === undefined) return addressObject(engine, account)
  if (part === 'transactions') return transactionList(engine, account, query)
  if (part === 'token-transfers') {
    const token = query.get('token')
    return transferList(engine, { account, ...(token !== null && { token: addressOf(token) }) }, query)
  }
  if (part === 'token-balances') return tokenBalances(engine, account, query)
  if (part !== 'tokens') return undefined
  return { items: await tokenBalances(engine, account, query), next_page_params: null } satisfies List
}

async function holderList(engine: Engine, token: Hex): Promise<List | undefined> {
  const found = await engine.queries.tokenHolders(token)
  if (found === undefined) return undefined
  const items: object[] = []
  for (const { account, balance, tokenId } of found.holders.slice(0, PAGE)) {
    items.push({
      address: await addressParam(engine, account),
      address_hash: await addressParam(engine, account),
      value: String(balance),
      token_id: tokenId === undefined ? null : String(tokenId),
    })
  }
  return { items, next_page_params: null }
}

async function tokenList(engine: Engine, query: URLSearchParams): Promise<List> {
  const [wanted, types] = [query.get('q')?.toLowerCase() ?? '', query.get('type')?.toUpperCase().split(',')]
  const found = (await engine.queries.tokens()).filter(({ name = '', symbol = '', type }) => {
    const isNamed = name.toLowerCase().includes(wanted) || symbol.toLowerCase().includes(wanted)
    return isNamed && (types === undefined || types.includes(STANDARDS[type]))
  })
  return { items: found.slice(0, PAGE).map(tokenInfo), next_page_params: null }
}

const tokens: Answer = async (engine, [first, part], query) => {
  if (first === undefined || first === '') return tokenList(engine, query)
  const address = addressOf(first)
  if (part === 'transfers') return transferList(engine, { token: address }, query)
  if (part === 'holders') return holderList(engine, address)
  const token = part === undefined ? await engine.queries.token(address) : undefined
  return token && tokenInfo(token)
}

/** Transfers in the logs of one transaction. */
async function transfersOf(engine: Engine, hash: Hex): Promise<List | undefined> {
  const view = engine.queries.receipt(hash)
  if (view === undefined) return undefined
  const { number } = view.block.block.header
  const items: unknown[] = []
  for await (const transfer of engine.queries.tokenTransfers({
    from: number,
    to: number,
    isDescending: false,
  })) {
    if (transfer.view.transaction.hash !== hash) continue
    const { token: address, type } = transfer
    const token = (await engine.queries.token(address)) ?? { address, type }
    items.push(await transferObject(engine, transfer, token))
  }
  return { items, next_page_params: null }
}

const transactions: Answer = async (engine, [first, part], query) => {
  if (first === undefined || first === '') return transactionList(engine, undefined, query)
  const hash = hashIn(first)
  if (hash === undefined) throw new ApiError('Invalid parameter(s)', { status: 422 })
  if (part === 'token-transfers') return transfersOf(engine, hash)
  const view = part === undefined ? engine.queries.receipt(hash) : undefined
  return view && transactionObject(engine, view)
}

const COLLECTIONS: Readonly<Record<string, Answer>> = {
  addresses,
  tokens,
  transactions,
  'token-transfers': (engine, _, query) => transferList(engine, {}, query),
  search: (engine, _, query) => searchResults(engine, query.get('q') ?? ''),
  stats: (engine) => statistics(engine),
}

/** Blockscout's API of one node. */
export class Blockscout {
  readonly #node: CurrentEngine
  readonly #contracts: BlockscoutContracts

  constructor(node: CurrentEngine, verifier: Verifier) {
    this.#node = node
    this.#contracts = new BlockscoutContracts(node, verifier)
  }

  answer(request: ApiRequest): Promise<ApiReply> {
    return repliedOr(
      () => this.#route(request),
      ({ status, message }) => this.refusal(status, message),
    )
  }

  /** The reply to a request that a transport refuses. */
  refusal(status: number, message: string): ApiReply {
    return { status, body: { message } }
  }

  async #route(request: ApiRequest): Promise<ApiReply> {
    const [, , , collection = '', ...parts] = request.path.split('/')
    if (collection === 'smart-contracts') return this.#contracts.answer(request, parts)
    const answer = Object.hasOwn(COLLECTIONS, collection) ? COLLECTIONS[collection] : undefined
    if (answer === undefined || request.method !== 'GET') return NOT_FOUND
    const body = await read(this.#node, (engine) => answer(engine, parts, request.query))
    return body === undefined ? NOT_FOUND : { status: 200, body }
  }
}
