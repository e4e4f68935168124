/**
 * Envelope, batches, limits and permission (docs/internals/rpc-reference.md#2-requests,
 * docs/internals/rpc-reference.md#131-transport-and-envelope).
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { NodeError } from '../../src/errors.ts'
import type { Logger } from '../../src/logger.ts'
import { silentLogger } from '../../src/logger.ts'
import { RpcError, toErrorObject } from '../../src/rpc/error-codes.ts'
import { method } from '../../src/rpc/method.ts'
import { openSession } from '../../src/rpc/session.ts'
import { A } from '../support/fake-chain.ts'
import { fakeEngine } from '../support/fake-engine.ts'
import { ask, dispatcherOf, SESSION } from '../support/rpc.ts'

const { engine } = fakeEngine()
const dispatcher = dispatcherOf(engine)

async function send(text: string): Promise<unknown> {
  const reply = await dispatcher.dispatchText(text, SESSION)
  return reply === undefined ? undefined : JSON.parse(reply)
}
const call = (over: object) => send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', ...over }))
const refused = (code: number, message: string, id: unknown = null) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})

describe('unreadable messages', () => {
  it.each(['not json', '', '{"jsonrpc":"2.0"', '[1,', '{"id":1}{"id":2}'])(
    'refuses %j as invalid JSON',
    async (text) => {
      expect(await send(text)).toEqual(refused(-32700, 'JSON parse error'))
    },
  )

  it.each(['5', '"text"', 'null', 'true', '{}', '[]', '{"method":1}', '{"foo":"boo"}'])(
    'refuses %s as an invalid request',
    async (text) => {
      expect(await send(text)).toEqual(refused(-32600, 'invalid request'))
    },
  )

  it('refuses 1,200 levels of nesting and answers the next message', async () => {
    expect(await send('['.repeat(1200) + ']'.repeat(1200))).toEqual(refused(-32600, 'Invalid request'))
    expect(await send('['.repeat(2_000_000))).toEqual(refused(-32600, 'Invalid request'))
    expect(await call({})).toMatchObject({ result: '0x21' })
  })

  it('refuses deep batches that are passed as values, circular ones too', async () => {
    const circular: unknown[] = []
    circular.push(circular)
    expect(await dispatcher.dispatch(circular, SESSION)).toEqual(refused(-32600, 'Invalid request'))
  })
})

describe('synchronous answers', () => {
  const pieces = (text: string) => dispatcherOf(engine).dispatchPieces(text, SESSION)

  it('include results and refusals of synchronous methods', () => {
    expect(pieces('{"id":1,"method":"eth_chainId"}')).toBe('{"jsonrpc":"2.0","id":1,"result":"0x21"}')
    expect(pieces('{"id":1,"method":"eth_nope"}')).toContain('"code":-32601')
    expect(pieces('5')).toContain('"code":-32600')
    expect(pieces('{"method":"eth_chainId"}')).toBeUndefined()
  })

  it('free the place of each call', () => {
    const small = dispatcherOf(engine, { maxPending: 1 })
    for (let i = 0; i < 3; i++) {
      expect(small.dispatchPieces('{"id":1,"method":"eth_chainId"}', SESSION)).toContain('"result"')
      expect(small.dispatchPieces('{"id":1,"method":"eth_nope"}', SESSION)).toContain('"code":-32601')
    }
    expect(small.load.figures.pending).toBe(0)
  })
})

describe('envelope', () => {
  it('answers with jsonrpc, id and result, in this order', async () => {
    const text = await dispatcher.dispatchText('{"method":"eth_chainId","id":7,"extra":1}', SESSION)
    expect(text).toBe('{"jsonrpc":"2.0","id":7,"result":"0x21"}')
  })

  it('keeps a null result', async () => {
    const text = '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0xffffff",false]}'
    expect(await dispatcher.dispatchText(text, SESSION)).toBe('{"jsonrpc":"2.0","id":1,"result":null}')
  })

  it.each(['abc', '', 0, -1, 9_999_999_999, 1.5, null])('returns the id %j', async (id) => {
    expect(await call({ id })).toEqual({ jsonrpc: '2.0', id, result: '0x21' })
    expect(await call({ id, method: 'eth_nope' })).toEqual(refused(-32601, 'method not found', id))
  })

  it.each([true, {}, []])('cannot use %j as an id', async (id) => {
    expect(await call({ id })).toEqual(refused(-32600, 'invalid request'))
  })

  it('returns the version of the request, except for an unknown method', async () => {
    expect(await call({ jsonrpc: '1.0' })).toEqual({ jsonrpc: '1.0', id: 1, result: '0x21' })
    expect(await call({ jsonrpc: 2 })).toEqual({ jsonrpc: '2.0', id: 1, result: '0x21' })
    expect(await call({ jsonrpc: '1.0', method: 'nope' })).toMatchObject({ jsonrpc: '2.0' })
  })

  it('keeps the id of a request without a method', async () => {
    expect(await send('{"id":5}')).toEqual(refused(-32600, 'invalid request', 5))
  })

  it.each(['eth_nope', '', 'toString', 'constructor', '__proto__'])(
    'refuses the unknown method %j',
    async (name) => {
      expect(await call({ method: name })).toEqual(refused(-32601, 'method not found', 1))
    },
  )

  it.each([
    ['db_putString', 'the db_ methods are deprecated'],
    ['eth_compileSolidity', 'the node holds no compilers'],
    ['eth_getCompilers', 'the node holds no compilers'],
    ['shh_version', 'the messaging protocol is not supported'],
  ])('gives the reason why %s does not exist', async (name, reason) => {
    const message = `the method ${name} does not exist/is not available: ${reason}`
    expect((await ask(dispatcher, name)).error).toEqual({ code: -32601, message })
  })
})

describe('parameters', () => {
  it.each([undefined, null, {}, []])('treats %j as no parameters', async (params) => {
    expect(await call({ params })).toMatchObject({ result: '0x21' })
  })

  it('refuses named, surplus and missing ones', async () => {
    const wrong = refused(-32602, 'method parameters invalid', 1)
    expect(await call({ method: 'eth_getBalance', params: { address: A } })).toEqual(wrong)
    expect(await call({ method: 'eth_blockNumber', params: [1] })).toEqual(wrong)
    expect(await call({ method: 'eth_getBalance', params: [] })).toEqual(wrong)
    expect(await call({ method: 'eth_getBalance', params: [A, 'latest', 1] })).toEqual(wrong)
  })

  it.each(['text', 5, true])('refuses %j', async (params) => {
    expect(await call({ params })).toEqual(refused(-32600, 'invalid request', 1))
  })
})

describe('batches and notifications', () => {
  const one = (id: number) => ({ jsonrpc: '2.0', id, method: 'eth_chainId' })
  const many = (count: number) => Array.from({ length: count }, (_, id) => one(id))
  const answered = (id: number) => ({ jsonrpc: '2.0', id, result: '0x21' })

  it('does not answer a notification, even an invalid one', async () => {
    expect(await send('{"jsonrpc":"2.0","method":"eth_chainId"}')).toBeUndefined()
    expect(await send('{"jsonrpc":"2.0","method":"eth_nope"}')).toBeUndefined()
    expect(await send('[{"method":"eth_chainId"},{"method":"eth_chainId"}]')).toBeUndefined()
  })

  it('runs a notification', async () => {
    const noting = fakeEngine()
    await dispatcherOf(noting.engine).dispatchText('{"method":"evm_mine"}', SESSION)
    expect(noting.calls.map(({ name }) => name)).toEqual(['mine'])
  })

  it('answers in order, and invalid entries at their position', async () => {
    const replies = await send(
      JSON.stringify([one(0), { id: 1, method: 'eth_nope' }, 1, { method: 'eth_chainId' }]),
    )
    expect(replies).toEqual([
      answered(0),
      refused(-32601, 'method not found', 1),
      refused(-32600, 'invalid request'),
    ])
  })

  it('accepts at most 50 requests, those of nested batches included', async () => {
    expect(await send(JSON.stringify(many(50)))).toEqual(many(50).map(({ id }) => answered(id)))
    const words = 'Cannot dispatch batch requests. 50 is the max number of supported batch requests'
    expect(await send(JSON.stringify(many(51)))).toEqual(refused(-32600, words))
    expect(await send(JSON.stringify([many(25), many(26)]))).toEqual(refused(-32600, words))
    expect(await send(JSON.stringify(Array(51).fill([])))).toEqual(refused(-32600, words))
  })

  it('answers nested batches with nested batches', async () => {
    expect(await send(JSON.stringify([[one(0)], one(1), []]))).toEqual([
      [answered(0)],
      answered(1),
      refused(-32600, 'invalid request'),
    ])
  })
})

describe('limits', () => {
  const never = fakeEngine({ queries: { block: () => new Promise(() => {}) } }).engine
  const request = (id: number) => ({ jsonrpc: '2.0', id, method: 'eth_getBlockByNumber', params: ['latest'] })

  it('ends a request at its deadline, and the rest of its batch', async () => {
    const impatient = dispatcherOf(never, { rpcTimeoutMs: 1 })
    const late = (id: number) => refused(-32011, 'Execution has got timeout out.', id)
    expect(await impatient.dispatch(request(1), SESSION)).toEqual(late(1))
    expect(await impatient.dispatch([request(1), request(2)], SESSION)).toEqual([late(1), late(2)])
  })

  it('refuses a reply that has too many bytes', async () => {
    const text = JSON.stringify({ id: 9, method: 'eth_accounts' })
    const whole = await dispatcher.dispatchText(text, SESSION)
    const bytes = Buffer.byteLength(whole ?? '')
    expect(await dispatcherOf(engine, { maxResponseBytes: bytes }).dispatchText(text, SESSION)).toBe(whole)
    const small = await dispatcherOf(engine, { maxResponseBytes: bytes - 1 }).dispatchText(text, SESSION)
    const words = `Response size limit of ${bytes - 1} bytes exceeded`
    expect(JSON.parse(small ?? '')).toEqual(refused(-32011, words, 9))
    const batch = await dispatcherOf(engine, { maxResponseBytes: 60 }).dispatchText(`[${text}]`, SESSION)
    expect(JSON.parse(batch ?? '')).toEqual(refused(-32011, 'Response size limit of 60 bytes exceeded'))
  })
})

describe('permission', () => {
  const closed = (name: string) => ({
    error: { code: -32601, message: `the method ${name} does not exist/is not available` },
  })

  it('refuses methods that the node or the session does not open', async () => {
    const switched = dispatcherOf(engine, {}, { switched: ['eth', 'rpc', '-eth_sign'] })
    expect(await ask(switched, 'evm_mine')).toEqual(closed('evm_mine'))
    expect(await ask(switched, 'eth_sign', ['wrong'])).toEqual(closed('eth_sign'))
    expect(await ask(switched, 'eth_chainId')).toEqual({ result: '0x21' })
    expect(await ask(switched, 'rpc_modules')).toEqual({ result: { eth: '1.0', rpc: '1.0' } })
    const narrow = {
      ...openSession('narrow'),
      allows: ({ name }: { name: string }) => name.startsWith('rpc'),
    }
    expect(await ask(dispatcher, 'eth_chainId', [], narrow)).toEqual(
      await ask(dispatcher, 'eth_noSuchMethod', [], narrow),
    )
    expect(await ask(dispatcher, 'rpc_modules', [], narrow)).toEqual({ result: { rpc: '1.0' } })
  })
})

describe('the price of a message', () => {
  function payer(budget: number) {
    const asked: number[] = []
    const session = {
      ...openSession('payer'),
      async charge(calls: number) {
        asked.push(calls)
        budget -= calls
        return budget < 0 ? new NodeError('rate-limited', 'spent') : undefined
      },
    }
    return { session, asked }
  }
  const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'eth_chainId' })
  const spent = (id: number | null) => ({ jsonrpc: '2.0', id, error: { code: -32005, message: 'spent' } })

  it('is one for each call, calls of batches and nested batches included', async () => {
    const { session, asked } = payer(100)
    await dispatcher.dispatch(call(1), session)
    await dispatcher.dispatch([call(1), [call(2), call(3)], []], session)
    await dispatcher.dispatch([], session)
    expect(asked).toEqual([1, 4, 1])
  })

  it('is charged for invalid messages too', async () => {
    const { session, asked } = payer(3)
    const texts = ['{', '['.repeat(2000), JSON.stringify(Array.from({ length: 51 }, () => call(1)))]
    for (const text of texts) {
      expect(JSON.parse((await dispatcher.dispatchText(text, session)) ?? '').error.code).not.toBe(-32005)
    }
    for (const text of texts) {
      expect(JSON.parse((await dispatcher.dispatchText(text, session)) ?? '')).toEqual(spent(null))
    }
    expect(asked).toEqual([1, 1, 1, 1, 1, 1])
  })

  it('above the budget refuses the whole message before any call runs', async () => {
    const { session } = payer(2)
    expect(await dispatcher.dispatch([call(1), call(2), call(3)], session)).toEqual(spent(null))
    expect(await dispatcher.dispatch(call(7), session)).toEqual(spent(7))
  })
})

describe('bugs', () => {
  const broken = method({
    name: 'eth_broken',
    summary: 'Fails.',
    params: {},
    result: () => z.null(),
    examples: [],
    run() {
      throw new TypeError('at /secret/path.ts: undefined is not a function')
    },
  })

  it('are logged in full and hidden from the caller', async () => {
    const lines: unknown[] = []
    const logger: Logger = { ...silentLogger, error: (message, fields) => lines.push({ message, ...fields }) }
    const buggy = dispatcherOf(engine, {}, { methods: [broken], logger })
    const text = await buggy.dispatchText('{"id":1,"method":"eth_broken"}', SESSION)
    expect(JSON.parse(text ?? '')).toEqual(refused(-32603, 'Internal server error', 1))
    expect(lines).toEqual([
      { message: 'eth_broken failed unexpectedly', error: expect.any(TypeError), session: 'test' },
    ])
    const error = await buggy.request('eth_broken', [], SESSION).catch((reason) => reason)
    expect(new RpcError(toErrorObject(error))).toMatchObject({
      code: -32603,
      message: 'Internal server error',
    })
  })
})

describe('a long refusal', () => {
  const words = 'x'.repeat(5000)

  it('is truncated', () => {
    expect(toErrorObject(new NodeError('invalid-params', words)).message).toMatch(/^x{497}\.\.\.$/)
    expect(toErrorObject(new NodeError('invalid-params', words.slice(0, 500))).message).toHaveLength(500)
  })

  it('is kept when it is the revert reason of a contract', () => {
    expect(toErrorObject(new NodeError('reverted', words)).message).toBe(words)
  })
})

describe('in process', () => {
  it('returns results, and throws refusals as errors', async () => {
    expect(await dispatcher.request('eth_chainId', undefined, SESSION)).toBe('0x21')
    await expect(dispatcher.request('eth_nope', [], SESSION)).rejects.toMatchObject({
      kind: 'method-not-found',
    })
    await expect(dispatcher.request('eth_chainId', [1], SESSION)).rejects.toMatchObject({
      kind: 'invalid-params',
    })
  })

  it('treats only trailing undefined parameters as absent', async () => {
    expect(await dispatcher.request('eth_chainId', [undefined], SESSION)).toBe('0x21')
    const call = [{ to: '0x7986b3df570230288501eea3d890bd66948c9b79' }, 'latest']
    expect(await dispatcher.request('eth_call', [...call, undefined, undefined], SESSION)).toBe('0x')
    for (const params of [[undefined], [undefined, 'latest'], [...call, null]]) {
      await expect(dispatcher.request('eth_call', params, SESSION)).rejects.toMatchObject({
        kind: 'invalid-params',
      })
    }
  })

  it('reports each call and its outcome to listeners', async () => {
    const reported: unknown[] = []
    const onCall = (name: string, milliseconds: number, error?: unknown) => {
      reported.push([name, milliseconds >= 0, error === undefined])
    }
    const telling = dispatcherOf(engine, {}, { onCall })
    await ask(telling, 'eth_chainId')
    await ask(telling, 'eth_blockNumber', [1])
    expect(reported).toEqual([
      ['eth_chainId', true, true],
      ['eth_blockNumber', true, false],
    ])
  })
})

it('answers any JSON with well-formed replies, and never rejects', async () => {
  const isReply = (reply: unknown): boolean =>
    Array.isArray(reply)
      ? reply.length > 0 && reply.every(isReply)
      : typeof reply === 'object' && reply !== null && 'id' in reply && 'result' in reply !== 'error' in reply
  const names = fc.constantFrom(...dispatcher.methods.map(({ name }) => name))
  const request = fc.record({
    id: fc.integer(),
    method: names,
    params: fc.array(fc.jsonValue(), { maxLength: 3 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.jsonValue(), request, fc.array(request, { maxLength: 3 })),
      async (message) => {
        const reply = await send(JSON.stringify(message))
        expect(reply === undefined || isReply(reply)).toBe(true)
        expect(JSON.stringify(reply ?? null)).not.toContain('Internal server error')
      },
    ),
    { numRuns: 500 },
  )
})
