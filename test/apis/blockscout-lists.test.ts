/**
 * The part of Blockscout's API v2 that wallets call, on a chain with contracts of OpenZeppelin: objects have the members that
 * its own document names (`fixtures/apis/blockscout-v2.json`), and values are those of receipts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Hex, toHex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/node/node.ts'
import { type Server, serve } from '../../src/transport/server.ts'
import { assemble } from '../support/assembler.ts'
import { buildInfo, deploy } from '../support/build-infos.ts'
import { fixture } from '../support/fixture.ts'
import { BOB, CAROL, deployTokens, type TokenChain } from '../support/token-chain.ts'

const { schemas } = fixture<{ schemas: Record<string, Record<string, string>> }>('apis/blockscout-v2.json')

type Json = Record<string, unknown>
const KINDS: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  integer: Number.isInteger,
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: (value) => typeof value === 'object',
  any: () => true,
  Reputation: (value) => value === 'ok',
}

/** The members of an object that are not what the document says: missing, or of another type. Any may be null. */
function misfits(value: unknown, schema: string): string[] {
  const given = value as Json
  return Object.entries(schemas[schema] ?? {}).flatMap(([name, type]) => {
    const member = given[name]
    if (member === null) return []
    const inner = schemas[type]
    const where = `${schema}.${name}`
    if (member === undefined) return [`${where} is missing`]
    if (inner !== undefined) return misfits(member, type).map((misfit) => `${where}: ${misfit}`)
    return KINDS[type]?.(member) ? [] : [`${where} is ${JSON.stringify(member)}, not ${type}`]
  })
}

let node: Node
let server: Server
let chain: TokenChain
beforeAll(async () => {
  node = await createNode({ now: () => 1_700_000_000 })
  server = await serve(node, { port: 0 })
  chain = await deployTokens(node)
  await chain.use('token', 'transfer', BOB, 250)
  await chain.use('token', 'transfer', CAROL, 50)
  await chain.use('deed', 'mint', BOB, 7)
  await chain.use('goods', 'mint', BOB, [1, 2], [30, 40])
})
afterAll(async () => {
  await server.close()
  await node.close()
})

async function get(path: string): Promise<{ status: number; body: Json }> {
  const reply = await fetch(`${server.url}/api/v2/${path}`)
  return { status: reply.status, body: (await reply.json()) as Json }
}
async function list(
  path: string,
): Promise<{ items: Json[]; next_page_params: Record<string, number> | null }> {
  const { status, body } = await get(path)
  expect(status).toBe(200)
  return body as Awaited<ReturnType<typeof list>>
}

/** The query of a next page. */
function queryOf(parameters: Readonly<Record<string, number>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) query.set(name, String(value))
  return query.toString()
}

describe('the accounts of Blockscout’s API', () => {
  it('have balance, origin and token', async () => {
    const { body } = await get(`addresses/${chain.token}`)
    expect(misfits(body, 'Address')).toEqual([])
    expect(body).toMatchObject({
      hash: chain.token,
      is_contract: true,
      coin_balance: '0',
      creator_address_hash: chain.alice,
      has_logs: true,
      has_token_transfers: false,
      token: { symbol: 'TDM', decimals: '18', total_supply: '1000', type: 'ERC-20' },
    })
    expect((await get(`addresses/${BOB}`)).body).toMatchObject({
      is_contract: false,
      token: null,
      has_token_transfers: true,
      has_logs: false,
    })
    expect((await get('addresses/0x12')).status).toBe(422)
    expect((await get(`addresses/${BOB}/nothing`)).status).toBe(404)
  })

  it('show the implementation of a proxy, and whether sources are known', async () => {
    const info = buildInfo('solc-0.8.24')
    await node.addSources(info)
    const twin = await deploy(node, info, 'Twin')
    const proxy = await deploy(node, info, 'Proxy', { words: [twin] })
    expect((await get(`addresses/${proxy}`)).body).toMatchObject({
      name: 'Proxy',
      is_verified: true,
      implementations: [{ address_hash: twin, name: 'Twin' }],
    })
  })

  it('list transactions as receipts have them', async () => {
    const { items } = await list(`addresses/${chain.token}/transactions`)
    expect(items.flatMap((item) => misfits(item, 'Transaction'))).toEqual([])
    expect(items).toHaveLength(3)
    const [latest, , creation] = items
    const receipt = (await node.request({
      method: 'eth_getTransactionReceipt',
      params: [latest?.hash],
    })) as Record<string, string>
    expect(latest).toMatchObject({
      block_number: Number(receipt.blockNumber),
      gas_used: String(Number(receipt.gasUsed)),
      status: 'ok',
      from: { hash: chain.alice },
      to: { hash: chain.token, is_contract: true },
      transaction_types: ['token_transfer', 'contract_call'],
    })
    expect(creation).toMatchObject({ to: null, created_contract: { hash: chain.token } })
    expect((await get(`transactions/${latest?.hash}`)).body).toEqual(latest)
    const sent = await list(`addresses/${chain.token}/transactions?filter=from`)
    expect(sent.items).toEqual([])
  })

  it('list tokens with what the contracts answer', async () => {
    const { items } = await list(`addresses/${BOB}/tokens`)
    expect(items.flatMap((item) => misfits(item, 'TokenBalance'))).toEqual([])
    expect(items.map(({ value, token_id: id, token }) => [value, id, (token as Json).type])).toEqual([
      ['40', '2', 'ERC-1155'],
      ['30', '1', 'ERC-1155'],
      ['1', null, 'ERC-721'],
      ['250', null, 'ERC-20'],
    ])
    const { body } = await get(`addresses/${BOB}/token-balances?type=ERC-20`)
    expect(body).toMatchObject([{ value: '250' }])
  })
})

