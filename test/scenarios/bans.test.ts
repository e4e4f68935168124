/** Remote callers of a node are scored, banned and refused. A trusted proxy supplies the remote addresses. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startCommand } from '../support/command.ts'
import { rpc } from '../support/json-rpc.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const STRANGER = '203.0.113.7'
const from = (address: string) => ({ 'X-Forwarded-For': address })

let served: ServedNode
beforeEach(async () => {
  served = await servedNode({}, { trustedProxies: ['127.0.0.1'] })
})
afterEach(() => served.close())

const ask = (method: string, params: unknown[] = []) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

async function open(address: string): Promise<WebSocket> {
  const socket = new WebSocket(served.wsUrl, { headers: from(address) })
  await once(socket, 'open')
  return socket
}

describe('a banned address', () => {
  it('is refused by HTTP, pages included, until the ban is lifted', async () => {
    expect((await served.post(ask('eth_chainId'), from(STRANGER))).body.result).toBe('0x21')
    expect(await served.call('sco_banAddress', '203.0.113.0/24')).toBeNull()
    const refused = await served.post(ask('eth_chainId'), from(STRANGER))
    expect([refused.status, refused.body.id, refused.body.error.code]).toEqual([403, null, -32001])
    expect(refused.body.error.message).toBe('Address is banned: see sco_unbanAddress')
    expect((await fetch(new URL('/healthz', served.url), { headers: from(STRANGER) })).status).toBe(403)
    expect((await served.post(ask('eth_chainId'), from('198.51.100.1'))).status).toBe(200)
    expect((await served.post(ask('eth_chainId'))).status).toBe(200)
    await served.call('sco_unbanAddress', '203.0.113.0/24')
    expect((await served.post(ask('eth_chainId'), from(STRANGER))).status).toBe(200)
  })

  it('loses its WebSockets, and gets no new ones', async () => {
    const [stranger, other] = [await open(STRANGER), await open('198.51.100.1')]
    const closed = once(stranger, 'close')
    await served.call('sco_banAddress', STRANGER)
    const [code, reason] = await closed
    expect([code, String(reason)]).toEqual([1008, 'Address is banned'])
    const refused = new WebSocket(served.wsUrl, { headers: from(STRANGER) })
    refused.on('error', () => {})
    const [, response] = await once(refused, 'unexpected-response')
    expect(response.statusCode).toBe(403)
    const answered = once(other, 'message')
    other.send(ask('eth_chainId'))
    expect(JSON.parse(String((await answered)[0])).result).toBe('0x21')
    other.close()
  })
})

describe('peer scoring', () => {
  it('counts callers on other machines, and none on this machine', async () => {
    const sent = { to: STRANGER, value: '0x1' }
    await served.post('nonsense', from(STRANGER))
    await served.post(ask('eth_nope'), from(STRANGER))
    const [account] = await served.call('eth_accounts')
    const transaction = { from: account, to: account, value: '0x1' }
    await served.post(ask('eth_sendTransaction', [transaction]), from('198.51.100.1'))
    await served.post(ask('eth_sendTransaction', [{ ...transaction, gas: '0x1' }]), from('198.51.100.1'))
    await served.post(ask('eth_sendTransaction', [sent]), from('198.51.100.1'))
    expect(await served.call('sco_peerList')).toMatchObject([
      {
        id: STRANGER,
        type: 'address',
        goodReputation: true,
        invalidMessages: 1,
        unexpectedMessages: 1,
        score: -1,
      },
      { id: '198.51.100.1', validTransactions: 1, invalidTransactions: 1, score: -1 },
    ])
    await served.call('sco_banAddress', STRANGER)
    expect(await served.call('sco_reputationSummary')).toMatchObject({
      count: 2,
      peersTotalScore: -2,
      punishments: 1,
      goodReputationCount: 1,
      badReputationCount: 1,
    })
    expect(await served.call('sco_clearPeerScoring', '198.51.100.1')).toMatchObject([{ id: STRANGER }])
  })

  it('counts connections by the result of their handshake', async () => {
    const socket = await open(STRANGER)
    const closed = once(socket, 'close')
    await served.call('sco_banAddress', STRANGER)
    await closed
    const refused = new WebSocket(served.wsUrl, { headers: from(STRANGER) })
    refused.on('error', () => {})
    await once(refused, 'unexpected-response')
    expect(await served.call('sco_peerList')).toMatchObject([
      { id: STRANGER, successfulHandshakes: 1, failedHandshakes: 1, punishments: 1, goodReputation: false },
    ])
  })
})

describe('an acknowledged ban', () => {
  it('remains after the process is killed', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'bans-'))
    try {
      const first = await startCommand(['--data-dir', dataDir])
      expect(await rpc(first.url, 'sco_banAddress', ['2001:db8::/32'])).toBeNull()
      expect(await first.end('SIGKILL')).toBe('SIGKILL')
      const second = await startCommand(['--data-dir', dataDir])
      expect(await rpc(second.url, 'sco_bannedAddresses')).toEqual(['2001:db8::/32'])
      await second.end('SIGKILL')
    } finally {
      rmSync(dataDir, { recursive: true })
    }
  })
})
