import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonStream } from '../../src/transport/json-stream.ts'

/** Pushes text in pieces of so many bytes; what came out, and the failure that ended it. */
function cut(text: string, size: number, limit = 1000) {
  const stream = new JsonStream(limit)
  const bytes = Buffer.from(text)
  const values: string[] = []
  for (let i = 0; i < bytes.length; i += size) {
    const read = stream.push(bytes.subarray(i, i + size))
    values.push(...read.values)
    if (read.failure !== undefined) return { values, failure: read.failure.message, partial: stream.partial }
  }
  return { values, failure: undefined, partial: stream.partial }
}

describe('a stream of JSON values', () => {
  it('returns the objects and arrays that were written, wherever the bytes are split', () => {
    const value = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()))
    const space = fc.constantFrom('', ' ', '\n', '\r\n\t ')
    fc.assert(
      fc.property(fc.array(fc.tuple(value, space)), fc.integer({ min: 1, max: 30 }), (written, size) => {
        const texts = written.map(([one]) => JSON.stringify(one))
        const text = written.map(([, gap], i) => `${gap}${texts[i]}`).join('')
        expect(cut(text, size, 1_000_000)).toEqual({ values: texts, failure: undefined, partial: 0 })
      }),
    )
  })

  it.each([1, 3, 100])('ignores brackets and escaped quotes in strings, %i bytes at a time', (size) => {
    const texts = ['{"a":"}{\\"]\\\\"}', '["\\\\","é{"]']
    expect(cut(texts.join(''), size).values).toEqual(texts)
  })

  it('fails at a byte that begins neither an object nor an array, and on every later push', () => {
    expect(cut('{"a":1} nonsense {}', 100)).toMatchObject({
      values: ['{"a":1}'],
      failure: 'JSON parse error',
    })
    expect(cut('1', 1).failure).toBe('JSON parse error')
    // Brackets are matched by the parser of the text.
    expect(cut('{]', 1).values).toEqual(['{]'])
  })

  it('limits a value, complete or not, and counts incomplete bytes', () => {
    const refusal = 'Message too large: the limit is 10 bytes'
    expect(cut('[1,2,3,4,5,6]', 100, 10)).toMatchObject({ values: [], failure: refusal })
    expect(cut(`{}["${'x'.repeat(20)}`, 4, 10)).toMatchObject({ values: ['{}'], failure: refusal })
    expect(cut('[1,2][3,4', 100, 10)).toEqual({ values: ['[1,2]'], failure: undefined, partial: 4 })
  })
})
