/** Who may join a cluster, and with what a node begins. */
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { NodeOptions } from '../../src/index.ts'
import { createNode } from '../../src/index.ts'
import { newCluster, rpc, type TestCluster, until } from '../support/cluster.ts'
import { type NatsServer, natsServer } from '../support/nats-server.ts'
import { tcpProxy } from '../support/tcp-proxy.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { describeWith, NATS_SERVER } from '../support/tools.ts'

describeWith(NATS_SERVER, 'joining a cluster', () => {
  let nats: NatsServer
  let cluster: TestCluster

  beforeAll(async () => {
    nats = await natsServer()
  })
  afterEach(() => cluster.close())
  afterAll(() => nats.remove())

  /** Why a node does not start. */
  const refusal = (options: NodeOptions): Promise<string> =>
    cluster.start(options).then(
      () => 'none',
      (error) => `${error.kind}: ${error.message}`,
    )

  /** Mines a block with a transaction; its hash. */
  async function mine(node: Parameters<typeof rpc>[0]): Promise<string> {
    const [from] = await rpc(node, 'eth_accounts')
    return rpc(node, 'eth_sendTransaction', { from, to: from })
  }

  it('is refused with a message for another chain, genesis or data directory', async () => {
    cluster = newCluster(nats.url)
    await cluster.start({ role: 'leader' })
    const { clusterName } = cluster
    expect(await refusal({ chainId: 99 })).toBe(
      `cluster: The cluster ${clusterName} runs chain regtest (chain id 33), and this node regtest (chain id 99).`,
    )
    expect(await refusal({ chain: 'testnet' })).toBe(
      `cluster: The cluster ${clusterName} runs chain regtest (chain id 33), and this node testnet (chain id 31).`,
    )
    expect(await refusal({ deactivate: ['rskip398'] })).toBe(
      `cluster: The cluster ${clusterName} has no other rules than its network, and this node rskip398 never: ` +
        'start it with the rules of the other nodes (--rules).',
    )
    expect(await refusal({ accountBalance: 5n })).toMatch(
      /^cluster: The chain of the cluster \S+ began with block 0x[0-9a-f]{64}, and this node's settings make 0x[0-9a-f]{64}: its genesis, accounts or balances are others\.$/,
    )
    const dataDir = join(temporaryFolder(), 'own')
    const own = await createNode({ dataDir })
    await mine(own)
    await own.close()
    expect(await refusal({ dataDir })).toBe(
      `cluster: The data directory has a chain of its own, which is not that of the cluster ${clusterName}. Choose an empty directory.`,
    )
    const other = newCluster(nats.url)
    const member = join(temporaryFolder(), 'member')
    await other.start({ dataDir: member })
    await other.close()
    expect(await refusal({ dataDir: member })).toBe(
      `cluster: The data directory follows another cluster than the present ${clusterName}. Choose another directory.`,
    )
    expect(await refusal({ cluster: 'nats://127.0.0.1:1' })).toMatch(
      /^cluster: NATS at nats:\/\/127\.0\.0\.1:1 cannot be used: .*\.$/,
    )
  })

  it('is refused when NATS has no room for the log or too few servers, with the remedy', async () => {
    cluster = newCluster(nats.url)
    expect(await refusal({ clusterReplicas: 3 })).toMatch(
      /^cluster: NATS at \S+ cannot be used: .* \(choose --cluster-replicas 1, or servers that form a NATS cluster\)\.$/,
    )
    expect(await refusal({ clusterLogBytes: 2 ** 52 })).toMatch(
      /^cluster: NATS at \S+ cannot be used: .* \(choose a smaller --cluster-log-size, or give its JetStream more room\)\.$/,
    )
  })

  it('starts from the chain in the first leader’s directory', async () => {
    const dataDir = join(temporaryFolder(), 'first')
    const alone = await createNode({ dataDir })
    const hash = await mine(alone)
    await alone.close()
    cluster = newCluster(nats.url)
    const leader = await cluster.start({ dataDir, role: 'leader' })
    const follower = await cluster.start({ role: 'follower' })
    expect(await rpc(follower, 'eth_getTransactionReceipt', hash)).toMatchObject({ blockNumber: '0x1' })
    const next = await mine(follower)
    expect(await rpc(leader, 'eth_getTransactionReceipt', next)).toMatchObject({ blockNumber: '0x2' })
  })

  it('continues from a directory of the cluster, with a snapshot when the log has dropped the next records', async () => {
    cluster = newCluster(nats.url, { clusterLogBytes: 1 << 20 })
    const leader = await cluster.start({ role: 'leader' })
    const proxy = await tcpProxy(nats.port)
    const behind = await cluster.start({ role: 'follower', cluster: proxy.url })
    const dataDir = join(temporaryFolder(), 'follower')
    const follower = await cluster.start({ role: 'follower', dataDir })
    await mine(leader)
    await until(() => behind.engine.queries.head().block.header.number === 1, 'the first block')
    const seen: (readonly [number, number])[] = []
    behind.engine.events.on('chain', ({ removed, added }) => seen.push([removed.length, added.length]))
    await cluster.stop(follower)
    proxy.cut()
    for (let n = 1; n <= 6; n++) {
      const code = `0x${n.toString(16).padStart(2, '0').repeat(300_000)}`
      const address = `0x${n.toString(16).padStart(40, '7')}`
      await until(
        () =>
          rpc(leader, 'hardhat_setCode', address, code).then(
            () => true,
            () => false,
          ),
        'room for code',
      )
    }
    const hashes = [await mine(leader), await mine(leader)]
    expect(await rpc(behind, 'eth_blockNumber')).toBe('0x1')
    proxy.heal()
    const again = await cluster.start({ role: 'follower', dataDir })
    await until(() => behind.engine.queries.head().block.header.number === 3, 'the blocks since the split')
    for (const node of [behind, again]) {
      for (const hash of hashes) {
        expect(await rpc(node, 'eth_getTransactionReceipt', hash)).toMatchObject({ transactionHash: hash })
      }
      expect(await rpc(node, 'eth_getCode', `0x${'1'.padStart(40, '7')}`, 'latest')).toBe(
        `0x${'01'.repeat(300_000)}`,
      )
    }
    expect(seen.reduce((sum, [removed, added]) => sum + added - removed, 0)).toBe(2)
    await cluster.stop(behind)
    await proxy.close()
  })
})
