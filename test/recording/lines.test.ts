/** Recordings that are malformed are refused with the line and the path of the member. */
import { describe, expect, it } from 'vitest'
import { readHeader, readLine } from '../../src/recording/lines.ts'

const HEADER = { recording: 1, release: '0.1.0', time: 1, options: {}, masked: [] }

describe('the header', () => {
  it('is read', () => {
    expect(readHeader(JSON.stringify(HEADER))).toEqual(HEADER)
  })

  it.each([
    ['nothing', /line 1: it is not JSON/],
    ['[]', /line 1: an object is expected/],
    ['{"n":1}', /line 1, recording: the header/],
    [JSON.stringify({ ...HEADER, recording: 2 }), /line 1, recording: /],
    [JSON.stringify({ ...HEADER, time: -1 }), /line 1, time: /],
    [JSON.stringify({ ...HEADER, masked: ['seed', 3] }), /line 1, masked\[1\]: /],
    [JSON.stringify({ ...HEADER, more: 1 }), /line 1, more: /],
  ])('%s is refused', (text, message) => {
    expect(() => readHeader(text)).toThrow(message)
  })
})

describe('a line', () => {
  it.each([
    '{"n":1,"time":2,"from":"http","request":{"method":"eth_chainId"},"reply":null}',
    '{"n":1,"time":2,"from":"http","text":"no json"}',
    '{"n":1,"reply":{"result":"0x1"}}',
    '{"n":1,"time":2,"tick":true,"timer":1,"reply":{"number":"0x1","hash":"0x2"}}',
    '{"to":"ws 1","event":{}}',
    '{"closed":"ws 1"}',
    '{"state":"{}"}',
  ])('%s is read', (text) => {
    expect(readLine(text, 2)).toEqual(JSON.parse(text))
  })

  it.each([
    ['{"n":1,', /line 7: it is not JSON/],
    ['7', /line 7: an object is expected/],
    ['{"x":1}', /line 7: one of request, /],
    ['{"n":0,"time":2,"from":"http","request":{}}', /line 7, n: /],
    ['{"n":1,"time":2,"request":{}}', /line 7, from: /],
    ['{"n":1,"time":"2","from":"http","request":{}}', /line 7, time: /],
    ['{"n":1,"time":2,"from":"http","request":"x"}', /line 7, request: /],
    ['{"n":1,"time":2,"tick":false}', /line 7, tick: /],
    ['{"to":1,"event":{}}', /line 7, to: /],
    ['{"n":1,"reply":1,"more":2}', /line 7, more: /],
  ])('%s is refused', (text, message) => {
    expect(() => readLine(text, 7)).toThrow(message)
  })
})
