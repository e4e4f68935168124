/** The peg in a cluster: followers answer for both chains, the leader makes the changes, the next leader goes on. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createNode, type Node, serve } from '../../src/index.ts'
import { newCluster, roleOf, rpc, type TestCluster, until } from '../support/cluster.ts'
import { type NatsServer, natsServer } from '../support/nats-server.ts'
import { COW } from '../support/noting-chain.ts'
import { describeWith, NATS_SERVER } from '../support/tools.ts'

const RECEIVER = '0x00000000000000000000000000000000000b0b01'
const TIMEOUT = 120_000

describeWith(NATS_SERVER, 'a cluster with a Bitcoin chain', () => {
  let nats: NatsServer
  let cluster: TestCluster
  let leader: Node
  let follower: Node
  const servers: { close(): Promise<void> }[] = []

  beforeAll(async () => {
    nats = await natsServer()
    cluster = newCluster(nats.url, { bitcoin: true })
    leader = await cluster.start({ role: 'leader' })
    follower = await cluster.start()
  }, TIMEOUT)
  afterAll(async () => {
    for (const server of servers) await server.close()
    await cluster.close()
    await nats.remove()
  }, TIMEOUT)

  /** Calls Bitcoin Core's JSON-RPC of a node over its socket. */
  async function bitcoinOf(node: Node) {
    const server = await serve(node, { port: 0, bitcoinRpcPort: 0 })
    servers.push(server)
    const authorization = `Basic ${Buffer.from('tandem:tandem').toString('base64')}`
    return async (method: string, ...params: unknown[]) => {
      const body = JSON.stringify({ id: 1, method, params })
      const response = await fetch(server.bitcoinRpcUrl ?? '', {
        method: 'POST',
        body,
        headers: { authorization },
      })
      return (await response.json()) as { result: never; error: unknown }
    }
  }

  /** The Bitcoin chain as a node has it in memory. */
  const chainOf = (node: Node) => {
    const { state } = node.bitcoin?.bitcoin.chain ?? {}
    return {
      best: state?.best,
      mempool: [...(state?.mempool.entries() ?? [])].map(([id]) => id),
      coins: [...(state?.coins.entries() ?? [])].length,
      tips: [...(state?.tips.entries() ?? [])].map(([hash]) => hash),
    }
  }
  const same = () =>
    until(
      () => JSON.stringify(chainOf(leader)) === JSON.stringify(chainOf(follower)),
      'the same Bitcoin chain',
    )

  it('begins alike on all nodes, and follows', { timeout: TIMEOUT }, async () => {
    expect(chainOf(follower)).toEqual(chainOf(leader))
    // Calls of the follower are the leader's, and are seen by both.
    expect(await rpc(follower, 'btc_pegIn', RECEIVER, 5_000_000)).toMatchObject({ status: 'registered' })
    await same()
    expect((await follower.bitcoin?.status())?.locked).toBe(5_000_000n)
    await rpc(follower, 'btc_reorg', 2)
    await same()
    await rpc(follower, 'btc_faucet', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', 100_000, 0)
    await same()
    expect(chainOf(follower).mempool).toHaveLength(1)
    const id = await rpc(follower, 'evm_snapshot')
    await rpc(follower, 'btc_mine', 3)
    await rpc(follower, 'evm_revert', id)
    await same()
    expect(await rpc(follower, 'btc_status')).toEqual(await rpc(leader, 'btc_status'))
    await expect(follower.bitcoin?.mine(1)).rejects.toThrow(/does not lead the cluster/)
  })

  it('answers Bitcoin RPC on a follower, whose changes the leader makes', { timeout: TIMEOUT }, async () => {
    const call = await bitcoinOf(follower)
    const { height = 0 } = (await follower.bitcoin?.heights()) ?? {}
    expect(await call('getblockcount')).toMatchObject({ result: height })
    expect((await call('createwallet', 'w')).error).toBeNull()
    const { result: address } = await call('getnewaddress')
    expect((await call('generatetoaddress', 2, address)).result).toHaveLength(2)
    expect(await call('getblockcount')).toMatchObject({ result: height + 2 })
    await same()
    expect(await call('invalidateblock', 'ab')).toMatchObject({ error: { code: -8 } })
    const reads = await Promise.all([call('getbestblockhash'), call('listwallets')])
    const own = await bitcoinOf(leader)
    expect(reads).toEqual(await Promise.all([own('getbestblockhash'), own('listwallets')]))
  })

  it('goes on under the next leader, peg-outs under way included', { timeout: TIMEOUT }, async () => {
    await rpc(leader, 'btc_pegOut', COW, 1_000_000, false)
    await rpc(leader, 'evm_mine')
    await cluster.stop(leader)
    await until(async () => (await roleOf(follower)) === 'leader', 'the follower leads', 60)
    for (let i = 0; i < 8; i++) await rpc(follower, 'evm_mine')
    const status = await follower.bitcoin?.status()
    expect(status?.pegOuts).toEqual([])
    expect(status?.bitcoin.mempool).toBe(1)
    expect(await rpc(follower, 'btc_pegIn', RECEIVER, 1_000_000)).toMatchObject({ status: 'registered' })
    // A node that joins now has all of it.
    leader = await cluster.start({ role: 'follower' })
    await same()
    expect(await rpc(leader, 'btc_pegOut', COW, 500_000)).toMatchObject({ status: 'released' })
  })

  it('is refused with a Bitcoin node of its own', async () => {
    const options = { bitcoin: true, cluster: nats.url, bitcoinRpc: 'http://u:p@127.0.0.1:1' }
    await expect(createNode(options)).rejects.toThrow(/"bitcoinRpc" and "cluster" contradict/)
  })
})
