/** Subscriptions in process, and how they are asked for (acceptance checks 157 to 166). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Notification } from '../../../../src/rpc/notification.ts'
import { openSession, type Session } from '../../../../src/rpc/session.ts'
import { HeaderObject } from '../../../../src/rpc/wire/header.ts'
import { LogObject } from '../../../../src/rpc/wire/log.ts'
import { type LoggingChain, loggingChain, topic } from '../../../support/logging-chain.ts'

let chain: LoggingChain
/** What came, by subscription. */
// biome-ignore lint/suspicious/noExplicitAny: payloads are what the tests look into
let received: { subscription: string; result: any }[]
beforeEach(async () => {
  chain = await loggingChain({ maxSubscriptions: 4 })
  received = []
  chain.node.on('message', ({ type, data }) => {
    expect(type).toBe('eth_subscription')
    received.push(data as (typeof received)[number])
  })
})
afterEach(() => chain.close())

const call = (method: string, ...params: unknown[]) => chain.call(method, ...params)
const subscribe = (...params: unknown[]): Promise<string> => call('eth_subscribe', ...params)
const results = (id: string) =>
  received.filter(({ subscription }) => subscription === id).map(({ result }) => result)

describe('eth_subscribe', () => {
  it('to newHeads notifies of each header that joins the chain', async () => {
    const id = await subscribe('newHeads')
    expect(id).toMatch(/^0x[0-9a-f]{32}$/)
    await chain.log(0, [1, 1])
    await chain.mine(2)
    const heads = results(id)
    expect(heads).toHaveLength(2)
    for (const head of heads) {
      HeaderObject.parse(head)
      const { baseEvent, ...shared } = head
      expect(baseEvent).toBe('0x00')
      expect(await call('eth_getBlockByNumber', head.number, false)).toMatchObject(shared)
    }
    expect(Object.keys(heads[0]).join(' ')).toBe(
      'difficulty extraData gasLimit gasUsed logsBloom miner number parentHash receiptsRoot sha3Uncles stateRoot timestamp transactionsRoot hash baseEvent',
    )
  })

  it('to logs notifies of matching logs, in the form of eth_getLogs', async () => {
    const { loggers } = chain
    const all = await subscribe('logs')
    const some = await subscribe('logs', { address: loggers[1], topics: [null, [topic(5), null, topic(6)]] })
    for (const [logger, second] of [
      [0, 5],
      [1, 5],
      [1, 7],
      [1, 6],
    ] as const) {
      await chain.log(logger, [chain.height(), second])
    }
    await chain.mine()
    const logs = await call('eth_getLogs', {})
    expect(results(all)).toEqual(logs)
    expect(results(some)).toEqual([logs[1], logs[3]])
    for (const log of results(all)) LogObject.parse(log)
  })

  it('to newPendingTransactions notifies of hashes, and again of those that a replaced branch returns to the pool', async () => {
    const id = await subscribe('newPendingTransactions', null)
    const sent = await chain.log(0, [1, 1])
    await chain.mine()
    expect(results(id)).toEqual([sent])
    await call('evm_reorg', { depth: 1 })
    expect(results(id)).toEqual([sent, sent])
  })

  it('to chain notifies of each change: new blocks, a reorganisation, a revert', async () => {
    const id = await subscribe('chain')
    const snapshot = await call('evm_snapshot')
    await chain.mine()
    const first = await call('eth_getBlockByNumber', 'latest', false)
    const { removed, added } = await call('evm_reorg', { depth: 1 })
    await call('evm_revert', snapshot)
    const base = await call('eth_getBlockByNumber', 'latest', false)
    const ancestor = base.number
    const [came, reorganised, reverted] = results(id)
    expect(came).toEqual({
      number: first.number,
      hash: first.hash,
      ancestor,
      removed: [],
      added: [first.hash],
    })
    expect(removed).toEqual([first.hash])
    expect(added).toHaveLength(2)
    const [lower, higher] = added
    expect(reorganised).toEqual({
      number: `0x${(Number(ancestor) + 2).toString(16)}`,
      hash: higher,
      ancestor,
      removed: [first.hash],
      added: [higher, lower],
    })
    expect(reverted).toEqual({
      number: ancestor,
      hash: base.hash,
      ancestor,
      removed: [higher, lower],
      added: [],
    })
    expect(results(id)).toHaveLength(3)
  })

  it('to syncing is accepted and never notifies, since the node never synchronises', async () => {
    const id = await subscribe('syncing', {})
    await chain.mine(2)
    expect(results(id)).toEqual([])
    expect(await call('eth_unsubscribe', id)).toBe(true)
  })

  it('notifies of a reorganisation: removed logs, then new headers, then their logs, in ascending order', async () => {
    for (const number of [1, 2]) {
      await chain.log(0, [number, 1])
      await chain.mine()
    }
    const heads = await subscribe('newHeads')
    const logs = await subscribe('logs', {})
    const raws = [2n, 3n].map((nonce) => chain.raw(1, [Number(nonce) + 5, 1], { nonce }))
    await call('evm_reorg', {
      depth: 2,
      blocks: [{ transactions: [raws[0]] }, {}, { transactions: [raws[1]] }],
    })
    const order = received.map(({ subscription, result }) =>
      subscription === heads
        ? ['head', Number(result.number)]
        : [result.removed ? 'removed' : 'log', Number(result.blockNumber), Number(result.topics[0])],
    )
    expect(received.every(({ subscription }) => [heads, logs].includes(subscription))).toBe(true)
    expect(order).toEqual([
      ['removed', 2, 1],
      ['removed', 3, 2],
      ['head', 2],
      ['head', 3],
      ['head', 4],
      ['log', 2, 7],
      ['log', 4, 8],
    ])
  })

  it('notifies only of new blocks and logs after a revert to a snapshot', async () => {
    const id = await subscribe('logs', {})
    await chain.log(0, [1, 1])
    await chain.mine()
    const snapshot = await call('evm_snapshot')
    await chain.log(0, [2, 1])
    await chain.mine()
    await call('evm_revert', snapshot)
    await chain.log(0, [3, 1])
    await chain.mine()
    expect(results(id).map(({ topics, removed }) => [Number(topics[0]), removed])).toEqual([
      [1, false],
      [2, false],
      [2, true],
      [3, false],
    ])
  })

  it('passes separate values to each listener', async () => {
    const ids = [await subscribe('newHeads'), await subscribe('newHeads')]
    await chain.mine()
    const [one, two] = ids.map((id) => results(id)[0])
    expect(one).toEqual(two)
    one.number = 'spoilt'
    expect(two.number).toBe('0x2')
  })

  it('ends with eth_unsubscribe, by hex or decimal id, and only once', async () => {
    const id = await subscribe('newHeads')
    const other = await subscribe('newHeads')
    expect(await call('eth_unsubscribe', BigInt(id).toString())).toBe(true)
    expect(await call('eth_unsubscribe', id)).toBe(false)
    await chain.mine()
    expect(results(id)).toEqual([])
    expect(results(other)).toHaveLength(1)
  })

  it('is refused beyond the limit', async () => {
    const ids = []
    for (let i = 0; i < 4; i++) ids.push(await subscribe('newHeads'))
    await expect(subscribe('logs', {})).rejects.toMatchObject({ code: -32005 })
    await call('eth_unsubscribe', ids[2])
    await subscribe('logs', {})
  })

  it('counts a long list as several', async () => {
    const address = Array.from({ length: 150 }, (_, i) => `0x${String(i).padStart(40, '0')}`)
    await subscribe('logs', { address })
    await expect(subscribe('newHeads')).rejects.toMatchObject({
      code: -32005,
      message: 'no more than 4 subscriptions can be open at once',
    })
    await expect(subscribe('logs', { address: [...address, ...address] })).rejects.toMatchObject({
      code: -32005,
      message: 'no more than 4 subscriptions can be open at once; large ones count as several',
    })
  })

  it.each<[unknown[], number, string]>([
    [['nope'], -32601, 'method not found'],
    [[], -32602, 'method parameters invalid'],
    [['logs', {}, {}], -32602, 'method parameters invalid'],
    [['logs', 'x'], -32602, 'Invalid filter: expected an object.'],
    [
      ['newHeads', { limit: 1 }],
      -32602,
      'Invalid filter.limit: expected address, topics, fromBlock or toBlock only.',
    ],
    [['logs', { topics: ['0x11'] }], -32602, 'Invalid topic: incorrect length.'],
    [['logs', { address: 'x' }], -32602, 'Invalid address: null, empty or invalid hex value.'],
  ])('refuses %j', async (params, code, message) => {
    await expect(subscribe(...params)).rejects.toMatchObject({ code, message })
  })

  it.each([[], ['zz'], [null], [-1], [1.5]])('eth_unsubscribe refuses %j', async (...params) => {
    await expect(call('eth_unsubscribe', ...params)).rejects.toMatchObject({ code: -32602 })
  })
})

