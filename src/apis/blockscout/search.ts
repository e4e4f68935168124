/** The search of Blockscout's API v2: blocks, transactions, accounts, and tokens and contracts by their names. */
import type { ExecutedBlock } from '../../chain/block.ts'
import type { Hex } from '../../encoding/hex.ts'
import type { Engine } from '../../engine/engine.ts'
import { addressIn, hashIn } from '../request.ts'
import { type List, PAGE } from './lists.ts'
import { addressParam, timeText, tokenInfo } from './shapes.ts'

async function accountResult(engine: Engine, address: Hex): Promise<object> {
  const { is_contract: isContract, is_verified: isVerified, name } = await addressParam(engine, address)
  return {
    type: isContract ? 'contract' : 'address',
    address_hash: address,
    address,
    name,
    is_smart_contract_verified: isVerified,
    url: `/address/${address}`,
    reputation: 'ok',
  }
}

function blockResult({ hash, block }: ExecutedBlock): object {
  const { number, timestamp } = block.header
  return {
    type: 'block',
    block_type: 'block',
    block_number: number,
    block_hash: hash,
    timestamp: timeText(timestamp),
    url: `/block/${hash}`,
  }
}

async function hashResults(engine: Engine, hash: Hex): Promise<object[]> {
  const view = engine.queries.receipt(hash)
  const block = (await engine.queries.block({ hash }))?.executed
  const found: object[] = block === undefined ? [] : [blockResult(block)]
  if (view === undefined) return found
  const timestamp = timeText(view.block.block.header.timestamp)
  return [...found, { type: 'transaction', transaction_hash: hash, timestamp, url: `/tx/${hash}` }]
}

async function tokenResults(engine: Engine, text: string): Promise<object[]> {
  const found: object[] = []
  for (const token of await engine.queries.tokens()) {
    const { name = '', symbol = '', address } = token
    if (!name.toLowerCase().includes(text) && !symbol.toLowerCase().includes(text)) continue
    const { type, ...info } = tokenInfo(token)
    const { is_verified: isVerified } = await addressParam(engine, address)
    found.push({
      ...info,
      type: 'token',
      token_type: type,
      is_smart_contract_verified: isVerified,
      address_url: `/address/${address}`,
      token_url: `/token/${address}`,
    })
  }
  return found
}

async function contractResults(engine: Engine, text: string): Promise<object[]> {
  const addresses = new Set<Hex>()
  for (const { artifact, address } of engine.names.contracts()) {
    if (address !== undefined && artifact.name.toLowerCase().includes(text)) addresses.add(address)
  }
  return Promise.all([...addresses].map((address) => accountResult(engine, address)))
}

/** What fits a text: a height, a hash, an address, or a name; at most a page. */
export async function searchResults(engine: Engine, given: string): Promise<List> {
  const text = given.trim()
  const found: object[] = []
  const [address, hash] = [addressIn(text), hashIn(text)]
  if (address !== undefined) found.push(await accountResult(engine, address))
  if (hash !== undefined) found.push(...(await hashResults(engine, hash)))
  if (/^\d{1,15}$/.test(text)) {
    const block = (await engine.queries.block({ number: Number(text) }))?.executed
    if (block !== undefined) found.push(blockResult(block))
  }
  if (address === undefined && hash === undefined && text !== '') {
    const name = text.toLowerCase()
    found.push(...(await tokenResults(engine, name)), ...(await contractResults(engine, name)))
  }
  return { items: found.slice(0, PAGE), next_page_params: null }
}
