/** What answers look like, and how they are written: as text, in pieces, within their limits. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../src/encoding/hex.ts'
import { NodeError } from '../../src/errors.ts'
import { type Logger, silentLogger } from '../../src/logger.ts'
import { RawJson, rawJson, writtenArray, writtenHex } from '../../src/rpc/raw-json.ts'
import {
  createReplyWriter,
  type Id,
  type Replies,
  type Reply,
  rawLength,
  refusal,
  tooMuchRaw,
} from '../../src/rpc/reply.ts'

const answer = (result: unknown, id: Id = 1): Reply => ({ jsonrpc: '2.0', id, result })
const tooLong = (limit: number, id: Id) => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32011, message: `Response size limit of ${limit} bytes exceeded` },
})
const writer = (limit: number, logger: Logger = silentLogger) => createReplyWriter(limit, logger)

describe('a refusal', () => {
  it('has the members of an error, no id when none was read, and the version of the request', () => {
    const error = new NodeError('invalid-params', 'wrong')
    expect(refusal(error)).toEqual({ jsonrpc: '2.0', id: null, error: { code: -32602, message: 'wrong' } })
    expect(refusal(error, 'a', '1.0')).toMatchObject({ jsonrpc: '1.0', id: 'a' })
    expect(refusal(new TypeError('secret'))).toMatchObject({ error: { message: 'Internal server error' } })
  })
})

describe('written as text', () => {
  it('is limited by its bytes of UTF-8, not its characters', () => {
    const reply = answer('ü€😀'.repeat(20), 9)
    const bytes = Buffer.byteLength(JSON.stringify(reply))
    expect(bytes).toBeGreaterThan(JSON.stringify(reply).length)
    expect(writer(bytes)(reply)).toBe(JSON.stringify(reply))
    expect(writer(0)(reply)).toBe(JSON.stringify(reply))
    expect(JSON.parse(writer(bytes - 1)(reply).toString())).toEqual(tooLong(bytes - 1, 9))
    expect(JSON.parse(writer(bytes)([reply, answer(1)]).toString())).toEqual(tooLong(bytes, null))
  })

  it('is refused when it cannot be serialised, which is logged', () => {
    const lines: unknown[] = []
    const logger: Logger = { ...silentLogger, error: (message, fields) => lines.push({ message, ...fields }) }
    const unwritable = answer(1n, 4)
    expect(JSON.parse(writer(0, logger)(unwritable).toString())).toEqual(refusal(undefined, 4))
    expect(JSON.parse(writer(100, logger)(unwritable).toString())).toEqual(tooLong(100, 4))
    const line = { message: 'a reply could not be written', error: expect.any(TypeError) }
    expect(lines).toEqual([line, line])
  })
})

describe('hex', () => {
  it.each([0, 32_768, 32_769, 65_536, 100_001])('of %i bytes is written as it would be built', (length) => {
    const bytes = new Uint8Array(length).map((_, i) => i * 7)
    expect(writer(0)(answer(writtenHex(bytes))).toString()).toBe(JSON.stringify(answer(toHex(bytes))))
  })

  it('counts towards the limit of a reply', () => {
    const long = answer(writtenHex(new Uint8Array(40_000)))
    expect(JSON.parse(writer(80_000)(long).toString())).toEqual(tooLong(80_000, 1))
  })
})

describe('raw results', () => {
  const raw = (length: number) => rawJson('"', 'x'.repeat(length - 2), '"')

  it('are copied into the reply unchanged, however long they are', () => {
    const written = writer(100)(answer(raw(5000)))
    expect(written).toBeInstanceOf(RawJson)
    expect(written.toString()).toBe(JSON.stringify(answer('x'.repeat(4998))))
    const frame = JSON.stringify(answer('')).length - 2
    expect(writer(frame)(answer(raw(5000)))).toBeInstanceOf(RawJson)
    expect(JSON.parse(writer(frame - 1)(answer(raw(5000), 2)).toString())).toEqual(tooLong(frame - 1, 2))
  })

  it('are counted separately, also in nested batches', () => {
    expect(rawLength(answer('plain'))).toBe(0)
    expect(rawLength(refusal(undefined))).toBe(0)
    expect(rawLength([answer(raw(10)), [answer(raw(20)), answer(3)], refusal(undefined)])).toBe(30)
  })

  it('that together exceed the limit are replaced by a refusal', () => {
    const error = { code: -32011, message: 'Trace answer limit of 7 bytes exceeded' }
    expect(tooMuchRaw(answer(raw(10), 'b'), 7)).toEqual({ jsonrpc: '2.0', id: 'b', error })
    expect(tooMuchRaw([answer(raw(10))], 7)).toEqual({ jsonrpc: '2.0', id: null, error })
  })
})

it('are written as the same JSON as other results, at any nesting', () => {
  const result = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown)
  const { replies } = fc.letrec<{ reply: Reply; replies: Replies; any: Reply | Replies }>((tie) => ({
    reply: fc.record({ jsonrpc: fc.constant('2.0'), id: fc.integer(), result }),
    replies: fc.array(tie('any'), { minLength: 1, maxLength: 3, depthIdentifier: 'batch' }),
    any: fc.oneof({ depthIdentifier: 'batch', maxDepth: 3 }, tie('reply'), tie('replies')),
  }))
  const asRaw = (reply: Reply | Replies): Reply | Replies => {
    if (!('jsonrpc' in reply)) return reply.map(asRaw)
    if (!('result' in reply)) return reply
    return { ...reply, result: rawJson(JSON.stringify(reply.result).replace(/[\u0080-\uffff]/g, '?')) }
  }
  fc.assert(
    fc.property(replies, (batch) => {
      const plain = writer(0)(batch).toString()
      expect(writer(0)(asRaw(batch)).toString()).toBe(plain.replace(/[\u0080-\uffff]/g, '?'))
    }),
  )
})

it('are written like JSON.stringify does, whatever the id, version and result', () => {
  const reply = fc.record({
    jsonrpc: fc.oneof(fc.constant('2.0'), fc.string({ unit: 'binary' })),
    id: fc.oneof(fc.constant(null), fc.string({ unit: 'binary' }), fc.integer(), fc.double({ noNaN: true })),
    result: fc.jsonValue(),
  })
  fc.assert(
    fc.property(reply, (one) => {
      expect(writer(0)(one).toString()).toBe(JSON.stringify(one))
    }),
  )
  const long = `0x${'ab'.repeat(4096)}`
  for (const result of [long, `${long}"`, `${long}\n`, `"${long}`, `${long}\u2028é`]) {
    const one = { jsonrpc: '2.0', id: 1, result }
    expect(writer(0)(one).toString()).toBe(JSON.stringify(one))
  }
})

describe('a result that was written as text', () => {
  it('is the JSON of its values, in pieces when it is long', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(), { maxLength: 40 }),
        fc.constantFrom(1, 20_000, 400_000),
        (values, size) => {
          const texts = values.map((value) => `${value}-${'x'.repeat(size)}`)
          const written = writtenArray(texts, (text, index) => JSON.stringify({ index, text }))
          expect(written.toJSON()).toEqual(texts.map((text, index) => ({ index, text })))
          expect(written.length).toBe(written.toString().length)
        },
      ),
      { numRuns: 20 },
    )
  })

  it('counts towards the limit of a reply, alone and in a batch', () => {
    const reply = answer(writtenArray(['a'.repeat(50)], (text) => JSON.stringify(text)))
    const text = writer(0)(reply).toString()
    expect(JSON.parse(text)).toEqual(answer(['a'.repeat(50)]))
    expect(writer(text.length)(reply).toString()).toBe(text)
    expect(JSON.parse(writer(text.length - 1)(reply).toString())).toEqual(tooLong(text.length - 1, 1))
    expect(JSON.parse(writer(text.length)([reply]).toString())).toEqual(tooLong(text.length, null))
    expect(rawLength(reply)).toBe(0)
  })
})