describe('a session', () => {
  function listening(): { session: Session; got: Notification[]; leave: () => void } {
    const got: Notification[] = []
    const listeners: (() => void)[] = []
    const session: Session = {
      ...openSession('test'),
      notify: (notification) => void got.push(notification),
      onClose: (listener) => void listeners.push(listener),
    }
    function leave(): void {
      for (const listener of listeners.splice(0)) listener()
    }
    return { session, got, leave }
  }
  const ask = (session: Session, method: string, ...params: unknown[]) =>
    chain.node.dispatcher.request(method, params, session)

  it('that cannot be notified gets method not found', async () => {
    const { dispatcher } = chain.node
    for (const [method, param] of [
      ['eth_subscribe', 'newHeads'],
      ['eth_unsubscribe', '0x1'],
    ] as const) {
      const request = { jsonrpc: '2.0', id: 1, method, params: [param] }
      expect(await dispatcher.dispatch(request, openSession('http'))).toMatchObject({
        error: { code: -32601, message: 'method not found' },
      })
    }
  })

  it('ends its subscriptions when it disconnects, and no other session can end them', async () => {
    const [one, two] = [listening(), listening()]
    const id = await ask(one.session, 'eth_subscribe', 'newHeads')
    await ask(two.session, 'eth_subscribe', 'newHeads')
    expect(await ask(two.session, 'eth_unsubscribe', id)).toBe(false)
    await chain.mine()
    one.leave()
    await chain.mine()
    expect([one.got.length, two.got.length]).toEqual([1, 2])
    expect(await ask(one.session, 'eth_unsubscribe', id)).toBe(false)
  })

  it('shares its limit of subscriptions with sessions of the same key, and with no others', async () => {
    const holding = (owner: string) => {
      const { session, leave } = listening()
      return { session: { ...session, owner }, leave }
    }
    const [one, two, other, keyless] = [holding('ci'), holding('ci'), holding('dev'), holding('')]
    const add = ({ session }: { session: Session }) => ask(session, 'eth_subscribe', 'newHeads')
    const ids = [await add(one), await add(one), await add(two), await add(two)]
    for (const full of [one, two]) await expect(add(full)).rejects.toMatchObject({ kind: 'too-many' })
    for (const free of [other, keyless, holding('')]) for (let i = 0; i < 4; i++) await add(free)
    expect(await ask(one.session, 'eth_unsubscribe', ids[0])).toBe(true)
    await add(two)
    await expect(add(one)).rejects.toMatchObject({ kind: 'too-many' })
    two.leave()
    for (let i = 0; i < 3; i++) await add(one)
    await expect(add(one)).rejects.toMatchObject({ kind: 'too-many' })
  })

  it('that disconnects during its call keeps no subscription', async () => {
    const { session, got } = listening()
    const gone: Session = { ...session, onClose: (listener) => listener() }
    const id = await ask(gone, 'eth_subscribe', 'newHeads')
    await chain.mine()
    expect(got).toEqual([])
    expect(await ask(gone, 'eth_unsubscribe', id)).toBe(false)
  })

  it('shares the text of an event with all other subscribers', async () => {
    const [one, two] = [listening(), listening()]
    for (const { session } of [one, two]) {
      await ask(session, 'eth_subscribe', 'newHeads')
      await ask(session, 'eth_subscribe', 'logs', { topics: [[topic(1)]] })
    }
    await chain.log(0, [1, 1])
    await chain.mine()
    expect(one.got).toHaveLength(2)
    for (const [i, { event }] of one.got.entries()) expect(two.got[i]?.event).toBe(event)
  })

  it('that fails does not prevent notifications to others', async () => {
    const [bad, good] = [listening(), listening()]
    const failing: Session = {
      ...bad.session,
      notify() {
        throw new Error('broken')
      },
    }
    await ask(failing, 'eth_subscribe', 'newHeads')
    await ask(good.session, 'eth_subscribe', 'newHeads')
    await chain.mine()
    expect(good.got).toHaveLength(1)
  })

  it.each([-1, 1.5, '', null])(
    'must send a message id that is text or a positive integer, not %j',
    async (id) => {
      const { session } = listening()
      const { dispatcher } = chain.node
      for (const method of ['eth_subscribe', 'eth_unsubscribe']) {
        expect(
          await dispatcher.dispatch({ jsonrpc: '2.0', id, method, params: ['newHeads'] }, session),
        ).toEqual({
          jsonrpc: '2.0',
          id,
          error: {
            code: -32602,
            message: `JSON-RPC message id should be a String or a positive integer, but was '${JSON.stringify(id)}'.`,
          },
        })
      }
      const answer = await dispatcher.dispatch({ jsonrpc: '2.0', id, method: 'eth_chainId' }, session)
      expect(answer).toMatchObject({ result: '0x21' })
    },
  )
})