describe('the tokens of Blockscout’s API', () => {
  it('have transfers of each standard', async () => {
    const { items } = await list(`addresses/${BOB}/token-transfers`)
    expect(items.flatMap((item) => misfits(item, 'TokenTransfer'))).toEqual([])
    expect(items.map(({ total, type }) => [total, type])).toEqual([
      [expect.objectContaining({ token_id: '2', value: '40' }), 'token_minting'],
      [expect.objectContaining({ token_id: '1', value: '30' }), 'token_minting'],
      [expect.objectContaining({ token_id: '7' }), 'token_minting'],
      [{ decimals: '18', value: '250' }, 'token_transfer'],
    ])
    const only = await list(`addresses/${BOB}/token-transfers?type=ERC-20,ERC-721`)
    expect(only.items.map(({ token_type: type }) => type)).toEqual(['ERC-721', 'ERC-20'])
    const [transfer] = (await list(`tokens/${chain.token}/transfers`)).items
    const own = await list(`transactions/${transfer?.transaction_hash}/token-transfers`)
    expect(own.items).toEqual([transfer])
    expect((await list('token-transfers')).items.length).toBe(6)
  })

  it('have holders, facts and a list', async () => {
    const { items } = await list(`tokens/${chain.token}/holders`)
    expect(items.flatMap((item) => misfits(item, 'Holder'))).toEqual([])
    expect(items.map(({ value }) => value)).toEqual(['700', '250', '50'])
    const { body } = await get(`tokens/${chain.deed}`)
    expect(misfits(body, 'TokenInfo')).toEqual([])
    expect(body).toMatchObject({ symbol: 'DEED', type: 'ERC-721' })
    expect((await get(`tokens/${BOB}`)).status).toBe(404)
    const all = await list('tokens?q=tdm')
    expect(all.items.map(({ address_hash: address }) => address)).toEqual([chain.token])
  })

  it('come in pages, each once', async () => {
    const other = '0x00000000000000000000000000000000000000d0' as Hex
    for (let i = 1; i <= 60; i++) await chain.use('token', 'transfer', other, 1)
    for (const path of [`addresses/${other}/token-transfers`, 'transactions']) {
      const seen: unknown[] = []
      let query = ''
      for (let pages = 0; pages < 3; pages++) {
        const page = await list(`${path}?${query}`)
        seen.push(...page.items.map((item) => item.transaction_hash ?? item.hash))
        if (page.next_page_params === null) break
        query = queryOf(page.next_page_params)
      }
      expect(new Set(seen).size, path).toBe(seen.length)
      expect(seen.length, path).toBeGreaterThanOrEqual(60)
    }
    expect((await get('token-transfers?block_number=x')).status).toBe(422)
    for (let i = 1; i <= 60; i++) {
      await chain.use('token', 'transfer', `0x${i.toString(16).padStart(40, 'e')}`, 1)
    }
    const first = await list(`tokens/${chain.token}/holders`)
    expect(first.items).toHaveLength(50)
    const rest = await list(
      `tokens/${chain.token}/holders?items_count=${first.next_page_params?.items_count}`,
    )
    expect(rest.next_page_params).toBe(null)
    const accounts = [...first.items, ...rest.items].map(({ address }) => (address as Json).hash)
    expect(new Set(accounts).size).toBe(64)
  })
})

