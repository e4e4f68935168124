/** What an operator sees of a cluster: its status, readiness and metrics, and the end of its leader. */
import { Kvm } from '@nats-io/kv'
import { connect } from '@nats-io/transport-node'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { serve } from '../../src/index.ts'
import { readClusterStatus } from '../../src/replication/status.ts'
import { newCluster, type TestCluster, until } from '../support/cluster.ts'
import { callAt, leaderAmong, processCluster, startClient } from '../support/cluster-processes.ts'
import { runCommand } from '../support/command.ts'
import { type NatsServer, natsServer } from '../support/nats-server.ts'
import { tcpProxy } from '../support/tcp-proxy.ts'
import { describeWith, NATS_SERVER } from '../support/tools.ts'

describeWith(NATS_SERVER, 'operating a cluster', () => {
  let nats: NatsServer
  let cluster: TestCluster | undefined
  let processes: ReturnType<typeof processCluster> | undefined

  beforeAll(async () => {
    nats = await natsServer()
  })
  afterEach(async () => {
    await cluster?.close()
    await processes?.remove()
  })
  afterAll(() => nats.remove())

  it('hands over at once when the leader is stopped, and shows its nodes', async () => {
    processes = processCluster(nats.url, 'operating')
    const leader = await processes.start('a', ['--role', 'leader'])
    const other = await processes.start('b')
    const where = ['--cluster', nats.url, '--cluster-name', 'operating']
    // A node announces its role and term every 800 ms, and may have done so last before it took the lease.
    await until(
      async () => (await readClusterStatus({ url: nats.url, name: 'operating' })).term > 0,
      'an announcement of the leader',
    )
    const shown = await runCommand(['cluster', 'status', ...where, '--json'])
    expect(shown).toMatchObject({ code: 0, stderr: '' })
    const status = JSON.parse(shown.stdout)
    expect(Object.keys(status)).toEqual(['term', 'leader', 'nodes'])
    expect(status.term).toBe(1)
    expect(status.nodes.map(({ role }: { role: string }) => role).sort()).toEqual(['follower', 'leader'])
    const leading = status.nodes.find(({ role }: { role: string }) => role === 'leader')
    expect(leading).toEqual({ id: status.leader, role: 'leader', head: 0, lag: expect.any(Number) })

    const [from] = await callAt(other.url, 'eth_accounts')
    const client = startClient(() => other.url, from)
    await until(() => client.acknowledged.length > 3, 'transactions')
    expect(await leader.end('SIGTERM')).toBe(0)
    const count = client.acknowledged.length
    await until(() => client.acknowledged.length > count + 3, 'transactions after the handover')
    await client.stop()
    for (const failure of client.failures) expect(failure).toMatch(/^-32002 .*; try again$/)
    for (const hash of client.acknowledged) {
      expect(await callAt(other.url, 'eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
    }
    await until(async () => (await leaderAmong([other])) === other, 'an answer of the new leader')
    expect(await (await fetch(`${other.url}/readyz`)).json()).toEqual({
      status: 'ok',
      head: client.acknowledged.length,
      role: 'leader',
      term: 2,
      lag: expect.any(Number),
    })
    const { stdout } = await runCommand(['cluster', 'status', ...where])
    expect(stdout).toMatch(
      /^Term 2, leader ([0-9a-f]{8}), nodes: 1\.\n\1 {2}leader {4}head \d+ {2}lag [\d.]+ s\n$/,
    )
    expect(
      await runCommand(['cluster', 'status', '--cluster', nats.url, '--cluster-name', 'none']),
    ).toMatchObject({
      code: 1,
      stderr: `tandem: There is no cluster none at ${nats.url}.\n`,
    })
  })

  it('shows each node once, also while nodes announce themselves', async () => {
    cluster = newCluster(nats.url)
    await cluster.start({ role: 'leader' })
    const connection = await connect({ servers: nats.url })
    const bucket = await new Kvm(connection).open(`tandem-${cluster.clusterName}-presence`)
    const entry = { role: 'follower', head: 0, lag: 0, term: 1 }
    let isReading = true
    const announcing = ['a', 'b', 'c'].map(async (id) => {
      while (isReading) await bucket.put(`node.${id}`, JSON.stringify({ id, ...entry }))
    })
    for (let i = 0; i < 20; i++) {
      const { nodes } = await readClusterStatus({ url: nats.url, name: cluster.clusterName })
      expect(nodes.map(({ id }) => id)).toEqual([...new Set(nodes.map(({ id }) => id))])
    }
    isReading = false
    await Promise.all(announcing)
    await connection.close()
  })

  it('is not ready when no message of the leader has arrived for longer than --max-lag', async () => {
    cluster = newCluster(nats.url, { maxLag: 1 })
    await cluster.start({ role: 'leader' })
    const proxy = await tcpProxy(nats.port)
    const follower = await cluster.start({ role: 'follower', cluster: proxy.url })
    const server = await serve(follower, { port: 0 })
    const ready = async () => {
      const response = await fetch(`${server.url}/readyz`)
      return { code: response.status, ...((await response.json()) as object) }
    }
    expect(await ready()).toMatchObject({ code: 200, status: 'ok', head: 0, role: 'follower', term: 1 })
    proxy.cut()
    await until(async () => (await ready()).code === 503, 'a lag')
    expect(await ready()).toMatchObject({ status: 'lagging', role: 'follower' })
    proxy.heal()
    await until(async () => (await ready()).code === 200, 'no lag')
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    expect(metrics).toMatch(/^tandem_cluster_leader 0$/m)
    expect(metrics).toMatch(/^tandem_cluster_term 1$/m)
    expect(metrics).toMatch(/^tandem_cluster_lag_seconds \d/m)
    expect(metrics).toMatch(/^tandem_cluster_elections_total 0$/m)
    expect(metrics).toMatch(/^tandem_cluster_forwarded_total \d+$/m)
    await server.close()
    await cluster.stop(follower)
    await proxy.close()
  })
})
