/** The filter of log queries (acceptance checks 144 to 155). */
import { describe, expect, it } from 'vitest'
import type { LogQuery } from '../../../../src/engine/model.ts'
import { NodeError } from '../../../../src/errors.ts'
import { type NodeOptions, resolveNodeOptions } from '../../../../src/options/options.ts'
import { A, B, block1, CONTRACT, logging, sideBlock, TOPIC, UNKNOWN } from '../../../support/fake-chain.ts'
import { fakeEngine } from '../../../support/fake-engine.ts'
import { ask, dispatcherOf } from '../../../support/rpc.ts'

async function asked(...params: unknown[]) {
  const { engine, calls } = fakeEngine()
  return { outcome: await ask(dispatcherOf(engine), 'eth_getLogs', params), query: calls[0]?.args[0] }
}

describe('eth_getLogs', () => {
  it('returns full logs with the member removed', async () => {
    const { outcome } = await asked({})
    expect(outcome.result).toEqual([
      {
        logIndex: '0x1',
        blockNumber: '0x1',
        blockHash: block1.hash,
        transactionHash: logging.hash,
        transactionIndex: '0x2',
        address: CONTRACT,
        data: '0x',
        topics: [TOPIC],
        removed: false,
      },
    ])
  })

  it.each<[object, { from: number; to: number } | { blockHash: string }]>([
    [{}, { from: 1, to: 1 }],
    [{ toBlock: '0x0' }, { from: 1, to: 1 }],
    [
      { fromBlock: 'latest', toBlock: '0x0' },
      { from: 1, to: 1 },
    ],
    [{ fromBlock: 'earliest' }, { from: 0, to: 1 }],
    [
      { fromBlock: '0x0', toBlock: '0x0' },
      { from: 0, to: 0 },
    ],
    [
      { fromBlock: '0x0', toBlock: 'latest' },
      { from: 0, to: 1 },
    ],
    [
      { fromBlock: '0x0', toBlock: 'pending' },
      { from: 0, to: 1 },
    ],
    [
      { fromBlock: '0x0', toBlock: '0xffffff' },
      { from: 0, to: 1 },
    ],
    [{ blockHash: block1.hash }, { blockHash: block1.hash }],
    [{ blockHash: sideBlock.hash }, { blockHash: sideBlock.hash }],
  ])('%j asks for %j', async (filter, range) => {
    expect((await asked(filter)).query).toMatchObject({ range, maxBlocks: 5000, maxLogs: 20_000 })
  })

  it.each([
    { fromBlock: 'pending' },
    { fromBlock: '0xffffff' },
    { blockHash: UNKNOWN },
    // As the reference node answers: fixtures/reference-node/rpc/all.json.gz
    { fromBlock: '0x1', toBlock: '0x0' },
  ])('%j matches nothing', async (filter) => {
    expect(await asked(filter)).toEqual({ outcome: { result: [] }, query: undefined })
  })

  it.each([
    [{ address: A }, [A]],
    [{ address: [A, B] }, [A, B]],
    [{ address: [] }, []],
    [{ address: null }, []],
  ])('%j', async (filter, addresses) => {
    expect((await asked(filter)).query).toMatchObject({ addresses })
  })

  it.each<[unknown, unknown]>([
    [null, []],
    [[], []],
    [TOPIC, [[TOPIC]]],
    [[TOPIC], [[TOPIC]]],
    [
      [null, TOPIC],
      [null, [TOPIC]],
    ],
    [[[TOPIC, UNKNOWN]], [[TOPIC, UNKNOWN]]],
    [[[TOPIC, null]], [[TOPIC]]],
    [[[]], []],
    [[null, null], []],
  ])('topics %j', async (given, topics) => {
    expect((await asked({ topics: given })).query).toMatchObject({ topics })
  })

  it.each<[unknown, string]>([
    [{ blockHash: UNKNOWN, fromBlock: '0x0' }, 'Cannot specify both blockHash and fromBlock/toBlock'],
    [{ topics: ['0x11'] }, 'Invalid topic: incorrect length.'],
    [{ topics: [[[]]] }, 'Invalid topic: incorrect length.'],
    [{ topics: 5 }, 'Invalid filter.topics: expected an array.'],
    [{ address: [''] }, 'Invalid address: null, empty or invalid hex value.'],
    [{ fromBlock: 'foo' }, "Invalid block identifier 'foo'"],
    [{ fromBlock: null }, "Invalid block identifier 'null'"],
    [{ fromBlock: '5' }, 'Invalid filter.fromBlock: expected a hex block number or a tag.'],
    [{ toBlock: 'safe' }, 'Invalid filter.toBlock: expected a hex block number or a tag.'],
    [{ blockHash: '0x1' }, 'Invalid block hash: incorrect length.'],
    [{ address: new Array(5001).fill(TOPIC) }, 'Invalid filter.address: expected at most 5000 items.'],
    [{ topics: new Array(5001).fill(null) }, 'Invalid filter.topics: expected at most 5000 items.'],
    [
      { topics: [[TOPIC], new Array(5000).fill(TOPIC)] },
      'Invalid filter.topics: expected at most 5000 items.',
    ],
    [null, 'Invalid filter: expected an object.'],
    [[], 'Invalid filter: expected an object.'],
  ])('refuses %j', async (filter, message) => {
    expect((await asked(filter)).outcome).toEqual({ error: { code: -32602, message } })
  })

  it('requires a filter', async () => {
    expect((await asked()).outcome).toEqual({ error: { code: -32602, message: 'method parameters invalid' } })
  })

  it('names the exceeded limit', async () => {
    const logs = async ({ maxLogs }: { maxLogs: number }) => {
      throw new NodeError('log-limit', `Filter returned more than ${maxLogs} logs.`)
    }
    const limited = dispatcherOf(fakeEngine({ queries: { logs } }).engine, { maxLogs: 1 })
    expect(await ask(limited, 'eth_getLogs', [{}])).toEqual({
      error: { code: -32012, message: 'Filter returned more than 1 logs.' },
    })
  })
})

