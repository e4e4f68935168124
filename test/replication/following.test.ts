/** A leader and followers in one process over a real nats-server: the chain of one is that of all. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Node, NodeOptions } from '../../src/index.ts'
import { PREFIX } from '../../src/store/tables.ts'
import { newCluster, randomChanges, rpc, storyOf, type TestCluster, until } from '../support/cluster.ts'
import { logRecords } from '../support/nats-log.ts'
import { type NatsServer, natsServer } from '../support/nats-server.ts'
import { describeWith, NATS_SERVER } from '../support/tools.ts'

describeWith(NATS_SERVER, 'a follower', () => {
  let nats: NatsServer
  let cluster: TestCluster

  beforeAll(async () => {
    nats = await natsServer()
  })
  afterEach(() => cluster.close())
  afterAll(() => nats.remove())

  async function pair(options: NodeOptions = {}): Promise<{ leader: Node; follower: Node; sender: string }> {
    cluster = newCluster(nats.url, options)
    const leader = await cluster.start({ role: 'leader' })
    const follower = await cluster.start({ role: 'follower' })
    const [sender] = await rpc(leader, 'eth_accounts')
    return { leader, follower, sender }
  }

  it('reads a block that was mined on the leader, and its own writes', async () => {
    const { leader, follower, sender } = await pair()
    const to = `0x${'77'.repeat(20)}`
    const hash = await rpc(follower, 'eth_sendTransaction', { from: sender, to, value: '0x5' })
    const receipt = await rpc(follower, 'eth_getTransactionReceipt', hash)
    expect(receipt).toEqual(await rpc(leader, 'eth_getTransactionReceipt', hash))
    expect(receipt.blockNumber).toBe('0x1')
    expect(await rpc(follower, 'eth_getBalance', to, 'latest')).toBe('0x5')
    expect(await rpc(follower, 'eth_getBlockByNumber', '0x1', true)).toEqual(
      await rpc(leader, 'eth_getBlockByNumber', '0x1', true),
    )
  })

  it('has the pool of the leader', async () => {
    const { leader, follower, sender } = await pair({ mining: 'manual' })
    const hash = await rpc(follower, 'eth_sendTransaction', { from: sender, to: sender, value: '0x1' })
    expect(await rpc(follower, 'eth_getTransactionByHash', hash)).toMatchObject({ hash, blockHash: null })
    expect(follower.engine.queries.poolSize()).toEqual({ pending: 1, queued: 0 })
    expect(await rpc(follower, 'eth_getTransactionCount', sender, 'pending')).toBe('0x1')
    expect(await rpc(follower, 'txpool_status')).toEqual({ pending: 1, queued: 0 })
    await rpc(follower, 'evm_mine')
    expect(follower.engine.queries.poolSize()).toEqual({ pending: 0, queued: 0 })
    expect(await rpc(leader, 'eth_blockNumber')).toBe('0x1')
    expect(await rpc(follower, 'eth_getTransactionByHash', hash)).toMatchObject({ hash, blockNumber: '0x1' })
  })

  it('gets the blocks of transactions that were sent at once in one record, and the events of each', async () => {
    const { leader, follower, sender } = await pair()
    const stories = await Promise.all([leader, follower].map(storyOf))
    const count = 16
    const hashes: string[] = await Promise.all(
      Array.from({ length: count }, (_, i) =>
        rpc([leader, follower][i % 2] as Node, 'eth_sendTransaction', { from: sender, to: sender }),
      ),
    )
    await until(async () => (await rpc(follower, 'eth_blockNumber')) === '0x10', 'the last block')
    await until(() => stories.every(({ pending }) => pending.length === count), 'the pending transactions')
    const [ofLeader, ofFollower] = stories
    expect(ofFollower?.heads).toEqual(ofLeader?.heads)
    expect(ofFollower?.pending).toEqual(ofLeader?.pending)
    expect(new Set(ofLeader?.pending)).toEqual(new Set(hashes.map((hash) => JSON.stringify(hash))))
    const records = await logRecords(nats.url, cluster.clusterName)
    const heights = records.map(({ changes }) =>
      changes.filter(({ prefix, type }) => prefix === PREFIX.canonical && type === 'put'),
    )
    const largest = heights.reduce(
      (most, puts, i) => (puts.length > (heights[most]?.length ?? 0) ? i : most),
      0,
    )
    expect(heights[largest]?.length).toBeGreaterThan(1)
    expect(records[largest]?.pooled.length).toBe(heights[largest]?.length)
  })

  it('notifies its subscribers and fills its filters as the leader does', async () => {
    const { leader, follower } = await pair()
    const second = await cluster.start({ role: 'follower' })
    const nodes = [leader, follower, second]
    const stories = await Promise.all(nodes.map(storyOf))
    await randomChanges(nodes, 60, 16)
    const [first, ...others] = stories
    const head = await rpc(leader, 'eth_getBlockByNumber', 'latest', false)
    await Promise.all(
      nodes.map((node) =>
        until(
          async () => (await rpc(node, 'eth_getBlockByNumber', 'latest', false)).hash === head.hash,
          'the same head',
        ),
      ),
    )
    await until(
      () => others.every(({ pending }) => pending.length === first?.pending.length),
      'the last pending transactions',
    )
    expect(first?.logs.some((log) => log.includes('"removed":true'))).toBe(true)
    const polled = await first?.poll()
    for (const other of others) {
      expect(other.heads).toEqual(first?.heads)
      expect(other.logs).toEqual(first?.logs)
      expect(other.pending).toEqual(first?.pending)
      expect(await other.poll()).toEqual(polled)
    }
  })
})
