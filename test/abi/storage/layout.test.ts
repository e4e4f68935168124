import { describe, expect, it } from 'vitest'
import { readStorageLayout, slotsOf, typeIn } from '../../../src/abi/storage/layout.ts'
import { placeOf } from '../../../src/abi/storage/place.ts'
import { readVariable } from '../../../src/abi/storage/read.ts'
import { variableWrites } from '../../../src/abi/storage/write.ts'
import { NAMED, solcArtifact } from '../../support/kinds.ts'
import { saying } from '../../support/refusals.ts'

const variable = (label: string, type: string, slot = '0', offset: number = 0) => ({
  label,
  type,
  slot,
  offset,
})
const value = (label: string, numberOfBytes = '32') => ({ encoding: 'inplace', label, numberOfBytes })
const UINT = { t_uint256: value('uint256') }

describe('a layout', () => {
  it('has the sizes that solc states for its arrays and structs', () => {
    const { storageLayout } = solcArtifact('Kinds')
    const layout = readStorageLayout(storageLayout, NAMED)
    const { types } = storageLayout as { types: Record<string, { numberOfBytes: string }> }
    const sizes = Object.entries(types).map(([key, { numberOfBytes }]) => [
      key,
      (BigInt(numberOfBytes) + 31n) / 32n,
    ])
    expect(sizes).toEqual(sizes.map(([key]) => [key, slotsOf(layout, typeIn(layout, key as string))]))
  })

  it('has no types when the contract has no variables', () => {
    expect(readStorageLayout({ storage: [], types: null })).toEqual({ variables: [], types: new Map() })
  })

  it('treats unknown named types as numbers', () => {
    const types = { t_price: value('Price', '16') }
    const sent = { storage: [variable('price', 't_price')], types }
    const all = () => (1n << 256n) - 1n
    expect(readVariable(readStorageLayout(sent), 'price', all)).toBe((1n << 128n) - 1n)
    expect(readVariable(readStorageLayout(sent, new Map([['Price', 'int128']])), 'price', all)).toBe(-1n)
  })

  it('may have structs that contain lists of the same struct', () => {
    const t_node = {
      ...value('struct Node'),
      members: [variable('value', 't_uint256'), variable('children', 't_nodes', '1')],
      numberOfBytes: '64',
    }
    const t_nodes = { encoding: 'dynamic_array', label: 'struct Node[]', numberOfBytes: '32', base: 't_node' }
    const layout = readStorageLayout({
      storage: [variable('root', 't_node')],
      types: { t_node, t_nodes, ...UINT },
    })
    const tree = { value: 1n, children: [{ value: 2n, children: [] }] }
    const writes = variableWrites(layout, 'root', tree, () => 0n)
    expect(readVariable(layout, 'root', (slot) => writes.get(slot) ?? 0n)).toEqual(tree)
    // Slots that all hold a length of 1 nest without an end.
    expect(() => readVariable(layout, 'root', () => 1n)).toThrow(saying('root: it nests more than 64 deep'))
    expect(() => variableWrites(layout, 'root.children', [], () => 1n)).toThrow(
      saying('root.children: it nests more than 64 deep'),
    )
  })

  it('may be larger than any storage', () => {
    const types = {
      t_huge: { ...value(`uint256[${2n ** 250n}]`, String(2n ** 255n)), base: 't_uint256' },
      ...UINT,
    }
    const layout = readStorageLayout({ storage: [variable('huge', 't_huge')], types })
    expect(placeOf(layout, `huge[${2n ** 249n}]`).slot).toBe(2n ** 249n)
    expect(() => readVariable(layout, 'huge', () => 0n)).toThrow(
      /^huge: it takes \d+ slots, and there is room for 65536$/,
    )
  })
})

describe('a malformed layout is refused', () => {
  const struct = (label: string, type: string) => ({ ...value(label), members: [variable('inner', type)] })
  it.each<[string, unknown, string | RegExp]>([
    ['no object', null, /^storageLayout\.: /],
    ['no variables', { types: {} }, /^storageLayout\.storage: /],
    [
      'a slot in hex',
      { storage: [variable('x', 't', '0x1')], types: {} },
      /^storageLayout\.storage\.0\.slot: /,
    ],
    [
      'an offset beyond a slot',
      { storage: [variable('x', 't', '0', 32)], types: {} },
      /^storageLayout\.storage\.0\.offset: /,
    ],
    [
      'a type that is missing',
      { storage: [variable('x', 't')], types: {} },
      'storageLayout: type t of x is missing',
    ],
    [
      'a variable that leaves its slot',
      { storage: [variable('x', 't_uint256', '0', 1)], types: UINT },
      'storageLayout: x ends at byte 33 of its slot',
    ],
    [
      'a struct that holds itself',
      { storage: [], types: { a: struct('A', 'b'), b: struct('B', 'a') } },
      /^storageLayout: type [ab] holds itself, or others too deeply$/,
    ],
    [
      'structs that nest too deeply',
      {
        storage: [],
        types: Object.fromEntries(
          [...Array(200).keys()].map((i) => [
            `t${i}`,
            i === 0 ? value('bool', '1') : struct('S', `t${i - 1}`),
          ]),
        ),
      },
      /^storageLayout: type t\d+ holds itself, or others too deeply$/,
    ],
    [
      'an array without a length',
      { storage: [], types: { a: { ...value('uint256'), base: 't' } } },
      'storageLayout.types.a has no length',
    ],
    [
      'a list without a base',
      { storage: [], types: { a: { ...value('x[]'), encoding: 'dynamic_array' } } },
      'storageLayout.types.a has no base',
    ],
    [
      'a mapping without a key',
      { storage: [], types: { a: { ...value('m'), encoding: 'mapping' } } },
      'storageLayout.types.a has no key or value',
    ],
    [
      'a mapping with a struct as key',
      {
        storage: [],
        types: {
          m: { ...value('m'), encoding: 'mapping', key: 's', value: 't_uint256' },
          s: struct('S', 't_uint256'),
          ...UINT,
        },
      },
      'storageLayout: the key of m is no value',
    ],
    [
      'a value of two words',
      { storage: [], types: { a: value('uint512', '64') } },
      'storageLayout.types.a has 64 bytes',
    ],
  ])('%s', (_, json, message) => {
    expect(() => readStorageLayout(json)).toThrow(typeof message === 'string' ? new Error(message) : message)
  })
})
