/**
 * Leaders that are killed and stopped, as processes: what was acknowledged stays, and one chain goes on. `npm run
 * test:cluster` runs many rounds.
 */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { until } from '../support/cluster.ts'
import {
  callAt,
  leaderAmong,
  type NodeProcess,
  processCluster,
  readinessOf,
  startClient,
} from '../support/cluster-processes.ts'
import { logTerms } from '../support/nats-log.ts'
import { type NatsServer, natsServer } from '../support/nats-server.ts'
import { describeWith, NATS_SERVER } from '../support/tools.ts'

const ROUNDS = Number(process.env.CLUSTER_ROUNDS ?? 5)
/** Longest time without a leader after a kill, as the script requires it; the suite runs on busy machines. */
const TAKEOVER_MS = process.env.CLUSTER_ROUNDS === undefined ? 15_000 : 5_000

describeWith(NATS_SERVER, 'a leader that ends', () => {
  let nats: NatsServer
  let cluster: ReturnType<typeof processCluster>

  beforeAll(async () => {
    nats = await natsServer()
  })
  afterEach(() => cluster.remove())
  afterAll(() => nats.remove())

  /** Waits until all nodes have one head: its hash covers the chain below it. */
  async function requireOneChain(nodes: readonly NodeProcess[]): Promise<void> {
    const heads = () =>
      Promise.all(
        nodes.map(async ({ url }) => (await callAt(url, 'eth_getBlockByNumber', 'latest', false)).hash),
      )
    await until(async () => new Set(await heads()).size === 1, 'one head')
  }

  async function requireMined({ url }: NodeProcess, hashes: readonly string[]): Promise<void> {
    for (const hash of hashes) {
      const receipt = await callAt(url, 'eth_getTransactionReceipt', hash)
      expect(receipt, hash).toMatchObject({ transactionHash: hash })
    }
  }

  async function requireOrderedTerms(name: string): Promise<void> {
    const terms = await logTerms(nats.url, name)
    expect(terms).toEqual([...terms].sort((a, b) => a - b))
  }

  function requireOnlyTryAgain(clients: readonly ReturnType<typeof startClient>[]): void {
    const answers = clients.flatMap(({ failures }) =>
      failures.map(({ code, message }) => `${code} ${message}`),
    )
    for (const answer of new Set(answers)) expect(answer).toMatch(/^-32002 .*; try again$/)
  }

  it(
    `is replaced within seconds, ${ROUNDS} times under load, and no acknowledged block is lost`,
    async () => {
      cluster = processCluster(nats.url, 'kill')
      const nodes = await Promise.all(['a', 'b', 'c'].map((name) => cluster.start(name)))
      const accounts: string[] = await callAt((nodes[0] as NodeProcess).url, 'eth_accounts')
      const clients = nodes.map((_, index) =>
        startClient(() => (nodes[index] as NodeProcess).url, accounts[index] as string),
      )
      const times: number[] = []
      /** The node that was killed last, while it starts again. */
      let starting: { readonly index: number; readonly done: Promise<void> } | undefined
      for (let round = 0; round < ROUNDS; round++) {
        await until(async () => (await leaderAmong(nodes)) !== undefined, 'a leader')
        const live = clients.filter((_, index) => index !== starting?.index)
        const counts = live.map(({ acknowledged }) => acknowledged.length)
        await until(
          () => live.every(({ acknowledged }, i) => acknowledged.length > (counts[i] ?? 0) + 1),
          'transactions of every client',
        )
        const leader = (await leaderAmong(nodes)) as NodeProcess
        const index = nodes.indexOf(leader)
        await leader.end('SIGKILL')
        const begun = performance.now()
        const others = clients.filter((client) => client !== clients[index])
        await until(() => others.some(({ lastAt }) => lastAt > begun), 'a write after the kill')
        times.push(Math.round(performance.now() - begun))
        await starting?.done
        const done = leader.again().then((node) => {
          nodes[index] = node
        })
        starting = { index, done }
      }
      await starting?.done
      await Promise.all(clients.map((client) => client.stop()))
      console.info(`leaders killed: ${ROUNDS}; ms without writes: ${times.join(' ')}`)
      await requireOneChain(nodes)
      for (const { acknowledged } of clients) await requireMined(nodes[0] as NodeProcess, acknowledged)
      expect(Math.max(...times)).toBeLessThan(TAKEOVER_MS)
      requireOnlyTryAgain(clients)
      await requireOrderedTerms('kill')
    },
    40_000 * ROUNDS,
  )

  it('writes nothing when it was stopped beyond its lease', async () => {
    cluster = processCluster(nats.url, 'stop')
    const nodes = await Promise.all(['a', 'b'].map((name) => cluster.start(name)))
    await until(async () => (await leaderAmong(nodes)) !== undefined, 'a leader')
    const old = (await leaderAmong(nodes)) as NodeProcess
    const other = nodes.find((node) => node !== old) as NodeProcess
    const [from] = await callAt(old.url, 'eth_accounts')
    const client = startClient(() => old.url, from)
    await until(() => client.acknowledged.length > 5, 'transactions before the stop')
    old.child.kill('SIGSTOP')
    await until(async () => (await leaderAmong([other])) === other, 'another leader')
    const mined = await callAt(other.url, 'eth_sendTransaction', { from, to: from })
    old.child.kill('SIGCONT')
    const resumed = client.acknowledged.length
    await until(() => client.acknowledged.length > resumed + 5, 'transactions after the stop')
    await client.stop()
    expect((await readinessOf(old))?.role).toBe('follower')
    await requireOneChain(nodes)
    await requireMined(other, [...client.acknowledged, mined])
    await requireOrderedTerms('stop')
    requireOnlyTryAgain([client])
  })
})
