/** Peer scoring over JSON-RPC (acceptance checks 213 to 215). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../../src/index.ts'
import { openSession } from '../../../src/rpc/session.ts'

let node: Node
beforeEach(async () => {
  node = await createNode()
})
afterEach(() => node.close())

const call = (method: string, ...params: unknown[]) => node.request({ method, params })

describe('the sco_ methods', () => {
  it('list bans until they are lifted', async () => {
    expect(await call('sco_bannedAddresses')).toEqual([])
    expect(await call('sco_banAddress', '192.168.51.1/16')).toBeNull()
    expect(await call('sco_banAddress', '2001:DB8::1')).toBeNull()
    expect(await call('sco_bannedAddresses')).toEqual(['2001:db8::1', '192.168.51.1/16'])
    expect(await call('sco_unbanAddress', '192.168.51.1/16')).toBeNull()
    expect(await call('sco_unbanAddress', '2001:db8::1')).toBeNull()
    expect(await call('sco_bannedAddresses')).toEqual([])
  })

  it.each(['127.0.0.1', '::1', '0.0.0.0', '', 'nowhere', '192.0.2.1/99'])('cannot ban %j', async (text) => {
    for (const method of ['sco_banAddress', 'sco_unbanAddress']) {
      await expect(call(method, text)).rejects.toMatchObject({
        code: -32602,
        message: `invalid banned address ${text}`,
      })
    }
  })

  it.each([[[null]], [[5]], [[{}]], [[]]])('refuse %j', async (params) => {
    await expect(call('sco_banAddress', ...params)).rejects.toMatchObject({ code: -32602 })
  })

  it('return every counter of a caller, in order', async () => {
    expect(await call('sco_peerList')).toEqual([])
    expect(Object.values((await call('sco_reputationSummary')) as object)).toEqual(Array(17).fill(0))
    node.peers.recordEvent('203.0.113.7', 'validBlocks')
    const [peer] = (await call('sco_peerList')) as object[]
    expect(Object.keys(peer as object).join(' ')).toBe(
      'id type goodReputation punishedUntil successfulHandshakes failedHandshakes invalidNetworks repeatedMessages ' +
        'validBlocks validTransactions invalidBlocks invalidTransactions invalidMessages timeoutMessages ' +
        'unexpectedMessages invalidHeader score punishments',
    )
    expect(await call('sco_clearPeerScoring', '203.0.113.7')).toEqual([])
    await expect(call('sco_clearPeerScoring', 'me')).rejects.toMatchObject({ code: -32602 })
  })

  it('count calls and errors by key and method, from their first use on', async () => {
    const ask = (owner: string, method: string, ...params: unknown[]) =>
      node.dispatcher.request(method, params, { ...openSession('test'), owner })
    expect(await ask('', 'sco_keyUsage')).toEqual([])
    await ask('ci', 'eth_chainId')
    await ask('ci', 'eth_chainId')
    await ask('dev', 'eth_chainId')
    await expect(ask('ci', 'eth_getBalance', 'nobody')).rejects.toMatchObject({ kind: 'invalid-params' })
    await expect(ask('', 'no_such')).rejects.toMatchObject({ kind: 'method-not-found' })
    const usage = (await ask('', 'sco_keyUsage')) as { key: string; method: string; seconds: number }[]
    expect(usage.map(({ seconds, ...counts }) => counts)).toEqual(
      expect.arrayContaining([
        { key: 'ci', method: 'eth_chainId', calls: 2, errors: 0 },
        { key: 'ci', method: 'eth_getBalance', calls: 1, errors: 1 },
        { key: 'dev', method: 'eth_chainId', calls: 1, errors: 0 },
        { key: '', method: 'unknown', calls: 1, errors: 1 },
      ]),
    )
    for (const { seconds } of usage) expect(seconds).toBeGreaterThanOrEqual(0)
  })
})
