/** Peer scoring: counters, bans, and what of them survives a restart. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openPeers } from '../../../src/engine/peers/peer-scoring.ts'
import { nextScore, type PeerEvent } from '../../../src/engine/peers/score.ts'
import { openStore, type Store } from '../../../src/store/level.ts'

const STRANGER = '203.0.113.7'
const directories: string[] = []
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true })
})

const memory = async () => openPeers(await openStore({ chain: 'regtest', chainId: 33 }))

describe('peer scoring', () => {
  it('counts by address, the most recently active last', async () => {
    const peers = await memory()
    peers.recordEvent(STRANGER, 'successfulHandshakes')
    peers.recordEvent('2001:db8::1', 'successfulHandshakes')
    peers.recordEvent(STRANGER, 'validTransactions')
    expect(peers.list().map(({ address }) => address)).toEqual(['2001:db8::1', STRANGER])
    expect(peers.list()[1]).toMatchObject({
      successfulHandshakes: 1,
      validTransactions: 1,
      invalidTransactions: 0,
      score: 1,
      isBanned: false,
    })
    await peers.clearScore(STRANGER)
    expect(peers.list()).toHaveLength(1)
  })

  it('does not count callers on this machine', async () => {
    const peers = await memory()
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '']) peers.recordEvent(address, 'invalidMessages')
    expect(peers.list()).toEqual([])
  })

  it('keeps a thousand callers, and drops the least recently active', async () => {
    const peers = await memory()
    for (let i = 0; i <= 1000; i++) {
      peers.recordEvent(`10.0.${i >> 8}.${i & 255}`, 'successfulHandshakes')
      peers.recordEvent('10.0.0.0', 'validBlocks')
    }
    const kept = peers.list()
    expect(kept).toHaveLength(1000)
    expect(kept.at(-1)).toMatchObject({ address: '10.0.0.0', score: 1001 })
    expect(kept.some(({ address }) => address === '10.0.0.1')).toBe(false)
  })

  it.each<[PeerEvent[], number]>([
    [['validBlocks', 'validTransactions'], 2],
    [['validBlocks', 'validBlocks', 'invalidMessages'], -1],
    [['invalidBlocks', 'invalidTransactions', 'validBlocks'], -2],
    [['successfulHandshakes', 'failedHandshakes', 'timeoutMessages', 'unexpectedMessages'], 0],
  ])('%j has score %i', (events, score) => {
    expect(events.reduce(nextScore, 0)).toBe(score)
  })
})

describe('bans', () => {
  it('apply to addresses and ranges, until they are removed', async () => {
    const peers = await memory()
    peers.recordEvent(STRANGER, 'successfulHandshakes')
    let bans = 0
    const stop = peers.onBan(() => bans++)
    expect(await peers.ban('203.0.113.9/24')).toBe(true)
    expect(await peers.ban('203.0.113.0/24')).toBe(true)
    expect(await peers.ban('2001:db8::1')).toBe(true)
    expect(bans).toBe(2)
    stop()
    expect(peers.banned()).toEqual(['2001:db8::1', '203.0.113.9/24'])
    expect(
      [STRANGER, '2001:db8::1', '203.0.114.7', '2001:db8::2', '127.0.0.1'].map((address) =>
        peers.isBanned(address),
      ),
    ).toEqual([true, true, false, false, false])
    expect(peers.list()[0]).toMatchObject({ isBanned: true, punishments: 1 })
    expect(await peers.unban('203.0.113.0/24')).toBe(true)
    expect(peers.isBanned(STRANGER)).toBe(false)
    expect(peers.list()[0]).toMatchObject({ isBanned: false, punishments: 1 })
  })

  it('never apply to loopback addresses, whatever the range', async () => {
    const peers = await memory()
    expect(await peers.ban('126.0.0.0/7')).toBe(true)
    expect([peers.isBanned('126.1.1.1'), peers.isBanned('127.0.0.1')]).toEqual([true, false])
  })

  it('are refused for texts that are not an address or a range', async () => {
    const peers = await memory()
    expect(await peers.ban('127.0.0.1')).toBe(false)
    expect(await peers.unban('nowhere')).toBe(false)
    expect(peers.banned()).toEqual([])
  })
})

describe('peer scoring on disk', () => {
  async function reopened(
    change: (peers: Awaited<ReturnType<typeof openPeers>>) => Promise<void>,
    end: boolean,
  ) {
    const dataDir = mkdtempSync(join(tmpdir(), 'peers-'))
    directories.push(dataDir)
    const open = () => openStore({ dataDir, chain: 'regtest', chainId: 33 })
    let store: Store = await open()
    const peers = await openPeers(store)
    await change(peers)
    if (end) await peers.close()
    await store.close()
    store = await open()
    const after = await openPeers(store)
    const seen = { banned: after.banned(), list: after.list() }
    await store.close()
    return seen
  }

  it('writes bans at once, in their order, and deletes removed ones', async () => {
    const { banned } = await reopened(async (peers) => {
      for (const text of ['203.0.113.9', '198.51.100.0/24', '192.0.2.1', '10.0.0.0/8']) await peers.ban(text)
      await peers.unban('192.0.2.1')
    }, false)
    expect(banned).toEqual(['203.0.113.9', '198.51.100.0/24', '10.0.0.0/8'])
  })

  it('has the counters of a closed node, without the deleted ones', async () => {
    const { list } = await reopened(async (peers) => {
      peers.recordEvent(STRANGER, 'invalidMessages')
      peers.recordEvent('192.0.2.1', 'validBlocks')
      await peers.ban('203.0.113.0/24')
      await peers.clearScore('192.0.2.1')
      peers.recordEvent(STRANGER, 'failedHandshakes')
    }, true)
    expect(list).toMatchObject([
      {
        address: STRANGER,
        invalidMessages: 1,
        failedHandshakes: 1,
        score: -1,
        punishments: 1,
        isBanned: true,
      },
    ])
  })
})
