/** Written slots against Solidity's own: the same storage as after the contract's setters, and names that lead back. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { variableChanges } from '../../../src/abi/storage/changes.ts'
import { readVariable } from '../../../src/abi/storage/read.ts'
import type { VariableValue } from '../../../src/abi/storage/value-type.ts'
import { variableWrites } from '../../../src/abi/storage/write.ts'
import { type Deployed, deployKinds } from '../../support/kinds.ts'

let kinds: Deployed
beforeAll(async () => {
  kinds = await deployKinds('Kinds')
})
afterAll(() => kinds.close())

const unsigned = (bits: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n })
const signed = (bits: number) =>
  fc.bigInt({ min: -(1n << BigInt(bits - 1)), max: (1n << BigInt(bits - 1)) - 1n })
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary-ascii', maxLength: 80 }),
)
const bytes = fc.uint8Array({ maxLength: 80 }).map((value) => `0x${Buffer.from(value).toString('hex')}`)
const point = fc.record({ x: signed(128), y: unsigned(64), shown: fc.boolean() })
const address = unsigned(160).map((value) => `0x${value.toString(16).padStart(40, '0')}`)

/** What a setter sets, with random values. */
const ASSIGNMENTS = {
  setTitle: ['title', text],
  setBlob: ['blob', bytes],
  setList: ['list', fc.array(unsigned(256), { maxLength: 4 })],
  setPacked: ['packed', fc.array(unsigned(16), { maxLength: 40 })],
  setTriples: ['triples', fc.array(unsigned(24), { minLength: 7, maxLength: 7 })],
  setPoint: ['point', point],
  setPoints: ['points', fc.array(point, { maxLength: 3 })],
  setNames: ['names', fc.array(text, { maxLength: 3 })],
  setRows: ['rows', fc.array(fc.array(unsigned(8), { maxLength: 40 }), { maxLength: 3 })],
} as const satisfies Record<string, readonly [string, fc.Arbitrary<VariableValue>]>

const assignment = fc.oneof(
  ...Object.entries(ASSIGNMENTS).map(([setter, [path, values]]) =>
    (values as fc.Arbitrary<VariableValue>).map((value) => ({ setter, path, given: [] as unknown[], value })),
  ),
  fc
    .tuple(unsigned(256), text)
    .map(([id, value]) => ({ setter: 'setLabel', path: `lines[${id}].label`, given: [id], value })),
  fc
    .tuple(address, unsigned(256))
    .map(([who, value]) => ({ setter: 'setBalance', path: `balances[${who}]`, given: [who], value })),
)

const notZero = (storage: ReadonlyMap<bigint, bigint>) =>
  new Map([...storage].filter(([, word]) => word !== 0n).sort(([a], [b]) => (a < b ? -1 : 1)))

describe('any value', () => {
  it('is written over the previous value as the contract writes it', async () => {
    let storage: ReadonlyMap<bigint, bigint> = await kinds.send('setTitle', '')
    await fc.assert(
      fc.asyncProperty(assignment, async ({ setter, path, given, value }) => {
        const before = storage
        const writes = variableWrites(kinds.layout, path, value, (slot) => before.get(slot) ?? 0n)
        storage = await kinds.send(setter, ...given, value)
        expect(notZero(new Map([...before, ...writes]))).toEqual(notZero(storage))
        expect(readVariable(kinds.layout, path, (slot) => storage.get(slot) ?? 0n)).toEqual(value)
      }),
      { numRuns: 150 },
    )
  })
})

describe('the name of a changed slot', () => {
  it('resolves to the same slot, given the observed keys', async () => {
    const nothing = () => 0n
    const key = fc.record({ who: address, id: unsigned(256), small: signed(16), code: unsigned(32) })
    fc.assert(
      fc.property(key, unsigned(64), ({ who, id, small, code }, value) => {
        fc.pre(value > 0n)
        const hex = `0x${code.toString(16).padStart(8, '0')}`
        const paths = [
          'salary',
          'point.y',
          'triples[4]',
          'grid[1][2]',
          'list[7]',
          'points[2].x',
          `balances[${who}]`,
          `allowance[${who}][${who}]`,
          `bySigned[${small}]`,
          `byCode[${hex}]`,
          `byTag[${hex}]`,
          `lines[${id}].to.x`,
          `lines[${id}].votes[${who}]`,
          `small64[${id}]`,
        ]
        const words = [BigInt(who), id, BigInt.asUintN(256, small), code << 224n]
        for (const path of paths) {
          const writes = variableWrites(kinds.layout, path, value & 0x7fffffn, nothing)
          const after = (slot: bigint) => writes.get(slot) ?? 0n
          const expected = value & 0x7fffffn
          expect(variableChanges(kinds.layout, writes.keys(), words, nothing, after)).toEqual(
            expected === 0n ? [] : [{ path, from: '0', to: String(expected) }],
          )
        }
      }),
      { numRuns: 30 },
    )
  })

  it('is that of the string for a change in any of its slots', () => {
    const before = variableWrites(kinds.layout, 'title', `${'a'.repeat(70)}`, () => 0n)
    const readBefore = (slot: bigint) => before.get(slot) ?? 0n
    const writes = variableWrites(kinds.layout, 'title', `${'a'.repeat(69)}b`, readBefore)
    const changed = [...writes].filter(([slot, word]) => word !== readBefore(slot)).map(([slot]) => slot)
    expect(changed).toHaveLength(1)
    const after = (slot: bigint) => writes.get(slot) ?? readBefore(slot)
    expect(variableChanges(kinds.layout, changed, [], readBefore, after)).toEqual([
      { path: 'title', from: 'a'.repeat(70), to: `${'a'.repeat(69)}b` },
    ])
  })

  it('is absent for a slot without a variable, and for a mapping without observed keys', () => {
    const writes = variableWrites(kinds.layout, 'small64[77]', 5, () => 0n)
    const after = (slot: bigint) => writes.get(slot) ?? 1n
    expect(variableChanges(kinds.layout, [...writes.keys(), 1n << 200n], [1n, 2n], () => 0n, after)).toEqual(
      [],
    )
  })
})
