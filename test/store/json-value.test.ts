/** Entries that are stored as JSON: what is read has the form that was written. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { jsonValue } from '../../src/store/node-records.ts'
import { saying } from '../support/refusals.ts'

describe('a JSON value', () => {
  const codec = jsonValue(z.object({ height: z.int(), name: z.string().optional() }))
  const bytesOf = (text: string) => new TextEncoder().encode(text)

  it('is decoded with its members in the order of the text, unknown ones too', () => {
    const text = '{"name":"a","more":true,"height":1}'
    expect(JSON.stringify(codec.decode(bytesOf(text), 1))).toBe(text)
  })

  it.each(['{"height":"1"}', '{}', '[]', 'null'])('of another form is refused: %s', (text) => {
    expect(() => codec.decode(bytesOf(text), 1)).toThrow(saying('this is JSON of another form'))
  })
})
