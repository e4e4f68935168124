/** The filter of log queries: what its description allows is what is understood. */
import { describe, expect, it } from 'vitest'
import { FilterObject } from '../../../src/rpc/wire/log-filter.ts'
import { saying } from '../../support/refusals.ts'

const ADDRESS = `0x${'ab'.repeat(20)}` as const
const TOPIC = `0x${'11'.repeat(32)}` as const
const anything = { addresses: [], topics: [] }

describe('a filter of logs', () => {
  it.each<[object, object]>([
    [{}, anything],
    [{ address: null, topics: null }, anything],
    [{ address: [], topics: [] }, anything],
    [{ address: ADDRESS }, { addresses: [ADDRESS], topics: [] }],
    [{ address: [ADDRESS] }, { addresses: [ADDRESS], topics: [] }],
    [{ topics: [TOPIC, null] }, { addresses: [], topics: [[TOPIC]] }],
    [{ topics: [null, [TOPIC, null]] }, { addresses: [], topics: [null, [TOPIC]] }],
    [{ topics: [[null], [], TOPIC] }, { addresses: [], topics: [null, null, [TOPIC]] }],
  ])('%j is decoded, and valid under the schema', (filter, meaning) => {
    expect(FilterObject.read(filter, 'filter')).toEqual(meaning)
    expect(FilterObject.schema().safeParse(filter).error).toBeUndefined()
  })

  it.each([
    [null, 'Invalid filter: expected an object.'],
    [[], 'Invalid filter: expected an object.'],
    ['x', 'Invalid filter: expected an object.'],
    [{ address: 5 }, 'Invalid address: null, empty or invalid hex value.'],
    [{ topics: [5] }, 'Invalid topic: incorrect length.'],
    [{ topics: ['0x11'] }, 'Invalid topic: incorrect length.'],
    [{ fromBlock: null }, "Invalid block identifier 'null'"],
  ])('%j is refused, and invalid under the schema', (filter, message) => {
    expect(() => FilterObject.read(filter, 'filter')).toThrow(saying(message))
    expect(FilterObject.schema().safeParse(filter).success).toBe(false)
  })
})
