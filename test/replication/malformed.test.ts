/** What comes over NATS and is no message of a node: refused, logged once, and without effect. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import type { Logger } from '../../src/logger.ts'
import { answerCalls } from '../../src/replication/calls.ts'
import type { Link } from '../../src/replication/link.ts'
import {
  Beat,
  CallMessage,
  createReading,
  NodeEntry,
  ReplyMessage,
  read,
} from '../../src/replication/messages.ts'
import { createChunkReader, decodeLogRecord, splitIntoChunks } from '../../src/replication/record.ts'
import { saying } from '../support/refusals.ts'

const CALL = {
  method: 'evm_mine',
  params: [],
  owner: '',
  label: 'test',
  entitlements: [],
  timeoutMs: 1000,
}
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

/** A link whose one subscriber gets what the test publishes, and whose publications are kept. */
function loopback() {
  let receive: (error: null, message: { data: Uint8Array; reply?: string }) => void = () => {}
  const sent: { readonly to: string; readonly json: unknown }[] = []
  const connection = {
    subscribe(_subject: string, { callback }: { callback: typeof receive }) {
      receive = callback
      return { unsubscribe() {} }
    },
    publish(to: string, chunk: Uint8Array) {
      sent.push({ to, json: JSON.parse(new TextDecoder().decode(createChunkReader().read(chunk))) })
    },
  }
  const take = (data: Uint8Array, reply = 'inbox') => receive(null, { data, reply })
  return {
    link: { connection, messageBytes: 1 << 20 } as unknown as Link,
    sent,
    receive: take,
    receiveWhole(bytes: Uint8Array, reply?: string) {
      for (const chunk of splitIntoChunks(bytes, 1 << 20)) take(chunk, reply)
    },
  }
}

function noted() {
  const lines: string[] = []
  const note = (level: string) => (message: string) => void lines.push(`${level}: ${message}`)
  const logger: Logger = {
    debug: note('debug'),
    info: note('info'),
    warn: note('warn'),
    error: note('error'),
  }
  return { lines, logger }
}

/** What a node answers, and the methods that were called on it. */
function answering() {
  const { link, sent, receive, receiveWhole } = loopback()
  const { lines, logger } = noted()
  const called: unknown[] = []
  answerCalls(
    link,
    'calls',
    async (call) => void called.push(call.method),
    () => 7,
    createReading(logger),
  )
  return { sent, receive, receiveWhole, lines, called }
}

const settled = () => new Promise((turn) => setImmediate(turn))

describe('a node that is called over NATS', () => {
  it('drops bytes that are not a call, logs the first, and answers the next call', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 60 }), { minLength: 1 }), async (messages) => {
        const { receive, receiveWhole, lines, called, sent } = answering()
        for (const bytes of messages) receive(bytes)
        for (const bytes of messages) receiveWhole(bytes)
        expect(called).toEqual([])
        expect(lines.filter((line) => line.startsWith('warn'))).toEqual([
          'warn: a malformed call of the cluster was refused',
        ])
        receiveWhole(bytesOf(CALL), 'other')
        await settled()
        expect(called).toEqual(['evm_mine'])
        expect(sent).toEqual([{ to: 'other', json: { result: null, sequence: 7 } }])
      }),
      { numRuns: 100 },
    )
  })

  it('drops JSON that is not a call', async () => {
    const members = Object.keys(CALL) as (keyof typeof CALL)[]
    const wrong = fc.oneof(
      fc.jsonValue().map((value) => value as unknown),
      fc
        .tuple(fc.constantFrom(...members.filter((member) => member !== 'params')), fc.jsonValue())
        .filter(([member, value]) => typeof value !== typeof CALL[member] || value === null)
        .map(([member, value]) => ({ ...CALL, [member]: value })),
    )
    await fc.assert(
      fc.asyncProperty(wrong, async (value) => {
        const { receiveWhole, called, sent } = answering()
        receiveWhole(bytesOf(value))
        await settled()
        expect(called).toEqual([])
        expect(sent).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  it('executes a call that arrives twice only once, and no call after its deadline', async () => {
    const { receiveWhole, called, sent } = answering()
    receiveWhole(bytesOf(CALL))
    receiveWhole(bytesOf(CALL))
    receiveWhole(bytesOf({ ...CALL, expiresAt: performance.now() - 1 }), 'late')
    await settled()
    expect(called).toEqual(['evm_mine'])
    expect(sent.find(({ to }) => to === 'late')?.json).toEqual({
      error: { kind: 'overloaded', message: 'This call has arrived too late and had no effect; try again' },
      sequence: 7,
    })
  })
})

describe('messages', () => {
  it.each<[string, z.ZodType, unknown, (string | number)[]]>([
    ['a call', CallMessage, { ...CALL, entitlements: ['everything'] }, ['entitlements', 0]],
    [
      'an answer',
      ReplyMessage,
      { error: { kind: 'unheard-of', message: '' }, sequence: 1 },
      ['error', 'kind'],
    ],
    ['an announcement', Beat, { node: 'a', term: -1, sequence: 1, clock: 1 }, ['term']],
    ['an entry', NodeEntry, { id: 'a', role: 'king', head: 1, lag: 0, term: 1 }, ['role']],
  ])('of another form are refused: %s', (_name, schema, value, path) => {
    const issues = [expect.objectContaining({ path })]
    expect(() => read(schema, bytesOf(value))).toThrow(expect.objectContaining({ issues }))
  })

  it('of the log are refused with an error, whatever their bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(() => decodeLogRecord(bytes)).toThrow(Error)
      }),
      { numRuns: 300 },
    )
  })

  it('in chunks are refused beyond the last chunk', () => {
    const chunk = Buffer.concat([Buffer.from([3, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]), Buffer.from('x')])
    expect(() => createChunkReader().read(chunk)).toThrow(
      saying('a chunk of the cluster is behind its last one'),
    )
    expect(() => createChunkReader().read(chunk.subarray(0, 11))).toThrow(
      'a chunk of the cluster has no header',
    )
  })
})
