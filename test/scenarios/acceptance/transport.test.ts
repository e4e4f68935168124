/** Acceptance checks of the chain's RPC by their numbers, over HTTP: transport, envelope and node information. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RpcReply, type ServedNode, servedNode } from '../../support/served-node.ts'
import { A, B, callsTo } from './calls.ts'

let t: ServedNode
const { reply, error } = callsTo(() => t)

afterEach(() => t.close())

describe('an automining node', () => {
  beforeEach(async () => {
    t = await servedNode({ rpcTimeoutMs: 20_000 })
  })

  it('1–22, 25: transport and envelope', async () => {
    expect((await fetch(t.url)).status).toBe(405)
    const text = await fetch(t.url, { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: '{}' })
    expect(text.status).toBe(415)
    const call = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
    expect((await t.post(call, { 'Content-Type': 'application/json-rpc' })).body.result).toBe('0x21')
    expect((await t.post(call, {}, '/any/path')).body.result).toBe('0x21')
    expect(await t.post('not json')).toMatchObject({
      status: 200,
      body: { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'JSON parse error' } },
    })
    expect((await t.post('5')).body).toMatchObject({
      id: null,
      error: { code: -32600, message: 'invalid request' },
    })
    expect((await t.post('[]')).body).toMatchObject({ id: null, error: { code: -32600 } })
    expect(await reply('eth_nope', [])).toEqual({
      jsonrpc: '2.0',
      id: expect.any(Number),
      error: { code: -32601, message: 'method not found' },
    })
    expect(await error('eth_blockNumber', [1])).toEqual({
      code: -32602,
      message: 'method parameters invalid',
    })
    for (const params of [undefined, null, {}])
      expect((await reply('eth_blockNumber', params)).result).toBe('0x0')
    expect(await error('eth_getBalance', { address: A })).toEqual({
      code: -32602,
      message: 'method parameters invalid',
    })
    for (const id of ['"abc"', '9999999999', '1.5']) {
      const { body } = await t.post(`{"jsonrpc":"2.0","id":${id},"method":"eth_chainId"}`)
      expect(body).toEqual({ jsonrpc: '2.0', id: JSON.parse(id), result: '0x21' })
    }
    expect((await t.post('{"id":1,"method":"eth_chainId"}')).body.result).toBe('0x21')
    expect((await t.post('{"jsonrpc":"2.0","method":"eth_blockNumber"}')).text).toBe('')
    const three = await t.post<RpcReply[]>(
      `[${call},${call.replace('1,"m', '2,"m')},${call.replace('1,"m', '3,"m')}]`,
    )
    expect(three.body.map(({ id }) => id)).toEqual([1, 2, 3])
    const mixed = (await t.post<RpcReply[]>(`[${call},{"jsonrpc":"2.0","id":2,"method":"nope"},1]`)).body
    expect([mixed[0]?.result, mixed[1]?.error.code, mixed[2]?.error.code]).toEqual(['0x21', -32601, -32600])
    expect((await t.post(`[${Array(51).fill(call)}]`)).body.error).toEqual({
      code: -32600,
      message: 'Cannot dispatch batch requests. 50 is the max number of supported batch requests',
    })
    expect((await t.post(`[${Array(50).fill(call)}]`)).body).toHaveLength(50)
    expect((await t.post(`"${'x'.repeat(6 * 1024 * 1024)}"`)).status).toBe(413)
    const deep = await t.post('['.repeat(1200) + ']'.repeat(1200))
    expect(deep.body.error.code).toBe(-32600)
    expect((await t.post(call)).body.result).toBe('0x21')
  })

  it('26–39: web3, net, rpc and the chain', async () => {
    expect(await t.call('web3_sha3', '0x68656c6c6f20776f726c64')).toBe(
      '0x47173285a8d7341e5e972fc677286384f802f8ef42a5ec5f03bbfa254cb01fad',
    )
    expect(await t.call('web3_sha3', '0x1')).toBe(await t.call('web3_sha3', '0x01'))
    for (const bad of ['68656c6c6f', '0x', '0xzz']) {
      expect(await error('web3_sha3', [bad])).toEqual({
        code: -32602,
        message: "Parameter must be hexadecimal encoded with the '0x' prefix.",
      })
    }
    expect((await t.call('web3_clientVersion')).split('/').length).toBeGreaterThanOrEqual(5)
    expect(await t.call('net_version')).toBe('33')
    expect(await t.call('net_listening')).toBeTypeOf('boolean')
    expect(await t.call('net_peerCount')).toBe('0x0')
    expect(await t.call('net_peerList')).toEqual([])
    expect(await t.call('rpc_modules')).toMatchObject({ eth: '1.0', net: '1.0', web3: '1.0', evm: '1.0' })
    expect(await t.call('eth_protocolVersion')).toBe('0x3e')
    expect(await t.call('eth_syncing')).toBe(false)
    await t.call('evm_mine')
    expect(await t.call('eth_coinbase')).toBe((await t.call('eth_getBlockByNumber', 'latest')).miner)
    expect(await t.call('eth_mining')).toBe(true)
    expect(await t.call('eth_hashrate')).toMatch(/^0x/)
    expect(await t.call('eth_netHashrate')).toBeTypeOf('number')
    expect(await t.call('eth_gasPrice')).toBe('0x0')
    expect(await t.call('eth_blockNumber')).toBe('0x1')
    const accounts = await t.call('eth_accounts')
    expect(accounts.slice(0, 2)).toEqual([A, B])
    expect(accounts).toHaveLength(11)
    expect(accounts[10]).toBe('0xec4ddeb4380ad69b3e509baad9f158cdf4e4681d')
  })
})
