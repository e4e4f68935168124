/** What callers see on several followers: their own writes, no step back, and one story of every change. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type Node, serve } from '../../src/index.ts'
import { newCluster, randomChanges, rpc, storyOf, type TestCluster, until } from '../support/cluster.ts'
import { type NatsServer, natsServer } from '../support/nats-server.ts'
import { randomNumbers } from '../support/random-numbers.ts'
import { tcpProxy } from '../support/tcp-proxy.ts'
import { describeWith, NATS_SERVER } from '../support/tools.ts'

/** `npm run test:cluster` sets it and takes longer schedules. */
const IS_LONG = process.env.CLUSTER_ROUNDS !== undefined
const SEED = Number(process.env.CLUSTER_SEED ?? 20_261_122)

describeWith(NATS_SERVER, 'callers of several followers', () => {
  let nats: NatsServer
  let cluster: TestCluster

  beforeAll(async () => {
    nats = await natsServer()
  })
  afterEach(() => cluster.close())
  afterAll(() => nats.remove())

  async function nodesOf(followers: number): Promise<Node[]> {
    const leader = await cluster.start({ role: 'leader' })
    const others = await Promise.all(
      Array.from({ length: followers }, () => cluster.start({ role: 'follower' })),
    )
    return [leader, ...others]
  }

  /** A caller that writes and reads at random nodes, and carries the sequence header from one to the next. */
  function caller(urls: readonly string[], from: string, below: (bound: number) => number) {
    let sequence = '0'
    return async <T = string>(method: string, ...params: unknown[]): Promise<T> => {
      const response = await fetch(urls[below(urls.length)] as string, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Tandem-Sequence': sequence },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      sequence = response.headers.get('X-Tandem-Sequence') ?? sequence
      const { result, error } = (await response.json()) as { result: T; error?: { message: string } }
      if (error !== undefined) throw new Error(`${method} of ${from}: ${error.message}`)
      return result
    }
  }

  it('shows callers their own writes and never an earlier state, at every node', async () => {
    cluster = newCluster(nats.url)
    const nodes = await nodesOf(3)
    const servers = await Promise.all(nodes.map((node) => serve(node, { port: 0 })))
    const accounts: string[] = await rpc(nodes[0] as Node, 'eth_accounts')
    const history = await Promise.all(
      accounts.slice(0, 3).map(async (from, index) => {
        const below = randomNumbers(SEED + index)
        const call = caller(
          servers.map(({ url }) => url),
          from,
          below,
        )
        const to = `0x${(index + 1).toString(16).padStart(40, '6')}`
        let [height, sent] = [0, 0]
        for (let step = 0; step < (IS_LONG ? 2_000 : 30); step++) {
          if (below(3) === 0) {
            const hash = await call('eth_sendTransaction', { from, to, value: '0x1' })
            sent++
            const receipt = await call<{ transactionHash: string } | null>('eth_getTransactionReceipt', hash)
            expect(receipt?.transactionHash, `seed ${SEED}, caller ${index}, step ${step}`).toBe(hash)
          }
          const [now, balance] = [
            Number(await call('eth_blockNumber')),
            await call('eth_getBalance', to, 'latest'),
          ]
          expect(now, `seed ${SEED}, caller ${index}, step ${step}`).toBeGreaterThanOrEqual(height)
          expect(Number(balance), `seed ${SEED}, caller ${index}, step ${step}`).toBe(sent)
          height = now
        }
        return sent
      }),
    )
    expect(Math.min(...history)).toBeGreaterThan(3)
    await Promise.all(servers.map((server) => server.close()))
  })

  it('makes a caller wait for state that it has seen at another node, and refuses it at the deadline', async () => {
    cluster = newCluster(nats.url)
    const leader = await cluster.start({ role: 'leader' })
    const proxy = await tcpProxy(nats.port)
    const follower = await cluster.start({ role: 'follower', cluster: proxy.url })
    const servers = await Promise.all([leader, follower].map((node) => serve(node, { port: 0 })))
    const [ahead, behind] = servers.map(({ url }) => caller([url], 'anyone', () => 0))
    const [from] = await rpc(leader, 'eth_accounts')
    proxy.cut()
    const hash = await ahead?.('eth_sendTransaction', { from, to: from })
    const sequence = String(leader.dispatcher.position?.()?.sequence)
    const ask = () =>
      fetch(servers[1]?.url as string, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Tandem-Sequence': sequence },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getTransactionReceipt', params: [hash] }),
      })
    expect(await behind?.('eth_getTransactionReceipt', hash)).toBeNull()
    const waiting = ask()
    proxy.heal()
    let reply = await waiting
    // A follower may take longer to find its way back than a caller is made to wait.
    for (let refused = 0; reply.status === 503; refused++) {
      // Each refusal has waited; refusals at once would use these up before the connection is back.
      expect(refused).toBeLessThan(5)
      expect(await reply.json()).toMatchObject({ error: { code: -32002 } })
      reply = await ask()
    }
    expect(await reply.json()).toMatchObject({ result: { transactionHash: hash } })
    expect(Number(reply.headers.get('X-Tandem-Sequence'))).toBeGreaterThanOrEqual(Number(sequence))
    await Promise.all(servers.map((server) => server.close()))
    await cluster.stop(follower)
    await proxy.close()
  })

  it('sends subscribers of three followers the same events through reorganisations and reverts', async () => {
    cluster = newCluster(nats.url)
    const nodes = await nodesOf(3)
    const stories = await Promise.all(nodes.map(storyOf))
    const polled = stories.map(
      () => ({ blocks: [], logs: [], pending: [] }) as Awaited<ReturnType<(typeof stories)[0]['poll']>>,
    )
    const least = IS_LONG ? 500 : 20
    let undone = 0
    for (let part = 0; undone < least; part++) {
      undone += await randomChanges(nodes, 40, SEED + part)
      for (const [index, story] of stories.entries()) polled[index] = await story.poll()
    }
    const [first, ...others] = stories
    await until(
      () =>
        others.every(
          ({ heads, pending }) =>
            heads.length === first?.heads.length && pending.length === first?.pending.length,
        ),
      'the last notifications',
    )
    for (const [index, story] of stories.entries()) polled[index] = await story.poll()
    expect(first?.logs.filter((log) => log.includes('"removed":true')).length).toBeGreaterThan(least)
    console.info(`seed ${SEED}: ${undone} reorganisations and reverts`)
    for (const [index, { heads, logs, pending }] of others.entries()) {
      expect({ heads, logs, pending }, `seed ${SEED}`).toEqual({
        heads: first?.heads,
        logs: first?.logs,
        pending: first?.pending,
      })
      expect(polled[index + 1], `seed ${SEED}`).toEqual(polled[0])
    }
  })

  it('forwards a poll to the node that made the filter', async () => {
    cluster = newCluster(nats.url)
    const [leader, first, second] = (await nodesOf(2)) as [Node, Node, Node]
    const [from] = await rpc(leader, 'eth_accounts')
    const id = await rpc(first, 'eth_newBlockFilter')
    const hash = await rpc(first, 'eth_sendTransaction', { from, to: from })
    const { blockHash } = await rpc(first, 'eth_getTransactionReceipt', hash)
    expect(await rpc(second, 'eth_getFilterChanges', id)).toEqual([blockHash])
    expect(await rpc(leader, 'eth_getFilterChanges', id)).toEqual([])
    expect(await rpc(leader, 'eth_uninstallFilter', id)).toBe(true)
    await expect(rpc(second, 'eth_getFilterChanges', id)).rejects.toMatchObject({
      code: -32000,
      message: 'filter not found',
    })
    const lost = await rpc(first, 'eth_newBlockFilter')
    await cluster.stop(first)
    await expect(rpc(second, 'eth_getFilterChanges', lost)).rejects.toMatchObject({
      message: 'filter not found',
    })
  })

  it('is separated from its NATS and recovers, as a leader and as a follower', async () => {
    cluster = newCluster(nats.url)
    const proxies = await Promise.all([tcpProxy(nats.port), tcpProxy(nats.port)])
    const [a, b] = (await Promise.all(proxies.map(({ url }) => cluster.start({ cluster: url })))) as [
      Node,
      Node,
    ]
    const [from] = await rpc(a, 'eth_accounts')
    const roleOf = async (node: Node) => (await node.health())?.cluster?.role
    await until(async () => (await roleOf(a)) === 'leader' || (await roleOf(b)) === 'leader', 'a leader')
    const [old, other] = (await roleOf(a)) === 'leader' ? [a, b] : [b, a]
    await rpc(old, 'eth_sendTransaction', { from, to: from })
    const proxy = proxies[old === a ? 0 : 1] as (typeof proxies)[number]
    // Nothing passes, and no connection ends.
    proxy.hold()
    await until(async () => (await roleOf(other)) === 'leader', 'another leader')
    await expect(rpc(old, 'eth_sendTransaction', { from, to: from, value: '0x7' })).rejects.toMatchObject({
      code: -32002,
    })
    expect(await rpc(old, 'eth_blockNumber')).toBe('0x1')
    const hash = await rpc(other, 'eth_sendTransaction', { from, to: from })
    proxy.heal()
    await until(
      async () => (await rpc(old, 'eth_getTransactionReceipt', hash)) !== null,
      'the block of the other leader',
    )
    const head = other.engine.queries.head()
    expect(head.block.header.number).toBe(2)
    expect(old.engine.queries.head().hash).toBe(head.hash)
    await rpc(old, 'eth_sendTransaction', { from, to: from })
    expect(await rpc(old, 'eth_blockNumber')).toBe('0x3')
    await cluster.close()
    await Promise.all(proxies.map((each) => each.close()))
  })
})