describe('eth_getLogs of the hosted profile', () => {
  const HEIGHT = 5000
  const head = () => ({
    ...block1,
    block: { ...block1.block, header: { ...block1.block.header, number: HEIGHT } },
  })

  async function hosted(filter: object, given: Pick<NodeOptions, 'maxLogs' | 'maxLogBlocks'> = {}) {
    const asked: LogQuery[] = []
    const logs = async (query: LogQuery) => {
      asked.push(query)
      throw query.tooMany?.() ?? new Error('no refusal')
    }
    const { engine } = fakeEngine({ queries: { head, logs } })
    const { maxLogs, maxLogBlocks } = resolveNodeOptions({ profile: 'hosted', ...given })
    const dispatcher = dispatcherOf(engine, { profile: 'hosted', maxLogs, maxLogBlocks })
    const { error } = await ask(dispatcher, 'eth_getLogs', [filter])
    return { error, query: asked[0] }
  }

  it('allows 10,000 logs over any range, and names both limits when they are exceeded', async () => {
    for (const fromBlock of ['0x0', `0x${(HEIGHT - 2000).toString(16)}`]) {
      const { error, query } = await hosted({ fromBlock })
      expect(query).toMatchObject({ maxBlocks: 0, maxLogs: 10_000 })
      expect(error?.code).toBe(-32005)
      expect(error?.message).toBe(
        'query returned more than 10000 results: a query may return at most 10000 logs over any range, or any number over at most 2000 blocks',
      )
    }
  })

  it('has the limits that an operator sets', async () => {
    const given = { maxLogs: 7, maxLogBlocks: 5 }
    const { error, query } = await hosted({ fromBlock: `0x${(HEIGHT - 5).toString(16)}` }, given)
    expect(query).toMatchObject({ maxBlocks: 0, maxLogs: 7 })
    expect(error?.message).toBe(
      'query returned more than 7 results: a query may return at most 7 logs over any range, or any number over at most 5 blocks',
    )
    const one = await hosted({ fromBlock: '0x0' }, { maxLogs: 1, maxLogBlocks: 1 })
    expect(one.error?.message).toBe(
      'query returned more than 1 result: a query may return at most 1 log over any range, or any number over at most 1 block',
    )
    for (const wide of [{ maxLogs: 0 }, { maxLogBlocks: 0 }]) {
      const { query: unlimited } = await hosted({ fromBlock: '0x0' }, wide)
      expect(unlimited).toMatchObject({ maxBlocks: 0, maxLogs: Math.floor(10_485_760 / 300) })
    }
  })

  it.each([{ fromBlock: `0x${(HEIGHT - 1999).toString(16)}` }, {}, { blockHash: block1.hash }])(
    'allows as many logs as fit a reply over 2,000 blocks: %j',
    async (filter) => {
      const { error, query } = await hosted(filter)
      expect(query).toMatchObject({ maxBlocks: 0, maxLogs: Math.floor(10_485_760 / 300) })
      expect(error).toEqual({ code: -32011, message: 'Response size limit of 10485760 bytes exceeded' })
    },
  )
})
