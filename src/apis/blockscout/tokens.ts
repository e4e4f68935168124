/** Tokens in Blockscout's API v2: facts, counters, transfers, holders, and the instances of ERC-721. */
import type { Hex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import { questionTime, type Token } from '../../engine/queries/tokens.ts'
import { countOf, MOST_COUNTED } from './counting.ts'
import { addressOf, type List, pageAt, transferList } from './lists.ts'
import { addressParam, STANDARDS, tokenInfo } from './shapes.ts'

/** The tokens that a query selects. */
export async function tokenList(engine: Engine, query: URLSearchParams): Promise<List> {
  const [wanted, types] = [query.get('q')?.toLowerCase() ?? '', query.get('type')?.toUpperCase().split(',')]
  const found = (await engine.queries.tokens()).filter(({ name = '', symbol = '', type }) => {
    const isNamed = name.toLowerCase().includes(wanted) || symbol.toLowerCase().includes(wanted)
    return isNamed && (types === undefined || types.includes(STANDARDS[type]))
  })
  return pageAt(found.map(tokenInfo), query)
}

async function holderList(engine: Engine, token: Hex, query: URLSearchParams): Promise<List | undefined> {
  const found = await engine.queries.tokenHolders(token)
  if (found === undefined) return undefined
  const page = pageAt(found.holders, query)
  const items: object[] = []
  for (const { account, balance, tokenId } of page.items) {
    const holder = await addressParam(engine, account)
    items.push({
      address: holder,
      address_hash: holder,
      value: String(balance),
      token_id: tokenId === undefined ? null : String(tokenId),
    })
  }
  return { ...page, items }
}

/** `TokenCounters`: of the newest 10,000 transfers, within five seconds each. */
async function counters(engine: Engine, token: Hex): Promise<object | undefined> {
  const found = await engine.queries.tokenHolders(token)
  const transfers = await countOf(engine.queries.tokenTransfers({ token }), questionTime())
  return { token_holders_count: String(found?.holders.length ?? 0), transfers_count: String(transfers) }
}

/** The tokens of ERC-721 by their newest transfers, those of a holder where one is given. */
async function instanceList(engine: Engine, token: Token, query: URLSearchParams): Promise<List> {
  const given = query.get('holder_address_hash')
  const holder = given === null ? undefined : addressOf(given)
  const owners = new Map<bigint, Hex>()
  let read = 0
  for await (const { type, tokenId, to } of engine.queries.tokenTransfers({ token: token.address })) {
    if (type === 'erc721' && tokenId !== undefined && !owners.has(tokenId)) owners.set(tokenId, to)
    if (++read === MOST_COUNTED) break
  }
  const page = pageAt(
    [...owners].filter(([, owner]) => (holder === undefined ? BigInt(owner) !== 0n : owner === holder)),
    query,
  )
  const items: object[] = []
  for (const [id, owner] of page.items) {
    items.push({
      id: String(id),
      token: tokenInfo(token),
      owner: await addressParam(engine, owner),
      is_unique: true,
      metadata: null,
      image_url: null,
      animation_url: null,
      external_app_url: null,
    })
  }
  return { ...page, items }
}

/** Answers a request for a token or a part of it; `undefined` for what there is not. */
export async function tokenAnswer(
  engine: Engine,
  address: Hex,
  part: string | undefined,
  query: URLSearchParams,
): Promise<unknown> {
  if (part === 'transfers') return transferList(engine, { token: address }, query)
  if (part === 'holders') return holderList(engine, address, query)
  const token = await engine.queries.token(address)
  if (token === undefined) return undefined
  if (part === 'counters') return counters(engine, address)
  if (part === 'instances') return instanceList(engine, token, query)
  return part === undefined ? tokenInfo(token) : undefined
}
