import { type TypedDataDomain, Wallet } from 'ethers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadTypedDataSigner, type TypedData } from '../../src/chain/typed-data.ts'
import { fromHex, toHex } from '../../src/encoding/hex.ts'

const KEY = new Uint8Array(32).fill(7)
const wallet = new Wallet(toHex(KEY))
const signTypedData = await loadTypedDataSigner()

/** A field's type, and a value of it as JSON has it. */
type Sample = readonly [string, unknown]
const hexOf = (bytes: Uint8Array): string => toHex(bytes)
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(hexOf)
const simple: fc.Arbitrary<Sample> = fc.oneof(
  fc.tuple(fc.constant('string'), fc.string({ unit: 'grapheme' })),
  fc.tuple(fc.constant('bool'), fc.boolean()),
  fc.tuple(fc.constant('address'), address),
  fc.tuple(fc.constant('bytes'), fc.uint8Array({ maxLength: 70 }).map(hexOf)),
  fc.tuple(fc.constant('bytes4'), fc.uint8Array({ minLength: 4, maxLength: 4 }).map(hexOf)),
  fc.tuple(fc.constant('uint8'), fc.nat({ max: 255 })),
  fc.tuple(fc.constant('uint256'), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String)),
  fc.tuple(fc.constant('int64'), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)),
)
const listed: fc.Arbitrary<Sample> = fc
  .array(address, { maxLength: 4 })
  .chain((list) => fc.constantFrom<Sample>(['address[]', list], [`address[${list.length}]`, list]))
const sample = fc.oneof(simple, listed)

function structOf(samples: readonly Sample[]) {
  return {
    fields: samples.map(([type], i) => ({ name: `f${i}`, type })),
    value: Object.fromEntries(samples.map(([, value], i) => [`f${i}`, value])),
  }
}

describe('signatures over typed data', () => {
  it('equal those of ethers', async () => {
    const samples = fc.array(sample, { minLength: 1, maxLength: 5 })
    const domain = fc.record(
      { name: fc.string(), version: fc.string(), chainId: fc.nat(), verifyingContract: address },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(samples, samples, domain, async (outer, inner, domain) => {
        const [message, item] = [structOf(outer), structOf(inner)]
        const fields = [...message.fields, { name: 'one', type: 'Item' }, { name: 'many', type: 'Item[]' }]
        const types = { Item: item.fields, Message: fields }
        const value = { ...message.value, one: item.value, many: [item.value, item.value] }
        const expected = await wallet.signTypedData(domain as TypedDataDomain, types, value)
        expect(signTypedData({ types, primaryType: 'Message', domain, message: value }, KEY)).toBe(expected)
      }),
      { numRuns: 40 },
    )
  })

  const mail: TypedData = {
    types: { Mail: [{ name: 'count', type: 'uint8' }] },
    primaryType: 'Mail',
    domain: { chainId: 33 },
    message: { count: 1 },
  }

  it.each<[string, Partial<TypedData>, RegExp]>([
    ['a value beyond its type', { message: { count: 256 } }, /unsigned bounds/],
    [
      'a value of another type',
      { message: { count: {} } },
      /^Invalid typedData: types and message do not fit together$/,
    ],
    ['a number that is none', { message: { count: 'many' } }, /many/],
    ['a missing field', { message: {} }, /^Invalid typedData: /],
    ['a field without a type', { message: { count: 1, weight: 2 } }, /unexpected field weight in Mail/],
    ['a domain field without a type', { domain: { chain: 33 } }, /unexpected field chain in EIP712Domain/],
    ['an unknown primary type', { primaryType: 'Letter' }, /primaryType/],
    ['an inherited name as primary type', { primaryType: 'toString' }, /primaryType/],
    ['an unknown type', { types: { Mail: [{ name: 'count', type: 'Letter' }] } }, /Letter/],
  ])('are refused for %s', (_, change, words) => {
    expect(() => signTypedData({ ...mail, ...change }, KEY)).toThrow(words)
    expect(() => signTypedData({ ...mail, ...change }, KEY)).toThrow(
      expect.objectContaining({ kind: 'invalid-params' }),
    )
  })

  it.each([{}, null, [{}], true])('are refused with a message free of internal names for %j', (count) => {
    expect(() => signTypedData({ ...mail, message: { count } }, KEY)).not.toThrow(/Error|\[object/)
    expect(() => signTypedData({ ...mail, message: { count } }, KEY)).toThrow(/^Invalid typedData: /)
  })

  it('are refused with a short message, however long the data', () => {
    const message = { count: 'x'.repeat(10_000) }
    expect(() => signTypedData({ ...mail, message }, KEY)).toThrow(/^.{1,230}$/)
  })

  it('do not change the key', () => {
    const key = fromHex(toHex(KEY))
    signTypedData(mail, key)
    expect(key).toEqual(KEY)
  })
})
