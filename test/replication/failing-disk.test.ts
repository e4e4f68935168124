/** A leader whose disk takes nothing any more: another node leads, and it follows as soon as its disk takes writes again. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { until } from '../support/cluster.ts'
import {
  callAt,
  hasInDatabase,
  leaderAmong,
  type NodeProcess,
  processCluster,
  readinessOf,
} from '../support/cluster-processes.ts'
import { limitFiles } from '../support/file-limit.ts'
import { type NatsServer, natsServer } from '../support/nats-server.ts'
import { describeWith, NATS_SERVER, PRLIMIT } from '../support/tools.ts'

const BOTH = { ...PRLIMIT, isThere: NATS_SERVER.isThere && PRLIMIT.isThere, name: 'nats-server or prlimit' }

const failureOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'none',
    (error) => `${error.code} ${error.message}`,
  )

describeWith(BOTH, 'a leader whose disk refuses writes', () => {
  let nats: NatsServer
  let cluster: ReturnType<typeof processCluster>

  beforeAll(async () => {
    nats = await natsServer()
  })
  afterEach(() => cluster.remove())
  afterAll(() => nats.remove())

  it.each([[[]], [['--fsync']]])(
    'reports that its change is in the log, gives up the lease, and follows later (%j)',
    async (flags) => {
      cluster = processCluster(nats.url, `disk-${flags.length}`, flags)
      const nodes = await Promise.all(['a', 'b'].map((name) => cluster.start(name)))
      await until(async () => (await leaderAmong(nodes)) !== undefined, 'a leader')
      const old = (await leaderAmong(nodes)) as NodeProcess
      const other = nodes.find((node) => node !== old) as NodeProcess
      const [from, to] = await callAt(old.url, 'eth_accounts')
      const send = (node: NodeProcess) => callAt(node.url, 'eth_sendTransaction', { from, to, value: '0x1' })
      const sentBy = (node: NodeProcess) => callAt(node.url, 'eth_getTransactionCount', from, 'latest')
      await send(old)
      const { hash } = await callAt(old.url, 'eth_getBlockByNumber', 'latest', false)
      // A write from the log to the database that fails first would refuse the change before it is in the cluster's log.
      await until(async () => hasInDatabase(old, hash), 'the first block in the database')
      limitFiles(old, 0)
      expect(await failureOf(send(old))).toBe(
        "-32002 The leader cannot write to its disk, and the change is in the cluster's log: the next leader has it; look for it; try again",
      )
      // What is answered from here on was made, and what is refused was not.
      await until(async () => (await leaderAmong([other])) === other, 'another leader')
      await until(async () => (await sentBy(other)) === '0x2', 'the change on the other node')
      expect(await readinessOf(old)).toMatchObject({ status: 'storage', role: 'follower' })
      await send(other)
      await until(async () => (await sentBy(other)) === '0x3', 'the next change on the other node')
      limitFiles(old, 'unlimited')
      await until(async () => (await sentBy(old)) === '0x3', 'what it lacked')
      expect(await readinessOf(old)).toMatchObject({ status: 'ok', role: 'follower' })
      await send(old)
      const heads = await Promise.all(
        nodes.map(({ url }) => callAt(url, 'eth_getBlockByNumber', 'latest', false)),
      )
      expect(heads[0].hash).toBe(heads[1].hash)
    },
    60_000,
  )
})
