/** Filters to poll, on a node in process (acceptance checks 138 to 143 and 156). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSession } from '../../../../src/rpc/session.ts'
import { type LoggingChain, loggingChain, topic } from '../../../support/logging-chain.ts'
import { saying } from '../../../support/refusals.ts'

let chain: LoggingChain
let now = 1_700_000_000
beforeEach(async () => {
  chain = await loggingChain({ now: () => now, maxFilters: 5 })
})
afterEach(() => chain.close())

const call = (method: string, ...params: unknown[]) => chain.call(method, ...params)
const changes = (id: string) => call('eth_getFilterChanges', id)
const NOT_FOUND = { code: -32000, message: 'filter not found' }
const brief = (logs: readonly { blockNumber: string; topics: readonly string[]; removed: boolean }[]) =>
  logs.map(({ blockNumber, topics, removed }) => [Number(blockNumber), Number(topics[0]), removed])

describe('a filter', () => {
  it('on blocks returns their hashes in order, once', async () => {
    const id = await call('eth_newBlockFilter')
    expect(id).toMatch(/^0x[0-9a-f]{72}$/)
    expect(Buffer.from(id.slice(2), 'hex').toString()).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    const mined = await chain.mine(2)
    const hashes = mined.map(({ hash }) => hash)
    expect(await changes(id)).toEqual(hashes)
    expect(await changes(id)).toEqual([])
    expect(await call('eth_getFilterLogs', id)).toEqual(hashes)
    await call('evm_reorg', { depth: 1 })
    const { hash } = await call('eth_getBlockByNumber', '0x3', false)
    const { hash: head } = await call('eth_getBlockByNumber', 'latest', false)
    expect(await changes(id.toUpperCase().replace('0X', '0x'))).toEqual([hash, head])
  })

  it('on pending transactions returns their hashes, and again after a reorganisation', async () => {
    const id = await call('eth_newPendingTransactionFilter')
    const sent = await chain.log(0, [1, 2])
    expect(await call('eth_getFilterLogs', id)).toEqual([sent])
    expect(await changes(id)).toEqual([sent])
    await chain.mine()
    expect(await changes(id)).toEqual([])
    await call('evm_reorg', { depth: 1 })
    expect(await changes(id)).toEqual([sent])
    expect(await call('eth_getFilterLogs', id)).toEqual([sent, sent])
  })

  it('on past logs returns the matching ones first, then new ones', async () => {
    await chain.log(0, [7, 1])
    await chain.mine()
    const id = await call('eth_newFilter', { fromBlock: '0x0' })
    const first = await changes(id)
    expect(brief(first)).toEqual([[2, 7, false]])
    expect(first).toEqual(await call('eth_getLogs', { fromBlock: '0x0' }))
    expect(await changes(id)).toEqual([])
    expect(await call('eth_getFilterLogs', id)).toEqual(first)
    await chain.log(1, [8, 1])
    await chain.mine(3)
    expect(brief(await changes(id))).toEqual([[3, 8, false]])
    expect(await changes(id)).toEqual([])
  })

  it('on logs from the head on returns only new ones, whatever number of blocks is mined between two polls', async () => {
    await chain.log(0, [1, 1])
    await chain.mine()
    const ids = [
      await call('eth_newFilter', {}),
      await call('eth_newFilter', { fromBlock: 'latest', toBlock: 'latest' }),
    ]
    for (const number of [2, 3, 4]) {
      await chain.log(0, [number, 1])
      await chain.mine()
    }
    for (const id of ids) {
      expect(brief(await changes(id)).map(([, number]) => number)).toEqual([2, 3, 4])
      expect(await changes(id)).toEqual([])
    }
  })

  it('with address, topics and range returns only logs that match them', async () => {
    const { loggers } = chain
    const byAddress = await call('eth_newFilter', { address: loggers[1] })
    const byTopics = await call('eth_newFilter', { topics: [null, [topic(5), topic(6)]] })
    const bounded = await call('eth_newFilter', { fromBlock: '0x3', toBlock: '0x4' })
    for (const [logger, second] of [
      [0, 5],
      [1, 6],
      [1, 7],
      [0, 6],
    ] as const) {
      await chain.log(logger, [chain.height(), second])
      await chain.mine()
    }
    expect(brief(await changes(byAddress)).map(([height]) => height)).toEqual([3, 4])
    expect(brief(await changes(byTopics)).map(([height]) => height)).toEqual([2, 3, 5])
    expect(brief(await changes(bounded)).map(([height]) => height)).toEqual([3, 4])
  })

  it('on logs returns logs of a replaced branch as removed, then the new ones', async () => {
    const id = await call('eth_newFilter', { fromBlock: '0x0' })
    for (const number of [1, 2]) {
      await chain.log(0, [number, 1])
      await chain.mine()
    }
    expect(brief(await changes(id))).toHaveLength(2)
    await call('evm_reorg', {
      depth: 2,
      blocks: [{ transactions: [chain.raw(1, [9, 1], { nonce: 2n })] }, {}, {}],
    })
    expect(brief(await changes(id))).toEqual([
      [2, 1, true],
      [3, 2, true],
      [2, 9, false],
    ])
    expect(brief(await call('eth_getFilterLogs', id))).toEqual([[2, 9, false]])
  })

  it('returns logs that were added and removed between two polls, also when their blocks were pruned', async () => {
    const id = await call('eth_newFilter', {})
    const snapshot = await call('evm_snapshot')
    await chain.log(0, [1, 1])
    await chain.mine()
    await call('evm_revert', snapshot)
    expect(brief(await changes(id))).toEqual([
      [2, 1, false],
      [2, 1, true],
    ])
  })

  it('on one block reports when that block is removed', async () => {
    await chain.log(0, [1, 1])
    const [block] = await chain.mine()
    const id = await call('eth_newFilter', { blockHash: block?.hash })
    await chain.log(0, [2, 1])
    await chain.mine()
    expect(brief(await changes(id))).toEqual([[2, 1, false]])
    await call('evm_reorg', { depth: 2 })
    expect(brief(await changes(id))).toEqual([[2, 1, true]])
  })

  it('is not found after it was removed', async () => {
    const id = await call('eth_newBlockFilter')
    expect(await call('eth_uninstallFilter', id)).toBe(true)
    expect(await call('eth_uninstallFilter', id)).toBe(false)
    expect(await call('eth_uninstallFilter', null)).toBe(false)
    for (const method of ['eth_getFilterChanges', 'eth_getFilterLogs']) {
      await expect(call(method, id)).rejects.toMatchObject(NOT_FOUND)
      await expect(call(method, '0x1')).rejects.toMatchObject(NOT_FOUND)
      await expect(call(method, 'zz')).rejects.toMatchObject({
        code: -32602,
        message: 'Invalid data format: invalid hex value.',
      })
    }
    // A number is text to the reference node: fixtures/reference-node/rpc/all.json.gz
    await expect(changes(5 as unknown as string)).rejects.toMatchObject(NOT_FOUND)
    await expect(changes(null as unknown as string)).rejects.toMatchObject({ code: -32602 })
  })

  it('expires after five minutes without a poll, and not while it is polled', async () => {
    const idle = await call('eth_newBlockFilter')
    const used = await call('eth_newFilter', {})
    now += 200
    await changes(used)
    now += 101
    await chain.mine()
    await changes(used)
    await expect(changes(idle)).rejects.toMatchObject(NOT_FOUND)
    expect(await call('eth_uninstallFilter', idle)).toBe(false)
    now += 301
    expect(await call('eth_uninstallFilter', used)).toBe(false)
  })

  it('belongs to its owner', async () => {
    const { dispatcher } = chain.node
    const ask = (owner: string, method: string, ...params: unknown[]) =>
      dispatcher.request(method, params, { ...openSession('test'), owner })
    const id = await ask('alice', 'eth_newBlockFilter')
    await chain.mine()
    await expect(ask('bob', 'eth_getFilterChanges', id)).rejects.toThrow(saying('filter not found'))
    await expect(ask('', 'eth_getFilterLogs', id)).rejects.toThrow(saying('filter not found'))
    expect(await ask('bob', 'eth_uninstallFilter', id)).toBe(false)
    expect(await ask('alice', 'eth_getFilterChanges', id)).toHaveLength(1)
  })

  it('is refused beyond the limit, until another one is uninstalled or expires', async () => {
    const ids = []
    for (let i = 0; i < 5; i++) ids.push(await call('eth_newBlockFilter'))
    await expect(call('eth_newBlockFilter')).rejects.toMatchObject({ code: -32005 })
    await call('eth_uninstallFilter', ids[0])
    await call('eth_newFilter', {})
    await expect(call('eth_newFilter', {})).rejects.toMatchObject({ code: -32005 })
    now += 301
    await call('eth_newFilter', {})
  })

  it('with a long list, or many logs that wait, counts as several', async () => {
    const topics = [Array.from({ length: 100 }, (_, i) => topic(i)), null, [topic(1), topic(2)]]
    const large = await call('eth_newFilter', { topics })
    await expect(call('eth_newFilter', { topics })).rejects.toMatchObject({
      code: -32005,
      message: 'no more than 5 filters can be open at once; large ones count as several',
    })
    await call('eth_uninstallFilter', large)
    for (let i = 0; i < 210; i++) {
      await chain.log(0, [1, 1])
      if (i % 15 === 14) await chain.mine()
    }
    const filled = await call('eth_newFilter', { fromBlock: '0x1' })
    await expect(call('eth_newFilter', { fromBlock: '0x1' })).rejects.toMatchObject({ code: -32005 })
    expect(await changes(filled)).toEqual(await call('eth_getLogs', { fromBlock: '0x1' }))
    await call('eth_newFilter', { fromBlock: '0x1' })
  })

  it('is refused when its past logs exceed the limits of a query, and then does not count', async () => {
    await chain.close()
    chain = await loggingChain({ now: () => now, maxFilters: 5, maxLogBlocks: 1 })
    for (let i = 0; i < 3; i++) await chain.mine()
    for (let i = 0; i < 6; i++) {
      await expect(call('eth_newFilter', { fromBlock: '0x1' })).rejects.toMatchObject({
        code: -32012,
        message: 'Cannot query more than 1 blocks at once',
      })
    }
    await call('eth_newFilter', {})
  })

  it('matches nothing when its first block is above its last', async () => {
    await chain.log(0, [1, 1])
    await chain.mine()
    const id = await call('eth_newFilter', { fromBlock: '0x1', toBlock: '0x0' })
    expect(await changes(id)).toEqual([])
    await chain.log(0, [1, 1])
    await chain.mine()
    expect(await changes(id)).toEqual([])
    expect(await call('eth_getFilterLogs', id)).toEqual([])
  })
})

describe('a poll result that exceeds the limit of a reply', () => {
  /** What all polls give until nothing is left, poll by poll. */
  async function pollAll(id: string) {
    const polls = []
    for (let poll = await changes(id); poll.length > 0; poll = await changes(id)) polls.push(poll)
    return polls
  }
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

  beforeEach(async () => {
    await chain.close()
    chain = await loggingChain({ maxResponseBytes: 4000 })
  })

  it('is continued by the next polls, without loss', async () => {
    for (let i = 0; i < 8; i++) await chain.log(0, [i, 1])
    await chain.mine()
    const id = await call('eth_newFilter', { fromBlock: '0x0' })
    for (let i = 8; i < 20; i++) {
      await chain.log(0, [i, 1])
      await chain.mine()
    }
    const polls = (await pollAll(id)).map(brief)
    expect(polls.flat().map(([, number]) => number)).toEqual(numbers(20))
    expect(polls.length).toBeGreaterThan(3)
  })

  it('is split within a block when one block exceeds the limit', async () => {
    const id = await call('eth_newFilter', {})
    for (let i = 0; i < 15; i++) await chain.log(0, [i, 1])
    await chain.mine()
    const polls = await pollAll(id)
    expect(polls.flatMap(brief).map(([, number]) => number)).toEqual(numbers(15))
    for (const poll of polls) expect(JSON.stringify(poll).length).toBeLessThan(4000)
  })

  it('of blocks and transactions is continued, too', async () => {
    const [blocks, waiting] = [
      await call('eth_newBlockFilter'),
      await call('eth_newPendingTransactionFilter'),
    ]
    const sent = []
    for (let i = 0; i < 15; i++) sent.push(await chain.log(0, [i, 1]))
    await chain.mine()
    const hashes = (await chain.mine(90)).map(({ hash }) => hash)
    for (let i = 15; i < 70; i++) {
      sent.push(await chain.log(0, [i, 1]))
      if (i % 8 === 0) await chain.mine()
    }
    for (const [id, all] of [
      [blocks, hashes],
      [waiting, sent],
    ] as const) {
      const polls = await pollAll(id)
      expect(polls.length).toBeGreaterThan(1)
      for (const poll of polls) expect(JSON.stringify(poll).length).toBeLessThan(4000)
      expect(polls.flat()).toEqual(expect.arrayContaining(all))
      expect(new Set(polls.flat()).size).toBe(polls.flat().length)
    }
  })
})
