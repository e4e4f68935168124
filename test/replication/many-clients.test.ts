/**
 * Sixteen clients whose transactions share records of the log, while leaders and the NATS server are killed: what was
 * acknowledged is in the chain once, and what was refused is not. `npm run test:cluster` runs many rounds.
 */
import { afterEach, expect, it } from 'vitest'
import { PREFIX } from '../../src/store/tables.ts'
import { until } from '../support/cluster.ts'
import {
  callAt,
  leaderAmong,
  type NodeProcess,
  processCluster,
  RpcFailure,
} from '../support/cluster-processes.ts'
import { logRecords } from '../support/nats-log.ts'
import { type NatsServer, natsServer } from '../support/nats-server.ts'
import { describeWith, NATS_SERVER } from '../support/tools.ts'

const CLIENTS = 16
const ROUNDS = Number(process.env.CLUSTER_ROUNDS ?? 1)

/** What the client was told of a transaction. */
type Told = 'made' | 'refused' | 'unknown'

/** Sends transactions, each with a value of its own, until it is stopped, and notes what it was told of each. */
function startSender(index: number, url: () => string, from: string) {
  const told = new Map<number, Told>()
  let isStopped = false
  let made = 0
  const running = (async () => {
    for (let value = index + 1; !isStopped; value += CLIENTS) {
      try {
        await callAt(url(), 'eth_sendTransaction', { from, to: from, value: `0x${value.toString(16)}` })
        told.set(value, 'made')
        made++
      } catch (error) {
        // A connection that breaks, and a refusal that says so, leave the outcome open.
        const isRefused = error instanceof RpcFailure && !error.message.includes('look for')
        told.set(value, isRefused ? 'refused' : 'unknown')
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  })()
  return {
    told,
    get made() {
      return made
    },
    async stop() {
      isStopped = true
      await running
    },
  }
}

/** The values of all transactions of a node's chain. */
async function valuesOn({ url }: NodeProcess): Promise<number[]> {
  const values: number[] = []
  const height = Number(await callAt(url, 'eth_blockNumber'))
  for (let number = 1; number <= height; number++) {
    const block = await callAt(url, 'eth_getBlockByNumber', `0x${number.toString(16)}`, true)
    for (const { from, value } of block.transactions) if (!/^0x0+$/.test(from)) values.push(Number(value))
  }
  return values
}

/** Kills the leader among these nodes, and starts it again. */
async function killLeader(nodes: NodeProcess[]): Promise<void> {
  let leader: NodeProcess | undefined
  await until(async () => {
    leader = await leaderAmong(nodes)
    return leader !== undefined
  }, 'a leader')
  for (const [index, node] of nodes.entries()) {
    if (node !== leader) continue
    await node.end('SIGKILL')
    nodes[index] = await node.again()
  }
}

describeWith(NATS_SERVER, 'sixteen clients', () => {
  let nats: NatsServer
  let cluster: ReturnType<typeof processCluster>

  afterEach(async () => {
    await cluster.remove()
    await nats.remove()
  })

  it(
    `lose nothing and see nothing twice while leader and NATS are killed, ${ROUNDS} times each`,
    async () => {
      nats = await natsServer()
      cluster = processCluster(nats.url, 'many')
      const nodes = await Promise.all(['a', 'b'].map((name) => cluster.start(name)))
      const accounts: string[] = await callAt((nodes[0] as NodeProcess).url, 'eth_accounts')
      const senders = Array.from({ length: CLIENTS }, (_, index) =>
        startSender(index, () => (nodes[index % 2] as NodeProcess).url, accounts[index % 4] as string),
      )
      const untilMade = async (what: string) => {
        const before = senders.map(({ made }) => made)
        await until(() => senders.every(({ made }, i) => made > (before[i] ?? 0) + 2), what, 60)
      }
      for (let round = 0; round < ROUNDS; round++) {
        await untilMade('transactions of every client')
        await killLeader(nodes)
        await untilMade('transactions after the end of the leader')
        await nats.kill()
        await nats.restart()
        await untilMade('transactions after the end of NATS')
      }
      await Promise.all(senders.map((sender) => sender.stop()))
      const headOf = async ({ url }: NodeProcess) =>
        (await callAt(url, 'eth_getBlockByNumber', 'latest', false)).hash
      await until(async () => new Set(await Promise.all(nodes.map(headOf))).size === 1, 'one head')
      const told = new Map(senders.flatMap((sender) => [...sender.told]))
      const toldOf = (kind: Told) => [...told].flatMap(([value, each]) => (each === kind ? [value] : []))
      for (const node of nodes) {
        const values = await valuesOn(node)
        const onChain = new Set(values)
        expect(onChain.size).toBe(values.length)
        expect(toldOf('made').filter((value) => !onChain.has(value))).toEqual([])
        expect(toldOf('refused').filter((value) => onChain.has(value))).toEqual([])
      }
      const blocks = (await logRecords(nats.url, 'many')).map(
        ({ changes }) =>
          changes.filter(({ prefix, type }) => prefix === PREFIX.canonical && type === 'put').length,
      )
      expect(Math.max(...blocks)).toBeGreaterThan(1)
      const counts = (['made', 'refused', 'unknown'] as const).map((kind) => `${toldOf(kind).length} ${kind}`)
      console.info(`${counts.join(', ')}; most blocks in a record: ${Math.max(...blocks)}`)
    },
    120_000 * ROUNDS,
  )
})
