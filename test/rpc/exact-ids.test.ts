/** Ids beyond 2^53 come back digit for digit (docs/internals/rpc-reference.md#23-request-id). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fakeEngine } from '../support/fake-engine.ts'
import { dispatcherOf, SESSION } from '../support/rpc.ts'

const { engine } = fakeEngine()
const dispatcher = dispatcherOf(engine)

const send = (text: string) => dispatcher.dispatchText(text, SESSION)

/** Text of a request whose params hold long numbers and deceptive texts. */
function request(id: string, params = '[]', method = 'eth_chainId'): string {
  return `{"jsonrpc":"2.0","params":${params}, "id" : ${id} ,"method":"${method}"}`
}

const RESULT = '"result":"0x21"'

describe('the id of a reply', () => {
  it.each([
    '9007199254740993',
    '-9007199254740993',
    '18446744073709551615',
    '9'.repeat(80),
    '9007199254740991',
    '1',
    '-5',
    '"9007199254740993"',
  ])('is %s as it was sent', async (id) => {
    expect(await send(request(id))).toBe(`{"jsonrpc":"2.0","id":${id},${RESULT}}`)
  })

  it('is exact in refusals too', async () => {
    const id = '9007199254740993'
    const unknown = await send(
      request(id, '[90071992547409931, "90071992547409932,\\"id\\":3"]', 'eth_nothing'),
    )
    expect(unknown).toBe(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"method not found"}}`)
    expect(await send(`{"id":${id}}`)).toContain(`"id":${id},`)
  })

  it('is exact when the reply is too long', async () => {
    const short = dispatcherOf(engine, { maxResponseBytes: 20 })
    const text = await short.dispatchText(request('9007199254740993'), SESSION)
    expect(text).toContain('"id":9007199254740993,"error"')
  })

  it('is that of the last member with this name', async () => {
    const text = '{"id":90071992547409931,"id":90071992547409933,"method":"eth_chainId"}'
    expect(await send(text)).toContain('"id":90071992547409933,')
  })

  it('is exact in batches, whatever the other members', async () => {
    const id = fc.oneof(
      fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
      fc.integer().map(String),
      fc.string().map((text) => JSON.stringify(text)),
    )
    const params = fc
      .oneof(
        fc.jsonValue(),
        fc.bigInt().map(String),
        fc.string({ unit: fc.constantFrom('"', '\\', '1', ',') }),
      )
      .map((value) => JSON.stringify([value]))
    const batch = fc.array(fc.tuple(id, params), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(batch, async (entries) => {
        const replies = await send(`[${entries.map(([one, given]) => request(one, given)).join(', ')}]`)
        const error = '"error":{"code":-32602,"message":"method parameters invalid"}'
        const expected = entries.map(([one]) => `{"jsonrpc":"2.0","id":${one},${error}}`)
        // Characters beyond ASCII are escaped in replies that hold JSON text.
        expect(JSON.stringify(JSON.parse(replies ?? ''))).toBe(JSON.stringify(JSON.parse(`[${expected}]`)))
        for (const [one] of entries) if (/^-?\d+$/.test(one)) expect(replies).toContain(`"id":${one},`)
      }),
    )
  })
})
