/** `*_reset` with `forking`: another engine takes the place of the node's, and nothing keeps the old one. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createNode, type Node } from '../../../src/index.ts'
import type { ProviderMessage } from '../../../src/node/node.ts'
import { deployNotes } from '../../support/noting-chain.ts'
import { saying } from '../../support/refusals.ts'
import { type ServedNode, servedNode } from '../../support/served-node.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Resets of the test of the heap; `npm run test:resets` takes more. */
const RESETS = Number(process.env.TANDEM_RESETS ?? 30)

// biome-ignore lint/suspicious/noExplicitAny: results are what the tests look into
type Call = (method: string, ...params: unknown[]) => Promise<any>

let upstream: ServedNode
let node: Node
const call: Call = (method, ...params) => node.request({ method, params })
const fork = (blockNumber?: number) =>
  call('anvil_reset', {
    forking: { jsonRpcUrl: upstream.url, ...(blockNumber !== undefined && { blockNumber }) },
  })

beforeAll(async () => {
  upstream = await servedNode()
  for (let i = 0; i < 5; i++) await upstream.call('evm_mine')
})
afterAll(() => upstream.close())
beforeEach(async () => {
  node = await createNode({ forkCache: false, forkRetries: 0 })
})
afterEach(() => node.close())

describe('a reset to a fork', () => {
  it('keeps the filters of callers, which continue on the new chain without unreturned changes of the old one', async () => {
    const { address, note } = await deployNotes(call)
    const logs = await call('eth_newFilter', { address })
    const everything = await call('eth_newFilter', { fromBlock: '0x0', address })
    const blocks = await call('eth_newBlockFilter')
    const transactions = await call('eth_newPendingTransactionFilter')
    await note(1)
    await fork(3)
    for (const filter of [logs, everything, blocks, transactions]) {
      expect(await call('eth_getFilterChanges', filter)).toEqual([])
    }
    expect(await call('eth_getFilterLogs', everything)).toEqual([])
    const again = await deployNotes(call)
    expect(await call('eth_getFilterChanges', blocks)).toHaveLength(1)
    const of = await call('eth_newFilter', { address: again.address })
    const hash = await again.note(7)
    expect(
      (await call('eth_getFilterChanges', of)).map((log: { transactionHash: string }) => log.transactionHash),
    ).toEqual([hash])
    expect(await call('eth_getFilterChanges', transactions)).toHaveLength(2)
    // The contract of the new chain has the same address.
    expect(await call('eth_getFilterChanges', logs)).toHaveLength(1)
  })

  it('keeps subscriptions, listeners and the list of callers', async () => {
    const messages: ProviderMessage[] = []
    node.on('message', (message) => messages.push(message))
    const heights: number[] = []
    node.engine.events.on('chain', ({ added }) => {
      heights.push(...added.map(({ block }) => block.header.number))
    })
    await call('eth_subscribe', 'newHeads')
    await node.peers.ban('203.0.113.7')
    await fork(3)
    await call('evm_mine')
    expect(messages.map(({ data }) => (data as { result: { number: string } }).result.number)).toEqual([
      '0x4',
    ])
    expect(heights).toEqual([4])
    expect(node.peers.isBanned('203.0.113.7')).toBe(true)
  })

  it('runs after the commands before it, and ends mining on the old chain', async () => {
    await call('anvil_setIntervalMining', 1000)
    const [mined] = await Promise.all([call('hardhat_mine', 50), fork(2)])
    expect(mined).toBe(true)
    expect(await call('eth_blockNumber')).toBe('0x2')
    expect(await call('anvil_getIntervalMining')).toBe(null)
  })

  it('runs after the reset before it, and the last one wins', async () => {
    await Promise.all([1, 4, 2, 5, 3].map((block) => fork(block)))
    expect(await call('eth_blockNumber')).toBe('0x3')
    await call('evm_mine')
    expect(await call('eth_blockNumber')).toBe('0x4')
  })

  it('lets reads of the old chain finish, and refuses changes to it', async () => {
    const first = node.engine
    await fork(5)
    const accounts = await call('eth_accounts')
    const reads = accounts.map((account: string) => call('eth_getBalance', account, 'latest'))
    const counted = call('eth_getBlockByNumber', '0x1', true)
    await fork(2)
    expect(await Promise.all(reads)).toHaveLength(accounts.length)
    expect((await counted).number).toBe('0x1')
    await expect(first.commands.mine()).rejects.toMatchObject({
      kind: 'cancelled',
      message: 'The call was cancelled: a reset has put another chain in place, and it was not carried out.',
    })
    expect(await call('eth_blockNumber')).toBe('0x2')
  })

  it('changes nothing when the upstream does not answer, or the caller has disconnected', async () => {
    await call('evm_mine')
    const { engine } = node
    await expect(call('anvil_reset', { forking: { jsonRpcUrl: 'http://127.0.0.1:1' } })).rejects.toThrow(
      /127\.0\.0\.1:1/,
    )
    const abort = new AbortController()
    const gone = node.request({
      method: 'anvil_reset',
      params: [{ forking: { jsonRpcUrl: upstream.url } }],
      signal: abort.signal,
    })
    abort.abort()
    await expect(gone).rejects.toThrow(saying('The call was cancelled: it was not carried out.'))
    expect(node.engine).toBe(engine)
    await call('evm_mine')
    expect(await call('eth_blockNumber')).toBe('0x2')
  })

  it.each(['evm_reset', 'hardhat_reset', 'anvil_reset'])(
    'is undone by %s without a fork, which starts a local chain again',
    async (reset) => {
      const genesis = await call('eth_getBlockByNumber', '0x0', false)
      await fork(3)
      await call('evm_mine')
      await call(reset)
      expect(await call('eth_blockNumber')).toBe('0x0')
      expect(await call('eth_getBlockByNumber', '0x0', false)).toEqual(genesis)
      expect(node.engine.fork).toBeUndefined()
      await call('evm_mine')
      expect(await call('eth_blockNumber')).toBe('0x1')
    },
  )

  it('goes back to its first block on a node that was started as a fork', async () => {
    const forked = await createNode({ fork: upstream.url, forkBlock: 2, forkCache: false })
    try {
      const ask: Call = (method, ...params) => forked.request({ method, params })
      await ask('anvil_reset', { forking: { blockNumber: 4 } })
      await ask('evm_mine')
      await ask('anvil_reset')
      expect(await ask('eth_blockNumber')).toBe('0x4')
    } finally {
      await forked.close()
    }
  })

  it('closes the old engine and releases it', async () => {
    const [from] = await call('eth_accounts')
    const engines: WeakRef<object>[] = []
    const heaps: number[] = []
    for (let i = 0; i < RESETS; i++) {
      engines.push(new WeakRef(node.engine))
      await fork((i % 4) + 1)
      await call('eth_sendTransaction', { from, to: `0x${'ab'.repeat(20)}`, value: '0x1' })
      if (i + 1 === Math.ceil(RESETS / 2) || i + 1 === RESETS) heaps.push(await liveHeap())
    }
    expect(engines.filter((engine) => engine.deref() !== undefined).length).toBeLessThanOrEqual(1)
    const [half = 0, whole = 0] = heaps
    // Caches of the process fill in the beginning: an engine takes 200 kB and more.
    if (RESETS >= 500) expect((whole - half) / (RESETS / 2)).toBeLessThan(10_000)
  })
})

/** Bytes of the heap after a full collection. */
async function liveHeap(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    await new Promise((turn) => setImmediate(turn))
    collectGarbage()
  }
  return process.memoryUsage().heapUsed
}
