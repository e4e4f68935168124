/** Calls that a follower passes on to the leader: which ones, once or not at all, and what comes beside them over NATS. */
import { connect } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Node } from '../../src/index.ts'
import { namesOf } from '../../src/replication/names.ts'
import { newCluster, rpc, type TestCluster, until } from '../support/cluster.ts'
import { type NatsServer, natsServer } from '../support/nats-server.ts'
import { describeWith, NATS_SERVER } from '../support/tools.ts'

const TO = `0x${'ab'.repeat(20)}`
/** So many blocks that a call behind them waits for longer than it may. */
const MANY = 600

describeWith(NATS_SERVER, 'a follower', () => {
  let nats: NatsServer
  let cluster: TestCluster
  let leader: Node
  let follower: Node

  beforeAll(async () => {
    nats = await natsServer()
    cluster = newCluster(nats.url, { preset: 'anvil', methodTimeouts: { anvil_addBalance: 400 } })
    leader = await cluster.start({ role: 'leader' })
    follower = await cluster.start({ role: 'follower' })
  })
  afterAll(async () => {
    await cluster.close()
    await nats.remove()
  })

  /** Resolves when the leader has mined a block. */
  const mined = () =>
    new Promise<void>((resolve) => {
      const stop = leader.engine.events.on('chain', () => {
        stop()
        resolve()
      })
    })

  const height = (node: Node) => node.engine.queries.head().block.header.number

  it('forwards calls on the pending block to the leader, wherever the tag is in the parameters', async () => {
    const [from] = await rpc(leader, 'eth_accounts')
    await rpc(leader, 'evm_setAutomine', false)
    // Only the leader knows the overrides of the next block.
    await rpc(leader, 'anvil_setCoinbase', TO)
    await rpc(leader, 'eth_sendTransaction', { from, to: TO, value: '0x5' })
    // COINBASE, returned as a word.
    const call = { data: '0x4160005260206000f3' }
    const word = `0x${TO.slice(2).padStart(64, '0')}`
    expect(await rpc(follower, 'eth_call', call, 'pending')).toBe(word)
    // SSTORE of the difference between COINBASE and TO: without a block an estimate is made on the pending one.
    const store = { data: `0x73${TO.slice(2)}4118600055` }
    expect(await rpc(follower, 'eth_estimateGas', store)).toBe(await rpc(leader, 'eth_estimateGas', store))
    expect(await rpc(follower, 'eth_estimateGas', store)).not.toBe(
      await rpc(follower, 'eth_estimateGas', store, 'latest'),
    )
    const many = [[{ transactions: [call] }], { blockNumber: 'pending' }] as const
    expect(await rpc(follower, 'eth_callMany', ...many)).toEqual(await rpc(leader, 'eth_callMany', ...many))
    const filter = { fromBlock: '0x0', toBlock: 'pending' }
    expect(await rpc(follower, 'trace_filter', filter)).toEqual(await rpc(leader, 'trace_filter', filter))
    await rpc(leader, 'evm_setAutomine', true)
  })

  it('refuses calls that would send keys or passphrases over NATS', async () => {
    for (const method of ['personal_newAccount', 'personal_importRawKey', 'personal_listAccounts']) {
      await expect(rpc(follower, method, 'secret')).rejects.toMatchObject({
        code: -32604,
        message: `${method} must be sent to the leader of the cluster itself: keys and passphrases are not passed from node to node`,
      })
    }
    expect(await rpc(leader, 'personal_newAccount', 'secret')).toMatch(/^0x[0-9a-f]{40}$/)
  })

  it('answers a change after it is applied, and never applies one past its deadline', async () => {
    const before = height(leader)
    const block = mined()
    const long = rpc(follower, 'hardhat_mine', MANY)
    long.catch(() => {})
    await block
    const waiting = rpc(follower, 'anvil_addBalance', TO, '0x1')
    await expect(waiting).rejects.toMatchObject({
      code: -32011,
      message: 'Execution has got timeout out: the call waited for those before it, and was not carried out.',
    })
    expect(await long).toBe(true)
    expect(height(leader)).toBe(before + MANY)
    const balance = await rpc(leader, 'eth_getBalance', TO, 'latest')
    await rpc(follower, 'hardhat_addBalance', TO, '0x1')
    expect(BigInt(await rpc(follower, 'eth_getBalance', TO, 'latest'))).toBe(BigInt(balance) + 1n)
  }, 60_000)

  it('ends the mining of a caller that disconnects', async () => {
    const before = height(leader)
    const abort = new AbortController()
    const block = mined()
    const call = follower.request({ method: 'hardhat_mine', params: [MANY], signal: abort.signal })
    await block
    abort.abort()
    await expect(call).rejects.toThrow(/^The call was cancelled: \d+ of 600 blocks were mined\.$/)
    expect(height(leader)).toBeLessThan(before + MANY)
    await until(() => height(follower) === height(leader), 'the follower has caught up')
  })

  describe('and messages of strangers', () => {
    it('continue, whatever is published to their subjects', async () => {
      const names = namesOf(cluster.clusterName)
      const other = await connect({ servers: nats.url })
      const id = (await follower.health())?.cluster?.id ?? ''
      const leading = (await leader.health())?.cluster?.id ?? ''
      const answer = other.subscribe('answers')
      for (const text of ['', '{', '[]', '{"node":1}', '\u0000'.repeat(12), 'x'.repeat(5000)]) {
        other.publish(names.beat, text)
        for (const node of [id, leading]) other.publish(names.calls(node), text, { reply: 'answers' })
      }
      await other.flush()
      expect(await rpc(follower, 'anvil_mine', 1)).toBe(null)
      expect(answer.getReceived()).toBe(0)
      await other.close()
    })
  })
})
