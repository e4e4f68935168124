/** NATS that is away, full or asked for much: writes are refused in time, reads go on, and all goes on by itself. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type Hex, toHex } from '../../src/encoding/hex.ts'
import type { Node } from '../../src/index.ts'
import { newCluster, roleOf, rpc, type TestCluster, until } from '../support/cluster.ts'
import { type NatsServer, natsServer } from '../support/nats-server.ts'
import { tcpProxy } from '../support/tcp-proxy.ts'
import { describeWith, NATS_SERVER } from '../support/tools.ts'

/** JSON-RPC errors as code and message. */
async function failureOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'none',
    (error) => `${error.code} ${error.message}`,
  )
}

/** Size of the large batch; the script has 20, the suite less. */
const MEGABYTES = process.env.CLUSTER_ROUNDS === undefined ? 5 : 20

describeWith(NATS_SERVER, 'a cluster with a failing NATS', () => {
  let nats: NatsServer
  let cluster: TestCluster

  beforeAll(async () => {
    nats = await natsServer()
  })
  afterEach(() => cluster.close())
  afterAll(() => nats.remove())

  const sameHead = (nodes: readonly Node[]) =>
    until(
      async () => new Set(nodes.map(({ engine }) => engine.queries.head().hash)).size === 1,
      'the same head',
    )

  it('refuses writes while NATS is down, does not apply them later, and recovers by itself', async () => {
    cluster = newCluster(nats.url)
    const leader = await cluster.start({ role: 'leader' })
    const follower = await cluster.start({ role: 'follower' })
    const [from] = await rpc(leader, 'eth_accounts')
    await rpc(follower, 'eth_sendTransaction', { from, to: from })
    await nats.kill()
    const begun = performance.now()
    const value = '0x123456'
    const refusals = await Promise.all([
      failureOf(rpc(leader, 'eth_sendTransaction', { from, to: from, value })),
      failureOf(rpc(follower, 'eth_sendTransaction', { from, to: from, value })),
      failureOf(rpc(leader, 'evm_mine')),
    ])
    expect(performance.now() - begun).toBeLessThan(10_000)
    for (const refusal of refusals) expect(refusal).toMatch(/^-32002 .*; try again$/)
    for (const node of [leader, follower]) expect(await rpc(node, 'eth_blockNumber')).toBe('0x1')
    await nats.restart()
    await until(async () => (await roleOf(leader)) === 'leader', 'the leader leads again')
    await until(
      async () => (await failureOf(rpc(follower, 'eth_sendTransaction', { from, to: from }))) === 'none',
      'a write through the follower',
    )
    await sameHead([leader, follower])
    const height = Number(await rpc(follower, 'eth_blockNumber'))
    for (let number = 1; number <= height; number++) {
      const block = await rpc(follower, 'eth_getBlockByNumber', `0x${number.toString(16)}`, true)
      // Neither the refused transactions, nor the refused empty block.
      expect(block.transactions.map((transaction: { value: string }) => transaction.value)).not.toContain(
        value,
      )
      expect(block.transactions.some((transaction: { from: string }) => transaction.from === from)).toBe(true)
    }
    expect(leader.engine.queries.poolSize()).toEqual({ pending: 0, queued: 0 })
  })

  it('does not execute a refused call that the network delivers late', async () => {
    cluster = newCluster(nats.url)
    const leader = await cluster.start({ role: 'leader' })
    const proxy = await tcpProxy(nats.port)
    const follower = await cluster.start({ role: 'follower', cluster: proxy.url, rpcTimeoutMs: 1_500 })
    const [from] = await rpc(leader, 'eth_accounts')
    let lag = 0
    const lagOf = async () => (await follower.health())?.cluster?.lag ?? 0
    await until(async () => {
      const before = lag
      lag = await lagOf()
      return lag < before
    }, 'an announcement of the leader')
    proxy.hold()
    const refusal = await failureOf(rpc(follower, 'eth_sendTransaction', { from, to: from, value: '0x7' }))
    expect(refusal).toMatch(/^-32002 .*; try again$/)
    proxy.heal()
    await until(async () => (await failureOf(rpc(follower, 'evm_mine'))) === 'none', 'a call after the split')
    expect(await rpc(leader, 'eth_getTransactionCount', from, 'latest')).toBe('0x0')
    await cluster.stop(follower)
    await proxy.close()
  })

  it(`writes a batch of ${MEGABYTES} MB, and passes on calls beyond the limit of a message`, async () => {
    cluster = newCluster(nats.url)
    const leader = await cluster.start({ role: 'leader', rpcTimeoutMs: 30_000 })
    const follower = await cluster.start({ role: 'follower', rpcTimeoutMs: 30_000 })
    const codeOf = (n: number) => new Uint8Array(1 << 20).fill(n)
    const addressOf = (n: number): Hex => `0x${n.toString(16).padStart(40, '8')}`
    const numbers = Array.from({ length: MEGABYTES }, (_, i) => i + 1)
    await leader.engine.dev.editState(numbers.map((n) => ({ address: addressOf(n), code: codeOf(n) })))
    // Beyond the limit of a message, to the leader and back.
    const asked = toHex(new Uint8Array(2 << 20).fill(0x5b))
    await rpc(follower, 'hardhat_setCode', addressOf(21), asked)
    expect((await rpc(follower, 'eth_getCode', addressOf(21), 'pending')) === asked).toBe(true)
    for (const n of numbers) {
      expect((await rpc(follower, 'eth_getCode', addressOf(n), 'latest')) === toHex(codeOf(n))).toBe(true)
    }
  })

  it('refuses writes while NATS has no room for log and snapshot, still answers reads, and recovers by itself', async () => {
    const room = (megabytes: number) => `jetstream { max_file_store: ${megabytes}MB }\n`
    const small = await natsServer(room(5))
    cluster = newCluster(small.url, { clusterLogBytes: 4 << 20 })
    const leader = await cluster.start({ role: 'leader' })
    const follower = await cluster.start({ role: 'follower' })
    const [from] = await rpc(leader, 'eth_accounts')
    const hash = await rpc(follower, 'eth_sendTransaction', { from, to: from })
    const address = (n: number) => `0x${n.toString(16).padStart(40, '6')}`
    const setCode = (n: number) =>
      failureOf(rpc(leader, 'hardhat_setCode', address(n), `0x${'5b'.repeat(900_000)}`))
    let written = 0
    let refusal = 'none'
    // Snapshots fail from the first one on.
    while (refusal === 'none' && written < 10) {
      refusal = await setCode(written + 1)
      if (refusal === 'none') written++
    }
    expect(refusal).toMatch(/^-32002 .*; try again$/)
    for (const node of [leader, follower]) {
      const sent = failureOf(rpc(node, 'eth_sendTransaction', { from, to: from, value: '0x123456' }))
      expect(await sent).toMatch(/^-32002 (?!.*look for).*; try again$/)
      expect(await rpc(node, 'eth_getTransactionReceipt', hash)).toMatchObject({ blockNumber: '0x1' })
      expect(await rpc(node, 'eth_blockNumber')).toBe('0x1')
    }
    await small.kill()
    await small.restart(room(100))
    await until(
      async () => (await failureOf(rpc(follower, 'eth_sendTransaction', { from, to: from }))) === 'none',
      'a write with room',
    )
    await sameHead([leader, follower])
    const height = Number(await rpc(follower, 'eth_blockNumber'))
    expect(height).toBeGreaterThan(1)
    for (let number = 1; number <= height; number++) {
      const block = await rpc(follower, 'eth_getBlockByNumber', `0x${number.toString(16)}`, true)
      for (const { value } of block.transactions) expect(value).toBe('0x0')
    }
    for (const [n, size] of [
      [written, 900_000],
      [written + 1, 0],
    ] as const) {
      expect((await rpc(follower, 'eth_getCode', address(n), 'latest')).length).toBe(2 + 2 * size)
    }
    await cluster.close()
    await small.remove()
  })

  it('frees space when the log is full, and starts new and lagging nodes from a snapshot', async () => {
    cluster = newCluster(nats.url, { clusterLogBytes: 1 << 20 })
    const leader = await cluster.start({ role: 'leader' })
    const follower = await cluster.start({ role: 'follower' })
    const [from] = await rpc(leader, 'eth_accounts')
    const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
    const code = (n: number) => `0x${n.toString(16).padStart(2, '0').repeat(300_000)}`
    const refusals: string[] = []
    const written = (call: () => Promise<unknown>) =>
      until(async () => {
        const refusal = await failureOf(call())
        if (refusal !== 'none') refusals.push(refusal)
        return refusal === 'none'
      }, 'a write')
    for (let n = 1; n <= 6; n++) {
      await written(() => rpc(leader, 'hardhat_setCode', address(0x1000 + n), code(n)))
    }
    await written(() => rpc(leader, 'eth_sendTransaction', { from, to: from }))
    expect(refusals.length).toBeGreaterThan(0)
    for (const refusal of refusals) expect(refusal).toMatch(/^-32002 .*; try again$/)
    const late = await cluster.start({ role: 'follower' })
    await sameHead([leader, follower, late])
    for (const node of [follower, late]) {
      for (let n = 1; n <= 6; n++) {
        expect(await rpc(node, 'eth_getCode', address(0x1000 + n), 'latest')).toBe(code(n))
      }
    }
    expect(await rpc(late, 'eth_getBlockByNumber', '0x1', true)).toEqual(
      await rpc(leader, 'eth_getBlockByNumber', '0x1', true),
    )
  })
})