describe('what happened in Blockscout’s API', () => {
  it('has logs of contracts and transactions, with events by their ABIs', async () => {
    const { items } = await list(`addresses/${chain.deed}/logs`)
    expect(items.flatMap((item) => misfits(item, 'Log'))).toEqual([])
    const [log] = items
    const receipt = (await node.request({
      method: 'eth_getTransactionReceipt',
      params: [log?.transaction_hash],
    })) as { logs: { topics: string[]; data: string; logIndex: string }[] }
    const [mined] = receipt.logs
    expect(log).toMatchObject({
      topics: [...(mined?.topics ?? []), null, null, null].slice(0, 4),
      data: mined?.data,
      index: Number(mined?.logIndex),
    })
    expect((await list(`transactions/${log?.transaction_hash}/logs`)).items).toEqual([log])
    expect((await list(`addresses/${BOB}/logs`)).items).toEqual([])
    expect((await get('addresses/0x12/logs')).status).toBe(422)
  })

  it('has internal transactions, each once over the pages', async () => {
    // Sends one wei of its balance to the caller, 30 times.
    const payer = '0x00000000000000000000000000000000000000f1'
    const pay = '0 0 0 0 1 CALLER GAS CALL POP '
    await node.override(payer, { code: toHex(assemble(pay.repeat(30))), balance: 10n ** 18n })
    for (let i = 0; i < 3; i++) {
      await node.request({
        method: 'eth_sendTransaction',
        params: [{ from: chain.alice, to: payer, gas: '0x1e8480' }],
      })
    }
    const seen: string[] = []
    let query = ''
    for (let pages = 0; pages < 3; pages++) {
      const page = await list(`addresses/${payer}/internal-transactions?${query}`)
      expect(page.items.flatMap((item) => misfits(item, 'InternalTransaction'))).toEqual([])
      seen.push(...page.items.map((item) => `${item.transaction_hash} ${item.index}`))
      if (page.next_page_params === null) break
      query = queryOf(page.next_page_params)
    }
    expect(seen).toHaveLength(90)
    expect(new Set(seen).size).toBe(90)
    const [hash] = seen[0]?.split(' ') ?? []
    const { items } = await list(`transactions/${hash}/internal-transactions`)
    expect(items).toHaveLength(30)
    expect(items[0]).toMatchObject({
      type: 'call',
      value: '1',
      success: true,
      from: { hash: payer },
      to: { hash: chain.alice },
    })
  })

  it('is counted, for accounts and tokens', async () => {
    const { body } = await get(`addresses/${BOB}/counters`)
    expect(misfits(body, 'AddressCounters')).toEqual([])
    expect(body).toMatchObject({ token_transfers_count: '4', gas_usage_count: '0' })
    const sent = (await get(`addresses/${chain.alice}/counters`)).body
    expect(Number(sent.transactions_count)).toBeGreaterThan(5)
    expect(Number(sent.gas_usage_count)).toBeGreaterThan(21_000)
    const token = await get(`tokens/${chain.deed}/counters`)
    expect(misfits(token.body, 'TokenCounters')).toEqual([])
    expect(token.body).toEqual({ token_holders_count: '1', transfers_count: '1' })
    expect((await get(`tokens/${BOB}/counters`)).status).toBe(404)
  })

  it('has the tokens of ERC-721 by owner', async () => {
    const { items } = await list(`tokens/${chain.deed}/instances?holder_address_hash=${BOB}`)
    expect(items).toMatchObject([{ id: '7', owner: { hash: BOB }, token: { symbol: 'DEED' } }])
    expect((await list(`tokens/${chain.deed}/instances?holder_address_hash=${CAROL}`)).items).toEqual([])
    expect((await get(`tokens/${chain.deed}/instances?holder_address_hash=x`)).status).toBe(422)
  })
})

describe('the search and figures of Blockscout’s API', () => {
  it('find blocks, transactions, accounts and tokens', async () => {
    const find = async (text: string) => (await list(`search?q=${text}`)).items
    const [token] = await find('tandem')
    expect(misfits(token, 'SearchResultToken')).toEqual([])
    const [account] = await find(BOB)
    expect(misfits(account, 'SearchResultAddressOrContract')).toEqual([])
    const [block] = await find('3')
    expect(misfits(block, 'SearchResultBlock')).toEqual([])
    const [{ hash } = {}] = (await list('transactions')).items
    const [transaction] = await find(String(hash))
    expect(misfits(transaction, 'SearchResultTransaction')).toEqual([])
    expect([token, account, block, transaction].map((each) => each?.type)).toEqual([
      'token',
      'address',
      'block',
      'transaction',
    ])
    expect(await find('nothing of this name')).toEqual([])
  })

  it('are those of the newest blocks', async () => {
    const { body } = await get('stats')
    expect(misfits(body, 'StatsResponse')).toEqual([])
    const height = Number(await node.request({ method: 'eth_blockNumber' }))
    expect(body).toMatchObject({ total_blocks: String(height + 1), average_block_time: 1000 })
  })
})
