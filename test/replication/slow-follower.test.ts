/** Followers that read more slowly than the leader writes: nobody waits for them, and they miss nothing. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type Hex, toHex } from '../../src/encoding/hex.ts'
import type { Node } from '../../src/index.ts'
import { newCluster, randomChanges, rpc, storyOf, type TestCluster, until } from '../support/cluster.ts'
import { callAt, processCluster, readinessOf } from '../support/cluster-processes.ts'
import { type NatsServer, natsServer } from '../support/nats-server.ts'
import { tcpProxy } from '../support/tcp-proxy.ts'
import { describeWith, NATS_SERVER } from '../support/tools.ts'

/** What the stopped follower misses; the script has more than the 64 for which a server disconnects a client. */
const MEGABYTES = process.env.CLUSTER_ROUNDS === undefined ? 20 : 100

describeWith(NATS_SERVER, 'a slow follower', () => {
  let nats: NatsServer
  let cluster: TestCluster
  let processes: ReturnType<typeof processCluster> | undefined

  beforeAll(async () => {
    nats = await natsServer()
  })
  afterEach(async () => {
    await cluster.close()
    await processes?.remove()
  })
  afterAll(() => nats.remove())

  const heightOf = (node: Node) => node.engine.queries.head().block.header.number
  const addressOf = (n: number): Hex => `0x${n.toString(16).padStart(40, '8')}`

  it('on a slow network lags without slowing others, reports it, and finally has the same events', async () => {
    cluster = newCluster(nats.url, { maxLag: 1 })
    const leader = await cluster.start({ role: 'leader' })
    const fast = await cluster.start({ role: 'follower' })
    const proxy = await tcpProxy(nats.port)
    const slow = await cluster.start({ role: 'follower', cluster: proxy.url })
    const stories = await Promise.all([leader, slow].map(storyOf))
    proxy.slowDown(20_000)
    const code = new Uint8Array(200_000).fill(0x5b)
    await leader.engine.dev.editState([{ address: addressOf(1), code }])
    await randomChanges([leader, fast], 40, 5)
    await until(() => heightOf(fast) === heightOf(leader), 'the head on the fast follower')
    expect(heightOf(slow)).toBeLessThan(heightOf(leader))
    await until(async () => (await slow.health())?.cluster?.isLate === true, 'a lag that is reported')
    expect((await fast.health())?.cluster?.isLate).toBe(false)
    proxy.heal()
    const headOf = (node: Node) => node.engine.queries.head().hash
    await until(() => headOf(slow) === headOf(leader), 'the head on the slow follower', 40)
    await until(async () => (await slow.health())?.cluster?.isLate === false, 'no lag')
    const [first, second] = stories
    await until(() => second?.pending.length === first?.pending.length, 'the last notification')
    expect(second).toMatchObject({ heads: first?.heads, logs: first?.logs, pending: first?.pending })
    expect(await rpc(slow, 'eth_getCode', addressOf(1), 'latest')).toBe(toHex(code))
    await cluster.stop(slow)
    await proxy.close()
  })

  it(`that is stopped while ${MEGABYTES} MB are written continues where it was`, async () => {
    cluster = newCluster(nats.url)
    const leader = await cluster.start({ role: 'leader' })
    processes = processCluster(nats.url, cluster.clusterName, ['--role', 'follower'])
    const follower = await processes.start('slow')
    follower.child.kill('SIGSTOP')
    const codeOf = (n: number) => new Uint8Array(1 << 20).fill(n)
    for (let n = 1; n <= MEGABYTES; n += 10) {
      const numbers = Array.from({ length: 10 }, (_, i) => n + i)
      await leader.engine.dev.editState(numbers.map((k) => ({ address: addressOf(k), code: codeOf(k) })))
    }
    const [from] = await rpc(leader, 'eth_accounts')
    const hash = await rpc(leader, 'eth_sendTransaction', { from, to: from })
    follower.child.kill('SIGCONT')
    await until(async () => (await readinessOf(follower))?.head === 1, 'the block after them', 40)
    expect(await callAt(follower.url, 'eth_getTransactionReceipt', hash)).toMatchObject({
      blockNumber: '0x1',
    })
    for (const n of [1, MEGABYTES]) {
      expect((await callAt(follower.url, 'eth_getCode', addressOf(n), 'latest')) === toHex(codeOf(n))).toBe(
        true,
      )
    }
  })
})
