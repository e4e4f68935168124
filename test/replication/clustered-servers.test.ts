/** Three nats-servers that keep copies of a cluster's log: one may end. */
import { it } from 'vitest'
import { newCluster, rpc, until } from '../support/cluster.ts'
import { natsCluster } from '../support/nats-server.ts'
import { describeWith, NATS_SERVER } from '../support/tools.ts'

/** `npm run test:cluster` sets it: the servers end one after another. */
const IS_LONG = process.env.CLUSTER_ROUNDS !== undefined

describeWith(NATS_SERVER, 'three clustered nats-servers', () => {
  it('continue after the loss of one server', async () => {
    const { url, servers } = await natsCluster()
    const cluster = newCluster(url, { clusterReplicas: 3 })
    const leader = await cluster.start({ role: 'leader' })
    const follower = await cluster.start({ role: 'follower' })
    const [from] = await rpc(leader, 'eth_accounts')
    const hashes = [await rpc(follower, 'eth_sendTransaction', { from, to: from })]
    for (const server of IS_LONG ? servers : servers.slice(0, 1)) {
      await server.kill()
      await until(
        () =>
          rpc(follower, 'eth_sendTransaction', { from, to: from }).then(
            (hash) => hashes.push(hash) > 0,
            () => false,
          ),
        'a write with two servers',
        40,
      )
      await server.restart()
    }
    // A follower answers a change that is made although it has not caught up with the log in time.
    for (const hash of hashes) {
      const hasReceipt = async () => (await rpc(follower, 'eth_getTransactionReceipt', hash)) !== null
      await until(hasReceipt, `the receipt of ${hash}`)
    }
    await cluster.close()
    await Promise.all(servers.map((server) => server.remove()))
  })
})
