/** The REST interfaces of Esplora and Blockbook, over a socket. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ServedBitcoin } from './bitcoin-server.ts'

describe('REST', () => {
  let node: ServedBitcoin
  let address: string
  let payee: string
  let id: string
  const json = async (path: string): Promise<unknown> => {
    const response = await node.get(path)
    expect(response.status, path).toBe(200)
    return response.json()
  }
  const text = async (path: string) => (await node.get(path)).text()
  beforeAll(async () => {
    node = await ServedBitcoin.start()
    await node.call('createwallet', ['w'])
    address = await node.call('getnewaddress')
    payee = await node.call('getnewaddress', ['', 'legacy'])
    await node.call('generatetoaddress', [101, address])
    id = await node.call('sendtoaddress', [payee, '0.5'])
    await node.call('generatetoaddress', [1, address])
  })
  afterAll(() => node.server.close())

  it('has the paths of Blockbook', async () => {
    expect(await json(`/api/v2/address/${payee}`)).toMatchObject({
      address: payee,
      balance: '50000000',
      txs: 1,
      txids: [id],
    })
    expect(await json(`/api/v1/utxo/${payee}`)).toEqual([
      expect.objectContaining({
        txid: id,
        amount: '0.5',
        satoshis: 50_000_000,
        height: 102,
        confirmations: 1,
      }),
    ])
    expect(await json(`/api/v2/utxo/${payee}`)).toMatchObject([{ txid: id, value: '50000000' }])
    expect(await json(`/api/v1/tx/${id}`)).toMatchObject({
      txid: id,
      confirmations: 1,
      blockheight: 102,
      vout: expect.arrayContaining([expect.objectContaining({ value: '0.5' })]),
    })
    expect(await json(`/api/v2/tx/${id}`)).toMatchObject({
      txid: id,
      blockHeight: 102,
      vin: [{ addresses: [address] }],
    })
    expect(await json('/api/v1/estimatefee/2')).toEqual({ result: '0.0002' })
    expect(await json('/api/v2')).toMatchObject({ blockbook: { bestHeight: 102 } })
  })

  it('has the paths of Esplora', async () => {
    const hash = await node.call<string>('getbestblockhash')
    expect(await text('/blocks/tip/height')).toBe('102')
    expect(await text('/blocks/tip/hash')).toBe(hash)
    expect(await text('/block-height/102')).toBe(hash)
    expect(await json(`/block/${hash}`)).toMatchObject({ id: hash, height: 102, tx_count: 2 })
    expect(await json(`/tx/${id}`)).toMatchObject({
      txid: id,
      status: { confirmed: true, block_height: 102 },
    })
    expect(await json(`/tx/${id}/merkle-proof`)).toMatchObject({
      block_height: 102,
      pos: 1,
      merkle: [expect.any(String)],
    })
    expect(await json(`/address/${payee}`)).toMatchObject({
      chain_stats: { funded_txo_sum: 50_000_000, spent_txo_sum: 0 },
    })
    expect(await json(`/address/${payee}/utxo`)).toMatchObject([{ txid: id, value: 50_000_000 }])
    expect(await json('/api/blocks')).toHaveLength(10)
    expect(await text(`/tx/${id}/hex`)).toBe(await node.call('getrawtransaction', [id]))
  })

  it('broadcasts', async () => {
    const plain = await node.call<string>('createrawtransaction', [[], { [address]: '0.1' }])
    const { hex } = await node.call<{ hex: string }>('fundrawtransaction', [plain])
    const signed = await node.call<{ hex: string }>('signrawtransactionwithwallet', [hex])
    const { result } = (await json(`/api/v2/sendtx/${signed.hex}`)) as { result: string }
    expect(await node.call('getrawmempool')).toEqual([result])
    expect(await (await fetch(`${node.server.url}/tx`, { method: 'POST', body: signed.hex })).text()).toBe(
      result,
    )
    expect((await node.get('/api/v2/sendtx/00')).status).toBe(400)
  })

  it('refuses what is not there', async () => {
    expect((await node.get(`/tx/${'ab'.repeat(32)}`)).status).toBe(404)
    expect((await node.get('/address/nowhere')).status).toBe(400)
    expect((await node.get('/somewhere')).status).toBe(404)
  })
})
